// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/norm_jacobian.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace normscope {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void scale(std::span<double> v, double factor) {
    for (double& value : v) value *= factor;
}

void require_finite(std::span<const double> v, const std::string& name) {
    const auto bad = std::find_if_not(v.begin(), v.end(), [](double value) { return std::isfinite(value); });
    if (bad != v.end())
        throw InputError(name + "[" + std::to_string(bad - v.begin()) + "]", "not finite", "finite numbers");
}

void require_width(std::span<const double> v, std::size_t width, const std::string& name) {
    if (v.size() != width)
        throw InputError(name, "length " + std::to_string(v.size()),
                         "the norm's width " + std::to_string(width));
}

using Basis = std::vector<std::vector<double>>;

/// Gram–Schmidt, twice for full accuracy; a vector already in the span is skipped.
void append_orthonormal(Basis& basis, std::vector<double> v) {
    const double length = std::sqrt(dot(v, v));
    if (length == 0) return;
    scale(v, 1 / length);
    for (int pass = 0; pass < 2; ++pass)
        for (const auto& other : basis) {
            const double overlap = dot(other, v);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] -= overlap * other[i];
        }
    const double rest = std::sqrt(dot(v, v));
    if (rest < 1e-14) return;
    scale(v, 1 / rest);
    basis.push_back(std::move(v));
}

}  // namespace

NormJacobian NormJacobian::layer_norm(std::span<const double> x, std::span<const double> gamma, double eps) {
    return {true, x, gamma, eps};
}

NormJacobian NormJacobian::rms_norm(std::span<const double> x, std::span<const double> gamma, double eps) {
    return {false, x, gamma, eps};
}

NormJacobian::NormJacobian(bool centred, std::span<const double> x, std::span<const double> gamma, double eps)
    : centred_(centred),
      gamma_(gamma.begin(), gamma.end()),
      null_space_(centred, x.size(), gamma),
      direction_(x.begin(), x.end()) {
    if (gamma_.empty()) gamma_.assign(x.size(), 1.0);
    require_finite(x, "x");
    if (!(eps >= 0 && std::isfinite(eps)))
        throw InputError("eps", std::to_string(eps), "finite numbers >= 0");

    const auto d = static_cast<double>(width());
    // A constant token is exactly that, even where the rounded mean differs from it.
    const bool constant = std::all_of(x.begin(), x.end(), [&](double value) { return value == x[0]; });
    const double mean = constant ? x[0] : std::accumulate(x.begin(), x.end(), 0.0) / d;
    if (centred_)
        for (double& value : direction_) value -= mean;
    variance_ = dot(direction_, direction_) / d;
    if (!(variance_ + eps > 0 && std::isfinite(variance_)))
        throw InputError(
            "x", "a token of variance " + std::to_string(variance_) + " at eps " + std::to_string(eps),
            "variance + eps > 0 and finite");
    gain_ = 1 / std::sqrt(variance_ + eps);
    epsilon_effect_ = eps / (variance_ + eps);
    has_direction_ = variance_ > 0;
    if (has_direction_) scale(direction_, 1 / std::sqrt(variance_ * d));
    build_left_null_space();
}

std::vector<double> NormJacobian::singular_values() const {
    std::vector<double> values(width(), gain_);
    if (centred_) values.back() = 0;
    const std::size_t null_places = centred_ ? 2 : 1;
    if (width() >= null_places) values[width() - null_places] = gain_ * epsilon_effect_;
    return values;
}

Basis NormJacobian::right_null_space() const {
    Basis basis;
    if (centred_) basis.emplace_back(width(), 1 / std::sqrt(static_cast<double>(width())));
    if (has_direction_) append_orthonormal(basis, direction_);
    return basis;
}

/// γ ⊙ g ∈ span{1, ẑ}. Two generators suffice, chosen so that they stay independent however small a γ is: the
/// second is ẑ − ẑ_k·1 with k the channel of the smallest |γ|, which the first one dominates.
void NormJacobian::build_left_null_space() {
    for (std::size_t i = 0; i < width(); ++i)
        if (gamma_[i] == 0) dead_channels_.push_back(i);
    const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto weakest =
        static_cast<std::size_t>(std::min_element(gamma_.begin(), gamma_.end(), by_size) - gamma_.begin());
    double smallest_live = INFINITY;
    for (const double gamma : gamma_)
        if (gamma != 0) smallest_live = std::min(smallest_live, std::abs(gamma));

    const auto add = [&](double of_ones, double of_direction) {
        std::vector<double> v(width());
        for (std::size_t i = 0; i < width(); ++i) {
            const double scaled_output = of_ones + of_direction * direction_[i];
            if (gamma_[i] != 0)
                v[i] = scaled_output * (smallest_live / gamma_[i]);
            else if (scaled_output != 0)
                return;  // γ ⊙ g cannot reach it
        }
        append_orthonormal(left_null_live_, std::move(v));
    };
    if (centred_) add(1, 0);
    if (has_direction_) add(centred_ ? -direction_[weakest] : 0, 1);
}

Basis NormJacobian::left_null_space() const {
    Basis basis = left_null_live_;
    for (const std::size_t channel : dead_channels_) {
        basis.emplace_back(width());
        basis.back()[channel] = 1;
    }
    return basis;
}

std::vector<double> NormJacobian::dense() const {
    const std::size_t d = width();
    const double mean_share = centred_ ? 1 / static_cast<double>(d) : 0;
    std::vector<double> matrix(d * d);
    for (std::size_t row = 0; row < d; ++row)
        for (std::size_t column = 0; column < d; ++column)
            // ẑẑᵀ/d is (1 − ε/(var + ε)) times the projector on ẑ.
            matrix[row * d + column] = gain_ * gamma_[row] *
                                       ((row == column ? 1 : 0) - mean_share -
                                        (1 - epsilon_effect_) * direction_[row] * direction_[column]);
    return matrix;
}

ErasedEnergy NormJacobian::erased_backward(std::span<const double> gradient) const {
    require_width(gradient, width(), "gradient");
    return null_space_.token(direction_.data(), gradient.data()).backward;
}

ErasedEnergy NormJacobian::erased_forward(std::span<const double> change) const {
    require_width(change, width(), "change");
    return null_space_.erased_forward(direction_.data(), change.data());
}

}  // namespace normscope
