// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/probe/interface/probe_result.h"
#include "core/stack/scheme.h"
#include "core/sweep/statistics/lead.h"
#include "core/theory/growth_bounds.h"
#include "core/theory/growth_classifier.h"
#include "core/theory/softmax_sensitivity.h"

#include <Eigen/Core>

#include <memory>
#include <span>
#include <vector>

namespace normscope {

/// One norm at one token x [d]; an empty γ means ones, an empty β zeros.
struct NormAtToken {
    NormKind kind = NormKind::LayerNorm;
    std::vector<double> x, gamma, beta;
    double eps = 0;
};

/// The numbers of the papers that rows compute with.
struct PublishedNumbers {
    double pre_loss = 51.45, post_loss = 61.15, vocabulary = 50257, micro_batches = 16;  ///< [E] Table 1
    double validation_loss = 5.43, perplexity = 247.5;                                   ///< [K] Table 2
};

/// The quantities that claims are about, as the engine computes them, in float64. A row reads them here and
/// nowhere else, so that a test can replace one by a wrong one and see the verdict change. Immutable; any
/// thread may call it, the CPU's operations excepted: one thread.
class Quantities {
  public:
    using Matrix = Eigen::MatrixXd;
    virtual ~Quantities() = default;

    // A softmax row p.
    virtual SensitivityWithSubset theta(std::span<const double> p) const;
    virtual double prefix_theta(std::span<const double> p) const;  ///< [E] App. E.2
    virtual double softmax_norm(std::span<const double> p) const;  ///< ‖diag p − ppᵀ‖₂
    /// The same by power iterations from a random start.
    virtual double softmax_norm_by_power(std::span<const double> p, int iterations) const;
    /// Unmasked scores Q·Kᵀ/√d_h of queries and keys [n, d_h].
    virtual Matrix scores(const Matrix& queries, const Matrix& keys) const;

    // A norm at a token.
    virtual std::vector<double> norm(const NormAtToken& at) const;
    virtual Matrix norm_jacobian(const NormAtToken& at) const;
    virtual double rho_ln(double variance, double eps, std::size_t width, double unit_round_off) const;

    // Maps.
    /// ∂h_end/∂h_begin over the tape's first sequence, [n·d, n·d].
    virtual Matrix jacobian(const Transformer<double>& model, const Tape<double>& tape, int begin, int end,
                            Jacobian kind) const;
    virtual std::vector<double> singular_values(const Matrix& matrix) const;  ///< descending

    // A stack.
    virtual ProbeResult probe(const char* id, const Transformer<double>& model, const Batch& batch,
                              ThreadPool& pool, std::int64_t step) const;
    virtual SublayerRule rule(const StackSpec& spec, int layer, Sublayer kind) const;
    virtual double initial_std(const StackSpec& spec, const TensorInfo& tensor) const;
    virtual double initial_gate() const { return 0; }

    // Growth.
    virtual GrowthClass growth_class(std::span<const double> values) const;
    virtual std::vector<double> product_bounds(double initial_norm, std::size_t context, std::size_t width,
                                               std::span<const PreNormSublayer> sublayers) const;
    virtual double gated(double x, double activation) const { return x * (1 - activation); }

    // Precision.
    virtual float rounded(Rounding to, float x) const;
    virtual SpikeForecast spike_forecast(const std::vector<double>& x, const std::vector<double>& y) const {
        return normscope::spike_forecast(x, y);
    }
    virtual float to_float(double x) const { return static_cast<float>(x); }
    virtual PublishedNumbers published() const { return {}; }
};

}  // namespace normscope
