// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// How much of a vector a norm erases; summed over tokens, of a norm site.
struct ErasedEnergy {
    double erased = 0;  ///< ‖Pv‖²
    double total = 0;   ///< ‖v‖²

    double share() const { return total > 0 ? erased / total : 0; }
    ErasedEnergy& operator+=(const ErasedEnergy& other) {
        erased += other.erased;
        total += other.total;
        return *this;
    }
};

/// What a norm's null spaces at ε = 0 take from vectors, token by token and without allocation: only γ, which
/// all tokens of a site share, is prepared. LayerNorm's ker Jᵀ is diag(γ)⁻¹·span{1, x}, its ker J span{1, x}
/// (RMSNorm: without the 1), so neither needs the mean or σ; see NormJacobian below. T is float or double;
/// sums are float64. Immutable; any thread may read it.
class NormNullSpace {
  public:
    /// An empty gamma means ones. Throws InputError where a value is not finite or the width is 0.
    NormNullSpace(bool centred, std::size_t width, std::span<const double> gamma);

    std::size_t width() const { return weights_.size(); }

    /// What one token [d] gives: its variance without ε (RMSNorm: mean(x²)), and ‖Pg‖² and ‖g‖² of a gradient
    /// [d] at the norm's output, P the orthogonal projector on ker Jᵀ. NaN where an entry is not finite.
    struct Token {
        double variance = 0;
        ErasedEnergy backward;
    };
    template <class T>
    Token token(const T* x, const T* gradient) const;

    /// ‖Pδ‖² and ‖δ‖² of a change δ [d] of the norm's input, P the orthogonal projector on ker J at x [d].
    template <class T>
    ErasedEnergy erased_forward(const T* x, const double* change) const;

  private:
    bool centred_ = true;          // LayerNorm
    std::vector<double> weights_;  // smallest live |γ| over γ, so at most 1 in size; 0 where γ = 0
    double weights_square_ = 0;    // Σ weights²
    std::size_t pivot_ = 0;        // the channel of the smallest |γ|
    std::vector<std::size_t> dead_channels_;  // γ = 0
};

/// The Jacobian of LayerNorm or RMSNorm at one token x ∈ R^d, in closed form ([N] Lemma 2.1, Theorem 2.2,
/// with ε > 0 and γ):
///
///     LayerNorm  J = (1/σ_ε) diag(γ) (I − 11ᵀ/d − ẑẑᵀ/d),   σ_ε = √(var + ε),     ẑ = (x − mean)/σ_ε
///     RMSNorm    J = (1/r_ε) diag(γ) (I − x̃x̃ᵀ/d),           r_ε = √(mean(x²) + ε), x̃ = x/r_ε
///
/// Errata: [N] Remark 1.2 multiplies by diag(γ) from the right; it belongs on the left, so the null space of
/// J does not depend on γ and that of Jᵀ does. [K] Lemma 9 omits −11ᵀ/d. [N] equates ker J with the lost
/// gradient directions; those are ker Jᵀ. All spans have length d; β has no influence. Immutable; any thread
/// may read it.
class NormJacobian {
  public:
    /// An empty gamma means ones. Throws InputError when the shapes differ, a value is not finite, eps < 0,
    /// or the norm is undefined (eps = 0 and no variance).
    static NormJacobian layer_norm(std::span<const double> x, std::span<const double> gamma, double eps);
    static NormJacobian rms_norm(std::span<const double> x, std::span<const double> gamma, double eps);

    std::size_t width() const { return direction_.size(); }
    /// var, without ε (RMSNorm: mean(x²)).
    double variance() const { return variance_; }
    /// 1/σ_ε (1/r_ε): every singular value but the null ones at γ = 1; what shrinks Post-LN gradients with
    /// depth.
    double gain() const { return gain_; }
    /// ε/(var + ε): the singular value of the direction ẑ over the gain. 0 where ε = 0: ẑ is then exactly
    /// null.
    double epsilon_effect() const { return epsilon_effect_; }

    /// All d singular values at γ = 1, descending: the gain (d − 2 times; RMSNorm d − 1), gain·ε/(var + ε),
    /// and 0 (LayerNorm only).
    std::vector<double> singular_values() const;
    /// Rank at ε = 0 and γ without zeros: d − 2 (RMSNorm d − 1), one more for LayerNorm at a constant token.
    std::size_t rank() const { return width() - right_null_space().size(); }

    /// Orthonormal basis of ker J at ε = 0, γ without zeros: {1, ẑ} (RMSNorm {x̃}), normalised. A constant
    /// token has no ẑ.
    std::vector<std::vector<double>> right_null_space() const;
    /// Orthonormal basis of ker Jᵀ at ε = 0: diag(γ)⁻¹·span{1, ẑ}. A channel with γ = 0 joins it as a unit
    /// vector; of the span only what vanishes on such channels remains, since Jᵀg = (1/σ)(I − …)(γ ⊙ g).
    std::vector<std::vector<double>> left_null_space() const;

    /// J as a dense matrix, row-major d × d (rows are outputs), ε and γ included. For tests and details.
    std::vector<double> dense() const;

    /// A gradient ∂L/∂(norm output) against the orthogonal projector on ker Jᵀ; a random one loses 2/d on
    /// average.
    ErasedEnergy erased_backward(std::span<const double> gradient) const;
    /// A change of the norm's input against the orthogonal projector on ker J.
    ErasedEnergy erased_forward(std::span<const double> change) const;

  private:
    NormJacobian(bool centred, std::span<const double> x, std::span<const double> gamma, double eps);
    void build_left_null_space();

    bool centred_ = true;  // LayerNorm
    double variance_ = 0;
    double gain_ = 0;
    double epsilon_effect_ = 0;
    std::vector<double> gamma_;
    NormNullSpace null_space_;
    std::vector<double> direction_;  // ẑ (x̃) as a unit vector; zeros at a constant (zero) token
    bool has_direction_ = false;
    std::vector<std::size_t> dead_channels_;           // γ = 0
    std::vector<std::vector<double>> left_null_live_;  // orthonormal, zero on the dead channels
};

}  // namespace normscope
