// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// Where two runs differ: a step and, in the order in which a step computes them, a place.
struct DifferentPlace {
    std::int64_t step = 0;
    std::string place;  ///< "data", "embedding", "layer 3, attention", "loss", "gradient before layer 3, …"
    std::string series;  ///< what was compared: "probes/growth/rms"
    int layer = -1;      ///< from 0; −1 where the place is in no layer
    double a = 0, b = 0;
    double relative = 0;  ///< |a − b| / max(|a|, |b|); NaN where one of them is not finite
};

struct RecipeDifference {
    std::string key, a, b;
};

/// How far two runs are apart at a step that both have; NaN where nothing of it was recorded.
struct StepDistance {
    std::int64_t step = 0;
    double loss = 0;    ///< loss of b − loss of a, nat
    double stream = 0;  ///< largest relative difference of the hidden states' RMS
};

struct RunDifference {
    double tolerance = 0;
    std::vector<RecipeDifference> recipe;
    std::optional<DifferentPlace> first_bit;  ///< that differs at all
    std::optional<DifferentPlace> first;      ///< beyond the tolerance
    std::vector<StepDistance> growth;         ///< at steps 0, 1, 2, 4, 8, … and the last one that both have
    std::vector<std::string> not_compared;    ///< series of one run alone, places that one run lacks
    std::int64_t steps_compared = 0;
};

/// The relative difference that rounding may cause in the precision of these runs: the wider of the two.
double rounding_tolerance(const RunData& a, const RunData& b);

/// Compares two runs step by step. Within a step: the batch (its hash; not of runs of different programs,
/// whose probes read different batches: there what depends on their size is not compared), the hidden states
/// from the embedding on, the loss, the gradients from the last hidden state back, those of the parameters,
/// the updates. In gradients, which cancel, ten times the tolerance counts as rounding, in updates a thousand
/// times. What a step was not sampled for is skipped. Runs of another depth are compared in the layers that
/// both have.
RunDifference difference_of(const RunData& a, const RunData& b, double tolerance);

}  // namespace normscope
