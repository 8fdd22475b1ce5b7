// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/layer_lipschitz.h"

#include <cmath>

namespace normscope {

AttentionLipschitz attention_lipschitz(double output_norm, std::span<const HeadLipschitz> heads,
                                       double token_norm, double temperature, int d_head) {
    const double scale = token_norm / (temperature * std::sqrt(static_cast<double>(d_head)));
    AttentionLipschitz bound;
    for (const HeadLipschitz& head : heads) {
        bound.value += output_norm * head.value;
        bound.scores += output_norm * head.theta * scale * head.value *
                        (head.query_slope * head.key_size + head.query_size * head.key_slope);
    }
    return bound;
}

double activation_lipschitz(Activation activation) {
    switch (activation) {
        case Activation::GeluTanh:
        case Activation::GeluErf:
        case Activation::GeGlu:
            return 1.1290;  // at x = √2: 1.12890; tanh form 1.12899 at 1.417
        case Activation::Relu:
            return 1;
        case Activation::Silu:
        case Activation::SwiGlu:
            return 1.0999;  // at x = 2.3994: 1.09984
    }
    return 0;
}

double feed_forward_lipschitz(double first, double second, Activation activation) {
    return first * second * activation_lipschitz(activation);
}

double gated_lipschitz(Activation activation, double gate, double up, double down, double up_size,
                       double gated_size) {
    return down * (activation_lipschitz(activation) * up_size * gate + gated_size * up);
}

SensitivityChange sensitivity_change(const SensitivityFactors& from, const SensitivityFactors& to) {
    return {std::log(to.theta_over_tau / from.theta_over_tau), 2 * std::log(to.token_norm / from.token_norm),
            std::log(to.projection / from.projection)};
}

}  // namespace normscope
