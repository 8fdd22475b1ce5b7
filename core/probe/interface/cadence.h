// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/operations.h"
#include "core/probe/interface/step_list.h"

#include <cstdint>
#include <span>
#include <vector>

namespace normscope {

/// One probe of a recipe, for planning.
struct PlannedProbe {
    ProbeNeeds needs = ProbeNeeds::Forward;
    double operations = 0;  ///< of one sample, without shared passes
    int every = 0;          ///< n: every n-th step exactly; 0: the plan decides
};

/// For the help of the programs: what an entry of a recipe's `probes` has as its steps.
inline constexpr const char* kCadenceHelp =
    "An entry of a recipe's `probes` is measured at step 0, at the last step, and in between\n"
    "  \"every\": n           at every n-th step\n"
    "  \"steps\": \"10:20,50\"  at these steps (first:last:stride, groups with commas)\n"
    "  \"every\": \"auto\"      at steps that follow from the recipe's shapes alone, the first 50 densely";

/// The first steps of a run, which mostly decide its outcome.
inline constexpr std::int64_t kDenseSteps = 50;
/// The steps of expensive probes among them.
inline constexpr std::int64_t kGeometricSteps[] = {0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48};
/// The share of the training time after step kDenseSteps that all probes of a recipe may take, the last
/// sample included.
inline constexpr double kLateBudget = 0.05;
/// How many times the steps' time the probes may take in the first kDenseSteps; 1 where steps are long
/// (long_steps).
inline constexpr double kEarlyBudget = 4;

/// At which steps each probe of a recipe is measured: a function of shapes and of the number of steps alone,
/// never of the clock, so that runs of the same shape are measured at the same steps on any machine under any
/// load. `shape` is the recipe's (probe_shape), `steps` the length of the run. The result has the order of
/// `probes`.
///
/// every n is obeyed exactly, with step 0 and the last step in addition. For the others:
/// - Steps 0 … 49: every one where a sample costs at most two training steps (not counting shared passes),
///   else kGeometricSteps. Where all together would take more than kEarlyBudget, the costliest become
///   geometric too and are then thinned (0, 1, 2, 4, 8, 16, 32; 0, 2, 8, 32; 0, 8; 0), the cheap ones, which
///   share their passes, last.
/// - From step 50 on: the cheap ones at the multiples of one stride k, the others at multiples of a multiple
///   of k, so that shared passes serve them all; the strides from kLateBudget, rounded up to a ladder of
///   round numbers.
/// - Step 0 and the last step always, whatever they cost.
/// A shared pass counts once for all probes of a step. Planning fills nine tenths of the early budget and
/// seven tenths of the late one: counts are not times. A probe whose one sample costs more than the first
/// kDenseSteps steps together is excluded from the common budgets; it is measured at step 0 and the last one.
std::vector<StepList> plan_cadence(const ProbeShape& shape, std::span<const PlannedProbe> probes,
                                   std::int64_t steps);

/// Operations of all samples in steps from … to, shared passes once a step; for the budgets.
double planned_operations(const ProbeShape& shape, std::span<const PlannedProbe> probes,
                          std::span<const StepList> lists, std::int64_t from, std::int64_t to);

}  // namespace normscope
