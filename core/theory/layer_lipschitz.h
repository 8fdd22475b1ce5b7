// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <span>

namespace normscope {

/// Lipschitz bounds of a transformer layer in the block-∞/RMS norm ‖X‖ = max_i ‖x_i‖₂/√d over the tokens x_i
/// ([E] §5), as operator norms of the Jacobian at one input: local, first order, forward sense. √d cancels,
/// so all token norms here are 2-norms. All numbers are dimensionless and not negative; none depends on the
/// number of tokens. Pure functions, safe on any thread; not finite in, not finite out.

/// One head. What one score s_ij = q_i·k_j/√d_h can change by per unit of a token, through q and through k.
struct HeadLipschitz {
    double value = 0;        ///< ‖W_h^V‖₂
    double query_slope = 0;  ///< ‖W_h^Q‖₂, times the Lipschitz constant of a norm on q
    double key_slope = 0;    ///< ‖W_h^K‖₂, times that of a norm on k
    double query_size = 0;   ///< max_i ‖q_i‖₂, or a bound of it: ‖W_h^Q‖₂·B + ‖b_h^Q‖₂
    double key_size = 0;     ///< max_j ‖k_j − c‖₂ for any c that all keys share: ‖W_h^K‖₂·B
    double theta = 1;        ///< θ̃_h = max over rows of θ
};

/// The pathways of L_MHA, ‖W^O‖₂ included.
struct AttentionLipschitz {
    double value = 0;   ///< ‖W^O‖₂ Σ_h ‖W_h^V‖₂: the tokens that are mixed change
    double scores = 0;  ///< ‖W^O‖₂ Σ_h (θ̃_h/τ)·Φ_h: the weights of the mixture change
    double total() const { return value + scores; }
};

/// L_MHA <= ‖W^O‖₂ Σ_h (‖W_h^V‖₂ + (θ̃_h/τ)·Φ_h), Φ_h = (B/√d_h)·(query_slope·key_size +
/// query_size·key_slope)·‖W_h^V‖₂, B = `token_norm` = max_i ‖u_i‖₂ of the attention's input ([E] Thm 5.1).
/// Erratum: the paper has no biases, and a query bias exceeds its form 2‖W^Q‖‖W^K‖B²; with query_size =
/// ‖W^Q‖B + ‖b^Q‖ it holds. b^V adds the same to every value and b^K, without rotary positions, the same to
/// every score of a row: softmax ignores both. `output_norm` = ‖W^O‖₂; `temperature` τ > 0.
AttentionLipschitz attention_lipschitz(double output_norm, std::span<const HeadLipschitz> heads,
                                       double token_norm, double temperature, int d_head);

/// sup |φ'|, rounded up: GELU 1.1290 (both forms), also GeGLU's gate, SiLU and SwiGLU's gate 1.0999,
/// ReLU 1.
double activation_lipschitz(Activation activation);

/// ‖W₁‖₂·‖W₂‖₂·Lip(φ) of a feed-forward map that is not gated ([E] §5).
double feed_forward_lipschitz(double first, double second, Activation activation);
/// A gated one, y = W_down(φ(g)∘p), at inputs where |p| <= up_size and |φ(g)| <= gated_size entry by entry:
/// ‖W_down‖(Lip(φ)·up_size·‖W_gate‖ + gated_size·‖W_up‖). No bound exists without limits on the input.
double gated_lipschitz(Activation activation, double gate, double up, double down, double up_size,
                       double gated_size);

/// The factors of one sub-layer of the one form (core/stack/scheme.h), in absolute value: x'' =
/// gate·N_post(shortcut·x + branch(x)).
struct SublayerLipschitz {
    double post = 1;      ///< Lip(N_post); 1 without one
    double gate = 1;      ///< |1 − act(α)| of a gate at the output
    double shortcut = 1;  ///< |a|, times the gate's factor where it scales the shortcut or the input
    double branch = 0;  ///< Δt|b|·λ·Lip(N_out)·L_f·s_in·Lip(N_in), times the gate's factor where it scales it
    double total() const { return gate * post * (shortcut + branch); }
};

/// Lip(N) of LayerNorm or RMSNorm: ‖γ‖∞ times the largest 1/σ_ε of the tokens; the bound without data is
/// ‖γ‖∞/√ε ([E] Lemma A.1).
inline double norm_lipschitz(double gamma_max, double largest_inverse_sigma) {
    return gamma_max * largest_inverse_sigma;
}

/// The sensitivity proxy S_ℓ = (θ/τ)·B²·G_ℓ of [E] §6, G_ℓ = ‖W^O‖₂‖W^Q‖₂‖W^K‖₂‖W^V‖₂ of a layer.
struct SensitivityFactors {
    double theta_over_tau = 0, token_norm = 0, projection = 0;
    double proxy() const { return theta_over_tau * token_norm * token_norm * projection; }
};

/// Δlog S = Δlog(θ/τ) + 2Δlog B + Δlog G between two samples ([E] App. E.6), in nat.
struct SensitivityChange {
    double theta_over_tau = 0, token_norm = 0, projection = 0;
    double total() const { return theta_over_tau + token_norm + projection; }
};
SensitivityChange sensitivity_change(const SensitivityFactors& from, const SensitivityFactors& to);

}  // namespace normscope
