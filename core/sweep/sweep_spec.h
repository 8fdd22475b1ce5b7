// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/run/corpora.h"
#include "core/sweep/sweep_axis.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normscope {

/// Settings that follow the values of the grid: a scheme with its paper's initialisation, Δt = 1/√(2N) with
/// the depth.
struct SweepTie {
    std::map<std::string, std::string> when;  ///< keys of the grid, each with one of its values
    std::vector<std::string> set;             ///< "KEY=VALUE", of no key of the grid
    bool operator==(const SweepTie&) const = default;
};

/// Keys whose value each combination of the other keys chooses for itself: that of the lowest median final
/// loss over seeds that serve for nothing else. The other seeds are trained at that value alone, so that they
/// judge what they did not choose (sweep_choice.h).
struct SweepChoice {
    std::vector<std::string> keys;  ///< of the grid; empty: nothing is chosen, every combination is trained
    std::size_t seeds = 0;          ///< the first ones of SweepSpec::seeds choose
    bool operator==(const SweepChoice&) const = default;
};

/// Many runs as plain data: a recipe, the keys that vary, the seeds. Every combination of values is trained
/// with every seed, unless there is a choice. `sweep.json` in a sweep's folder is this.
struct SweepSpec {
    /// The JSON text of a recipe, not completed: a key that it does not have follows the others (d_ff with
    /// d_model). recipe_text (recipe_text.h) gives it.
    std::string recipe;
    std::vector<SweepAxis> grid;
    std::vector<std::uint64_t> seeds;
    std::vector<SweepTie> ties = {};  ///< in this order, after the grid's values
    SweepChoice choice = {};

    /// Combinations of all values and seeds, at most kMaxSweepRuns + 1: it does not overflow.
    std::size_t runs() const;
    /// Of these, the runs that are trained: all, or those that choose and those at the chosen values.
    std::size_t trained_runs() const;
};

/// "stack.scheme=post,stack.depth=24: stack.init.rule=gpt2; schedule.warmup=50". InputError names the text.
SweepTie parse_sweep_tie(const std::string& text);

/// One run of a sweep.
struct SweepRun {
    std::size_t index = 0;            ///< in the order of the grid
    std::vector<std::string> values;  ///< of each axis
    std::uint64_t seed = 0;
    std::string recording;  ///< "runs/007_scheme-post_lr-0.0003_seed-42.h5", relative to the sweep's folder
    std::string name;       ///< "Post-LN lr 0.0003 seed 42": what differs
};

/// All runs, the last axis varying fastest but for the seeds, which vary fastest of all. Each is what `train`
/// gives for the recipe with the settings KEY=VALUE and its seed: a scheme in the grid changes stack.scheme
/// alone, the initialisation (stack.init) is that of the recipe. Throws InputError for a key that is unknown,
/// given twice or `seed` (seeds are their own axis), no seeds, more than kMaxSweepRuns runs, a tie to a value
/// that is not in the grid or of a key that is, and a choice that is none: of a key outside the grid, without
/// seeds of its own or without others.
std::vector<SweepRun> expand_sweep(const SweepSpec& spec);

/// The settings "KEY=VALUE" that make the sweep's recipe that of one run: its values, what is tied to them,
/// its seed.
std::vector<std::string> settings_of(const SweepSpec& spec, const SweepRun& run);

/// The recipe of one run, not completed. Throws InputError, which names the value of the grid.
Recipe recipe_of(const SweepSpec& spec, const SweepRun& run);

/// Completes and validates the recipe of every run, so that a sweep is rejected before its first step.
/// Returns the operations of each, of which only ratios are meaningful. InputError names the run's values.
std::vector<double> require_valid(const SweepSpec& spec, const std::vector<SweepRun>& runs, Corpora& corpora);

/// "stack.scheme=post optimizer.lr=0.0003 seed=42"
std::string settings_text(const SweepSpec& spec, const SweepRun& run);

/// The text of sweep.json: format, versions, recipe, grid with its expanded values, seeds, number of runs.
std::string sweep_json(const SweepSpec& spec);
/// The inverse. Throws InputError; `where` begins the message.
SweepSpec parse_sweep(const std::string& json_text, const std::string& where);

/// The first difference between a stored specification and another one, in one line; empty if there is none.
std::string sweep_difference(const SweepSpec& stored, const SweepSpec& other);

}  // namespace normscope
