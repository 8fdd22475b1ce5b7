// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace normscope {

/// One quantity of a stack at step 0 with what theory gives for it. A row has a value, or a word, or both.
struct PreflightRow {
    /// What `bound` is to `value`.
    enum class Theory {
        None,
        AtMost,     ///< a bound: value <= bound wherever its assumptions hold
        Threshold,  ///< the value from which on a statement holds, or no longer does
        Reference,  ///< what another, named case would give
    };
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    std::string name;
    double value = kNone;  ///< measured; NaN where not defined or not measured
    Theory theory = Theory::None;
    double bound = kNone;       ///< NaN where no theory applies, which `validity` explains
    std::string unit = "1";     ///< "1" when dimensionless
    std::string word = {};      ///< an answer that is no number: a class
    std::string validity = {};  ///< where the bound holds, or the assumption that this stack breaks
    std::string sentence = {};  ///< one sentence on the value, about this stack at step 0
};
/// "", "at most", "threshold", "reference".
const char* preflight_theory_word(PreflightRow::Theory theory);

struct PreflightSection {
    const char* id;  ///< "well_posedness", "forward_growth", "backward_sensitivity", "uncertainty"
    const char* title;
    std::vector<PreflightRow> rows;
};

/// The four steps of [K] App. B for one stack: what its rule, the theory and one measurement at its initial
/// weights give. Nothing here is about training.
struct Preflight {
    RunData run;  ///< of the completed recipe: no steps, one sample of every probe of preflight_probes()
    std::size_t parameters = 0;
    std::string sampled;  ///< the part of the held-out sequences that was measured
    std::array<PreflightSection, 4> sections;
};

/// Weights of the largest stack that is measured: about ten seconds on two cores.
inline constexpr std::size_t kPreflightWeights = 50'000'000;

/// The probes that a pre-flight measures.
const std::vector<std::string>& preflight_probes();

/// Completes, validates and measures a recipe on the CPU, in its own precision: the samples are those that a
/// run of it has at step 0. One thread drives it. InputError for a recipe that cannot be built, that needs
/// more memory than the machine has, or has more weights than kPreflightWeights. `cancel` is checked within
/// probes: throws Cancelled (core/probe/interface/probe_input.h).
Preflight preflight(Recipe recipe, ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);

/// The sections as functions of a completed recipe and of a run's samples at step 0. A probe without a sample
/// gives rows that state so.
PreflightSection well_posedness(const Recipe& recipe);
PreflightSection forward_growth(const RunData& run);
PreflightSection backward_sensitivity(const RunData& run);
PreflightSection uncertainty(const RunData& run);

}  // namespace normscope
