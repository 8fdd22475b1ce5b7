// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/interventions/intervention.h"

namespace normscope {

/// The rule of [B] Exp-3 as its first code has it, read at the norm's input: where ρ_LN = (σ²/ε)·d·u < 1,
/// ε ← max(ε, clip(σ²·d·u/ρ, floor, cap)), per norm.
///
/// Errata: it does not "target ρ": since ε never falls, it acts where ρ < ρ_LN < 1 alone, and lowers ρ_LN to
/// ρ. And the first code reads the norm's output, whose σ² is about 1, so that there it never acts.
class NormEps final : public Intervention {
  public:
    explicit NormEps(const InterventionSpec& spec) : spec_(spec) {}
    std::vector<double> eps(const InterventionInput& input) override;

  private:
    InterventionSpec spec_;
};

}  // namespace normscope
