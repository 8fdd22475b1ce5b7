// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/intervention_spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace normscope {

/// One norm of a run before its next step.
struct NormState {
    int layer = -1;    ///< from 0; −1 for the embedding norm and the final norm
    double eps = 0;    ///< at present
    double width = 0;  ///< channels
};

/// What an intervention may read of a run before its next step. What costs a pass is measured when it is
/// asked for, on the first sequences of the batch of that step.
struct InterventionInput {
    std::int64_t step = 0;
    double unit_round_off = 0;  ///< of the run's precision
    double base_eps = 0;        ///< without interventions
    std::vector<NormState> norms;
    /// Median over the tokens of the variance of each norm's input (RMSNorm: its mean square); NaN for a norm
    /// without ε, and where a value is not finite.
    std::function<std::vector<double>(int sequences)> variances;
    /// Of each layer, the relative error of the output that rounding in it is predicted to cause: u times the
    /// array predictor_v2 of the probe `fragility`.
    std::function<std::vector<double>(int sequences)> risks;
};

/// A rule that changes a run while it trains. One object per run and entry of the recipe; one thread.
class Intervention {
  public:
    virtual ~Intervention() = default;
    /// ε of every norm for the next step, in the order of the input's norms; never below the present one.
    virtual std::vector<double> eps(const InterventionInput& input) = 0;
    /// What it must know of earlier steps to continue bit for bit.
    virtual std::vector<double> state() const { return {}; }
    /// What state() returned, of any file: throws InputError where it is of no such object.
    virtual void restore(const std::vector<double>& state);
};

/// Of one kind; specialised where the kind is implemented.
template <InterventionKind>
std::unique_ptr<Intervention> intervention_of(const InterventionSpec& spec);
#define NORMSCOPE_INTERVENTION(kind, word) \
    template <>                            \
    std::unique_ptr<Intervention> intervention_of<InterventionKind::kind>(const InterventionSpec& spec);
#include "core/recipe/interventions.inc"
#undef NORMSCOPE_INTERVENTION

/// Of the kind that the entry names.
std::unique_ptr<Intervention> make_intervention(const InterventionSpec& spec);

}  // namespace normscope
