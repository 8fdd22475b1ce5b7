// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"
#include "core/recipe/run_recipe.h"
#include "core/train/data/loss_levels.h"
#include "core/train/outcome.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// One row of the step table. The names are part of the session format: loss, val_loss, grad_norm, lr,
/// temperature, tokens_per_s, step_ms, probe_ms, batch_hash, loss_scale (FP16 only). Every row of a run has
/// the same names in the same order.
struct StepRecord {
    std::int64_t step = 0;
    std::vector<std::pair<std::string, double>> values;
};

/// The step table of a run, one vector per column, all of the same length. NaN where a value was not
/// measured.
struct StepTable {
    std::vector<std::int64_t> step;
    std::vector<std::string> names;            ///< column order
    std::vector<std::vector<double>> columns;  ///< columns[c][row]

    std::size_t rows() const { return step.size(); }
    /// All of the row, or nothing of it where it throws: InputError for other columns, std::bad_alloc.
    void append(const StepRecord& record);
    const std::vector<double>* find(const std::string& name) const;  ///< nullptr when absent
};

/// A knob move, a spike, an outcome. In the file: kind S16, text S240 (UTF-8, cut at a character boundary).
struct RunEvent {
    std::int64_t step = 0;
    std::string kind;  ///< "knob", "spike", "overflow", "outcome", "checkpoint", "resume", "series",
                       ///< "weights", "watch", "watches", "fork", "steps", "external"
    std::string text;
};

struct UnreadRun;

/// Everything recorded about one run: what the panels draw and what a session file holds, the same for a live
/// and a reopened run. Plain data, owned by one thread.
struct RunData : LossLevels {
    std::string id;       ///< unique in the session: "a", "b", …
    std::string name;     ///< "Pre-LN"
    RunRecipe recipe;     ///< the complete recipe
    std::string backend;  ///< "cpu"
    std::string device;   ///< e.g. the processor's name
    std::uint64_t seed = 0;
    Outcome outcome;
    StepTable steps;
    std::map<std::string, std::vector<ProbeResult>> probes;  ///< id -> samples in order of step
    std::vector<RunEvent> events;
    /// Set in an outline (core/session/outline.h): `steps` and `probes` are parts of what its file has.
    std::shared_ptr<const UnreadRun> unread = {};

    /// Another program trained it: nothing can be measured or trained further here.
    bool external() const;
    /// The newest sample of a probe at or before a step, or nullptr.
    const ProbeResult* sample_at(const std::string& probe, std::int64_t step) const;
    /// The sample at exactly that step, or nullptr.
    const ProbeResult* sample_of(const std::string& probe, std::int64_t step) const;
};

/// Inserts a sample that was measured later, in the order of steps. Returns false, without a change, where
/// the run has a sample of that step.
bool insert_sample(RunData& run, ProbeResult sample);

}  // namespace normscope
