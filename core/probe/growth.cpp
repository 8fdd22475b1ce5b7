// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/theory/growth_bounds.h"

namespace normscope {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
double largest_magnitude(const Transformer<T>& model, std::size_t offset, std::size_t count) {
    if (offset == kAbsent) return 0;
    const auto values = model.parameters().subspan(offset, count);
    double largest = 0;
    for (T v : values) largest = std::max(largest, std::abs(static_cast<double>(v)));
    return largest;
}

/// The sub-layers from the first on whose branch ends in a norm and whose sum is not normed again: there R_k holds.
template <class T>
std::vector<OutputNormSublayer> bounded_prefix(const Transformer<T>& model) {
    std::vector<OutputNormSublayer> prefix;
    const StackSpec& s = model.spec();
    if (s.gpas.enabled) return prefix;
    const auto d = static_cast<std::size_t>(s.d_model);
    for (std::size_t k = 0; k < model.rules().size(); ++k) {
        const SublayerRule& rule = model.rules()[k];
        if (!rule.out || rule.post) break;
        const SublayerOffsets& at = k % 2 == 0 ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                                               : static_cast<const SublayerOffsets&>(model.table().feed_forward[k / 2]);
        const double scale = s.branch_scale == BranchScale::None
                                 ? 1
                                 : largest_magnitude(model, at.scale, s.branch_scale == BranchScale::Scalar ? 1 : d);
        // A parallel layer's shortcut is in its first sum; the second adds a branch to that.
        const double shortcut = s.layout == Layout::Parallel && k % 2 == 1 ? 1 : std::abs(rule.a);
        prefix.push_back({model.numerics.residual_step, std::abs(rule.b) * scale,
                          largest_magnitude(model, at.norm_out.weight, d),
                          largest_magnitude(model, at.norm_out.bias, d), 1, shortcut});
    }
    return prefix;
}

}  // namespace

template <class T>
ProbeResult probe_growth(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const int d = input.model.spec().d_model;
    const auto rows = static_cast<std::size_t>(tape.rows());
    const std::size_t count = rows * static_cast<std::size_t>(d), states = tape.hidden.size();
    std::vector<double> ma(states), var(states), rms(states), block(states), bound_ma(states, kNaN), bound_var(states, kNaN);

    for (std::size_t k = 0; k < states; ++k) {
        const T* x = tape.hidden[k];
        double sum = 0, magnitude = 0, squares = 0, largest = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            double row = 0;
            for (int i = 0; i < d; ++i) {
                const double v = static_cast<double>(x[r * d + i]);
                sum += v;
                magnitude += std::abs(v);
                row += v * v;
            }
            squares += row;
            largest = std::max(largest, row);
        }
        const double mean = sum / static_cast<double>(count);
        double spread = 0;  // a second pass: squares − mean² would cancel
        for (std::size_t i = 0; i < count; ++i) {
            const double c = static_cast<double>(x[i]) - mean;
            spread += c * c;
        }
        ma[k] = magnitude / static_cast<double>(count);
        var[k] = count > 1 ? spread / static_cast<double>(count - 1) : kNaN;
        rms[k] = std::sqrt(squares / static_cast<double>(count));
        block[k] = std::sqrt(largest / d);
    }

    const auto prefix = bounded_prefix(input.model);
    const double start = rms[0] * std::sqrt(static_cast<double>(count));
    if (!prefix.empty() && std::isfinite(start)) {
        const auto bounds = output_norm_bounds(start, rows, static_cast<std::size_t>(d), prefix);
        for (std::size_t k = 0; k < bounds.size(); ++k) {
            bound_ma[k] = mean_absolute_bound(bounds[k], rows, static_cast<std::size_t>(d));
            if (count > 1) bound_var[k] = variance_bound(bounds[k], rows, static_cast<std::size_t>(d));
        }
    }

    ProbeResult result;
    const auto add = [&](const char* name, std::vector<double> values) {
        result.arrays.push_back({name, {states}, std::move(values), {"hidden_state"}, "1"});
    };
    add("ma", std::move(ma));
    add("var", std::move(var));
    add("rms", std::move(rms));
    add("block_rms", std::move(block));
    add("bound_ma", std::move(bound_ma));
    add("bound_var", std::move(bound_var));
    return result;
}
template ProbeResult probe_growth<float>(ProbeInput<float>&);
template ProbeResult probe_growth<double>(ProbeInput<double>&);

}  // namespace normscope
