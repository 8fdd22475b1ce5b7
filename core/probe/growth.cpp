// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/growth.h"

#include "core/base/nan.h"
#include "core/probe/bounds/growth_prefix.h"
#include "core/probe/interface/jackknife.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

// The sums over a token may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler
// vectorise them.

namespace normscope {

namespace {

/// The sums of each sequence for a hidden state; s = x − shift, one shift for all sequences.
enum GrowthTerm { kCount, kShifted, kShiftedSquares, kMagnitudes, kSquares, kGrowthTerms };

/// Adds up one token [d]; returns ‖x‖².
template <class T>
double add_token(const T* x, int d, double shift, double* sums) {
    double shifted = 0, shifted_squares = 0, magnitudes = 0, squares = 0;
#pragma omp simd reduction(+ : shifted, shifted_squares, magnitudes, squares)
    for (int i = 0; i < d; ++i) {
        const double v = static_cast<double>(x[i]), s = v - shift;
        shifted += s;
        shifted_squares += s * s;
        magnitudes += std::abs(v);
        squares += v * v;
    }
    sums[kCount] += d;
    sums[kShifted] += shifted;
    sums[kShiftedSquares] += shifted_squares;
    sums[kMagnitudes] += magnitudes;
    sums[kSquares] += squares;
    return squares;
}

double finite_or_nan(double value) {
    return std::isfinite(value) ? value : kNaN;
}

struct StateGrowth {
    Averaged ma, var, rms;
    double block = 0;
};

template <class T>
StateGrowth measure(const T* x, int sequences, int length, int d) {
    // The shift is the mean of one token: for any distance from the overall mean, that token keeps the
    // variance so large that Σs² − (Σs)²/count loses at most a factor of the number of tokens in rounding.
    double shift = 0;
    for (int i = 0; i < d; ++i) shift += static_cast<double>(x[i]) / d;
    std::vector<double> sums(static_cast<std::size_t>(sequences) * kGrowthTerms);
    double largest = 0;
    for (int b = 0; b < sequences; ++b)
        for (int t = 0; t < length; ++t, x += d) {
            const double squares = add_token(x, d, shift, sums.data() + b * kGrowthTerms);
            largest = std::max(largest, squares);  // a NaN is in the RMS
        }
    const auto over = [&](auto&& statistic) {
        Averaged a = jackknife(sums, kGrowthTerms,
                               [&](std::span<const double> t, std::size_t) { return statistic(t); });
        return Averaged{finite_or_nan(a.value), finite_or_nan(a.error)};
    };
    StateGrowth result;
    result.ma = over([](auto t) { return t[kMagnitudes] / t[kCount]; });
    result.rms = over([](auto t) { return std::sqrt(t[kSquares] / t[kCount]); });
    result.var = over([](auto t) {
        if (t[kCount] < 2) return kNaN;
        return std::max(0.0, t[kShiftedSquares] - t[kShifted] * t[kShifted] / t[kCount]) / (t[kCount] - 1);
    });
    result.block = std::isnan(result.rms.value) ? kNaN : std::sqrt(largest / d);
    return result;
}

}  // namespace

template <class T>
ProbeResult probe_growth(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const int d = input.model.spec().d_model;
    const auto rows = static_cast<std::size_t>(tape.rows()), width = static_cast<std::size_t>(d);
    const std::size_t states = tape.hidden.size();

    std::vector<StateGrowth> of_state(states);
    input.pool.run(static_cast<int>(states), [&](int k) {
        const auto at = static_cast<std::size_t>(k);
        of_state[at] =
            measure(tape.view(tape.hidden[at], rows * width).data(), tape.sequences, tape.length, d);
    });
    std::vector<Averaged> ma, var, rms;
    std::vector<double> block;
    for (const StateGrowth& state : of_state) {
        ma.push_back(state.ma);
        var.push_back(state.var);
        rms.push_back(state.rms);
        block.push_back(state.block);
    }

    std::vector<double> bound_ma(states, kNaN), bound_var(states, kNaN), uniform(states, kNaN),
        product(states, kNaN);
    const double start = rms[0].value * std::sqrt(static_cast<double>(rows * width));
    const auto prefixes =
        std::isfinite(start) ? growth_prefixes(input.model, tape, input.pool) : GrowthPrefixes{};
    const std::span<const BoundedSublayer> bounded = prefixes.bounded;
    const auto draw = [&](const std::vector<double>& bounds, std::vector<double>& to) {
        for (std::size_t k = 0; k < bounds.size() && std::isfinite(bounds[k]); ++k)
            to[k] = mean_absolute_bound(bounds[k], rows, width);
    };
    if (!bounded.empty()) {
        const auto bounds = bounded_branch_norms(start, rows, width, bounded);
        draw(bounds, bound_ma);
        for (std::size_t k = 0; k < bounds.size() && rows * width > 1 && std::isfinite(bounds[k]); ++k)
            bound_var[k] = finite_or_nan(variance_bound(bounds[k], rows, width));
    }
    const auto last =
        std::find_if(bounded.begin(), bounded.end(), [](const auto& s) { return !s.output_norm; });
    const auto output_normed = bounded.first(static_cast<std::size_t>(last - bounded.begin()));
    if (!output_normed.empty() && std::all_of(output_normed.begin(), output_normed.end(), [](const auto& s) {
            return s.gate_scale == 1 && s.shortcut_scale == 1;
        }))
        draw(output_norm_bounds_uniform(start, rows, width, output_normed), uniform);
    if (!prefixes.product.empty())
        draw(pre_norm_bounds(start, static_cast<std::size_t>(tape.length), width, prefixes.product), product);
    std::vector<double> estimate(states, kNaN);
    const auto gates = estimated_prefix(input.model);
    if (!gates.empty() && std::isfinite(var[0].value)) {
        estimate[0] = var[0].value;
        for (std::size_t k = 0; k < gates.size(); ++k)
            estimate[k + 1] = gpas_variance_step(estimate[k], gates[k]);
    }

    ProbeResult result;
    const auto add = [&](const char* name, std::vector<double> values) {
        result.arrays.push_back({name, {states}, std::move(values), {"hidden_state"}, "1"});
    };
    add_averaged(result, "ma", {states}, ma, {"hidden_state"}, "1");
    add_averaged(result, "var", {states}, var, {"hidden_state"}, "1");
    add_averaged(result, "rms", {states}, rms, {"hidden_state"}, "1");
    add("block_rms", std::move(block));
    add("bound_ma", std::move(bound_ma));
    add("bound_var", std::move(bound_var));
    add("bound_uniform_ma", std::move(uniform));
    add("bound_product_ma", std::move(product));
    add("gpas_estimate", std::move(estimate));
    return result;
}
template ProbeResult probe_growth<float>(ProbeInput<float>&);
template ProbeResult probe_growth<double>(ProbeInput<double>&);

namespace {

/// The hidden states, and the Gram matrices of all weights in pieces of 64 (spectral_bound.h).
double growth_operations(const ProbeShape& s) {
    return scalar_operations(s.states()) + std::min(64, s.d_model) * s.parameters();
}

}  // namespace

ProbeInfo growth_probe() {
    const std::vector<Axis> states{axis::hidden_state};
    constexpr unsigned bound = kMayBeNan | kWhole;  // each is of all sub-layers before it
    return {"growth",
            "Growth",
            "mean |x|, variance and RMS of h_k over batch, tokens and channels, with the bounds R_k/√(nd) "
            "and R_k²/(nd − 1)",
            "[K] §3 and Theorems 3 and 4, [E] Definition 3.1, [G] eq. 16",
            ProbeNeeds::Forward,
            ProbeCost::Cheap,
            growth_operations,
            probe_growth<float>,
            probe_growth<double>,
            {{"ma", states, "mean |x| over batch, tokens and channels", kAveraged | kWhole},
             {"var", states, "variance", kAveraged | kWhole},
             {"rms", states, "root mean square", kAveraged | kWhole},
             {"block_rms", states, "RMS of the token whose RMS is largest", kWhole},
             {"bound_ma", states, "bound of ma from the branches' norms", bound},
             {"bound_var", states, "bound of var from the branches' norms", bound},
             {"bound_uniform_ma", states, "bound of ma where output norms bound each branch alike",
              bound | kAdded},
             {"bound_product_ma", states, "bound of ma by products of the weights' norms", bound | kAdded},
             {"gpas_estimate", states, "variance that the gates predict from that of the embedding",
              bound | kAdded}}};
}

}  // namespace normscope
