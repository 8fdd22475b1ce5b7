// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/quantities.h"

#include <functional>

namespace normscope {

/// The engine's quantities, each passed through a hook where one is set: what a mistake in it would give.
struct AlteredQuantities : Quantities {
    template <class... Arguments>
    using Hook = std::function<void(Arguments...)>;
    Hook<double&> on_theta, on_softmax_norm, on_rho;
    bool prefix_is_exact = false, power_is_exact = false;
    Hook<const Matrix&, Matrix&> on_scores;
    Hook<const NormAtToken&, std::vector<double>&> on_norm;
    Hook<const NormAtToken&, Matrix&> on_norm_jacobian;
    Hook<const Transformer<double>&, int, Matrix&> on_jacobian;  ///< the int: sub-layers
    Hook<std::vector<double>&> on_values, on_bounds;
    Hook<const StackSpec&, ProbeResult&> on_probe;
    Hook<SublayerRule&> on_rule;
    Hook<const StackSpec&, const TensorInfo&, double&> on_std;
    std::function<double(double, double)> gate;
    std::function<float(Rounding, float)> round;
    Hook<SpikeForecast&> on_spikes;
    double gate_start = 0;
    PublishedNumbers numbers;

    SensitivityWithSubset theta(std::span<const double> p) const override {
        SensitivityWithSubset result = Quantities::theta(p);
        if (on_theta) on_theta(result.theta.value);
        return result;
    }
    double prefix_theta(std::span<const double> p) const override {
        return prefix_is_exact ? theta(p).theta.value : Quantities::prefix_theta(p);
    }
    double softmax_norm(std::span<const double> p) const override {
        double result = Quantities::softmax_norm(p);
        if (on_softmax_norm) on_softmax_norm(result);
        return result;
    }
    double softmax_norm_by_power(std::span<const double> p, int iterations) const override {
        return power_is_exact ? softmax_norm(p) : Quantities::softmax_norm_by_power(p, iterations);
    }
    Matrix scores(const Matrix& queries, const Matrix& keys) const override {
        Matrix result = Quantities::scores(queries, keys);
        if (on_scores) on_scores(queries, result);
        return result;
    }
    std::vector<double> norm(const NormAtToken& at) const override {
        std::vector<double> result = Quantities::norm(at);
        if (on_norm) on_norm(at, result);
        return result;
    }
    Matrix norm_jacobian(const NormAtToken& at) const override {
        Matrix result = Quantities::norm_jacobian(at);
        if (on_norm_jacobian) on_norm_jacobian(at, result);
        return result;
    }
    SpikeForecast spike_forecast(const std::vector<double>& x, const std::vector<double>& y) const override {
        SpikeForecast result = Quantities::spike_forecast(x, y);
        if (on_spikes) on_spikes(result);
        return result;
    }
    double rho_ln(double variance, double eps, std::size_t width, double u) const override {
        double result = Quantities::rho_ln(variance, eps, width, u);
        if (on_rho) on_rho(result);
        return result;
    }
    Matrix jacobian(const Transformer<double>& model, const Tape<double>& tape, int begin, int end,
                    Jacobian kind) const override {
        Matrix result = Quantities::jacobian(model, tape, begin, end, kind);
        if (on_jacobian) on_jacobian(model, end - begin, result);
        return result;
    }
    std::vector<double> singular_values(const Matrix& matrix) const override {
        std::vector<double> result = Quantities::singular_values(matrix);
        if (on_values) on_values(result);
        return result;
    }
    ProbeResult probe(const char* id, const Transformer<double>& model, const Batch& batch, ThreadPool& pool,
                      std::int64_t step) const override {
        ProbeResult result = Quantities::probe(id, model, batch, pool, step);
        if (on_probe) on_probe(model.spec(), result);
        return result;
    }
    SublayerRule rule(const StackSpec& spec, int layer, Sublayer kind) const override {
        SublayerRule result = Quantities::rule(spec, layer, kind);
        if (on_rule) on_rule(result);
        return result;
    }
    double initial_std(const StackSpec& spec, const TensorInfo& tensor) const override {
        double result = Quantities::initial_std(spec, tensor);
        if (on_std) on_std(spec, tensor, result);
        return result;
    }
    double initial_gate() const override { return gate_start; }
    std::vector<double> product_bounds(double initial_norm, std::size_t context, std::size_t width,
                                       std::span<const PreNormSublayer> sublayers) const override {
        std::vector<double> result = Quantities::product_bounds(initial_norm, context, width, sublayers);
        if (on_bounds) on_bounds(result);
        return result;
    }
    double gated(double x, double activation) const override {
        return gate ? gate(x, activation) : Quantities::gated(x, activation);
    }
    float rounded(Rounding to, float x) const override {
        return round ? round(to, x) : Quantities::rounded(to, x);
    }
    PublishedNumbers published() const override { return numbers; }
};

}  // namespace normscope
