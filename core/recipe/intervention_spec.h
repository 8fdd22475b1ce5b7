// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"

#include <string>
#include <vector>

namespace normscope {

/// Rules that change a run while it trains. A further one is a row of the list and a file pair in
/// core/run/interventions.
enum class InterventionKind {
#define NORMSCOPE_INTERVENTION(kind, word) kind,
#include "core/recipe/interventions.inc"
#undef NORMSCOPE_INTERVENTION
};

/// One entry of a recipe's list `interventions`. What it changes is undone when the run ends.
struct InterventionSpec {
    InterventionKind kind = InterventionKind::NormEps;
    double rho = 0.6;     ///< norm_eps: the ρ_LN that ε is raised towards
    double cap = 0.01;    ///< of ε
    double floor = 1e-6;  ///< of a raised ε
    int every = 5;        ///< steps
    int samples = 16;     ///< sequences of the step's batch that it measures, at most the batch
    bool operator==(const InterventionSpec&) const = default;
};

/// The keys of one entry: kind, rho, cap, floor, every, samples.
void list_fields(Fields& fields, InterventionSpec& spec);

/// "norm_eps rho 0.6 cap 0.01 floor 1e-06 every 5 samples 16", joined by "; ", or "none".
std::string interventions_text(const std::vector<InterventionSpec>& list);
/// "interventions none → norm_eps …": the text of an event.
std::string interventions_change(const std::vector<InterventionSpec>& from,
                                 const std::vector<InterventionSpec>& to);

}  // namespace normscope
