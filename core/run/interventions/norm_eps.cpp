// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/interventions/norm_eps.h"

#include <algorithm>
#include <cmath>

namespace normscope {

std::vector<double> NormEps::eps(const InterventionInput& input) {
    const std::vector<double> variances = input.variances(spec_.samples);
    std::vector<double> eps;
    for (std::size_t i = 0; i < input.norms.size(); ++i) {
        const NormState& norm = input.norms[i];
        eps.push_back(norm.eps);
        const double share = variances[i] * norm.width * input.unit_round_off;
        // Not rho_ln(): ε may be 0 here, and then nothing is below 1.
        if (!(share < norm.eps)) continue;
        const double wanted = std::clamp(share / spec_.rho, std::min(spec_.floor, spec_.cap), spec_.cap);
        eps.back() = std::max({norm.eps, input.base_eps, wanted});
    }
    return eps;
}

template <>
std::unique_ptr<Intervention> intervention_of<InterventionKind::NormEps>(const InterventionSpec& spec) {
    return std::make_unique<NormEps>(spec);
}

}  // namespace normscope
