// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/quantities.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/error.h"
#include "core/model/initial_weights.h"
#include "core/probe/registry.h"
#include "core/theory/norm_jacobian.h"
#include "core/theory/norm_precision.h"
#include "core/theory/softmax_norm.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace normscope {

SensitivityWithSubset Quantities::theta(std::span<const double> p) const {
    return theta_with_subset(p);
}
double Quantities::prefix_theta(std::span<const double> p) const {
    return prefix_heuristic_sensitivity(p);
}
double Quantities::softmax_norm(std::span<const double> p) const {
    return softmax_jacobian_norm(p);
}
double Quantities::softmax_norm_by_power(std::span<const double> p, int iterations) const {
    std::mt19937_64 engine(p.size());
    std::normal_distribution<double> normal;
    std::vector<double> start(p.size());
    for (double& v : start) v = normal(engine);
    return softmax_jacobian_norm_by_power(p, start, iterations);
}
Quantities::Matrix Quantities::scores(const Matrix& queries, const Matrix& keys) const {
    return queries * keys.transpose() / std::sqrt(static_cast<double>(queries.cols()));
}

std::vector<double> Quantities::norm(const NormAtToken& at) const {
    const std::size_t d = at.x.size();
    std::vector<double> gamma = at.gamma.empty() ? std::vector<double>(d, 1) : at.gamma, y(d);
    double mean = 0, rstd = 0;
    const NormRows<double> rows{at.kind,
                                1,
                                static_cast<int>(d),
                                at.x.data(),
                                {&mean, &rstd},
                                gamma.data(),
                                at.beta.empty() ? nullptr : at.beta.data()};
    cpu_device().pass_ops<double>().layers.norm_forward(rows, &at.eps, nullptr, y.data());
    return y;
}

Quantities::Matrix Quantities::norm_jacobian(const NormAtToken& at) const {
    const NormJacobian jacobian = at.kind == NormKind::LayerNorm
                                      ? NormJacobian::layer_norm(at.x, at.gamma, at.eps)
                                      : NormJacobian::rms_norm(at.x, at.gamma, at.eps);
    const std::vector<double> dense = jacobian.dense();
    const auto d = static_cast<Eigen::Index>(at.x.size());
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        dense.data(), d, d);
}

double Quantities::rho_ln(double variance, double eps, std::size_t width, double unit_round_off) const {
    return normscope::rho_ln(variance, eps, width, unit_round_off);
}

Quantities::Matrix Quantities::jacobian(const Transformer<double>& model, const Tape<double>& tape, int begin,
                                        int end, Jacobian kind) const {
    const int size = tape.length * model.spec().d_model;
    // Column i of the identity is direction i, and column i of the result its image.
    Matrix columns = Matrix::Identity(size, size);
    constexpr int kPiece = 64;
    for (int first = 0; first < size; first += kPiece) {
        const int count = std::min(kPiece, size - first);
        model.tangent(tape, 0, begin, end, 0, count, kind, columns.data() + std::ptrdiff_t{first} * size);
    }
    return columns;
}

std::vector<double> Quantities::singular_values(const Matrix& matrix) const {
    const Matrix rows = matrix.transpose();  // the row-major matrix in Eigen's order
    std::vector<double> values(static_cast<std::size_t>(std::min(matrix.rows(), matrix.cols())));
    normscope::singular_values(static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()), rows.data(),
                               values.data());
    return values;
}

ProbeResult Quantities::probe(const char* id, const Transformer<double>& model, const Batch& batch,
                              ThreadPool& pool, std::int64_t step) const {
    const ProbeInfo* info = find_probe(id);
    if (!info) throw InputError("probe", std::string(id) + " is not known", "an id of the registry");
    ProbeInput<double> input(model, batch, pool, step);
    return run_probe(*info, input);
}

SublayerRule Quantities::rule(const StackSpec& spec, int layer, Sublayer kind) const {
    return sublayer_rule(spec, layer, kind);
}
double Quantities::initial_std(const StackSpec& spec, const TensorInfo& tensor) const {
    return normscope::initial_std(spec, tensor);
}

GrowthClass Quantities::growth_class(std::span<const double> values) const {
    return classify_growth(values);
}
std::vector<double> Quantities::product_bounds(double initial_norm, std::size_t context, std::size_t width,
                                               std::span<const PreNormSublayer> sublayers) const {
    return pre_norm_bounds(initial_norm, context, width, sublayers);
}

float Quantities::rounded(Rounding to, float x) const {
    return normscope::rounded(to, x);
}

}  // namespace normscope
