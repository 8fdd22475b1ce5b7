// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/jacobian_plan.h"

#include "core/probe/spectra/full_map.h"
#include "core/probe/spectra/token_spectrum.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope {

namespace {

constexpr double kBudget = 1e10;     // operations; see the header
constexpr int kDenseFullMap = 256;   // n·d up to which the explicit matrix is affordable
constexpr int kMostSequences = 8;
constexpr double kFullMapShare = 0.6;  // of what the last token's blocks leave

/// Operation counts of float64 work on a stack of this shape.
struct Cost {
    const StackSpec& spec;
    double d = spec.d_model, depth = spec.depth;

    /// A token through one layer, forward or as one direction of a tangent, with `n` tokens to attend to.
    double pass(double n) const {
        const double maps = spec.activation == Activation::SwiGlu ? 3 : 2;
        return 2 * (2 * d * d + 2 * d * spec.d_kv() + maps * d * spec.d_ff) + 4 * n * d;
    }
    /// Singular values of a [size, size] matrix: what LAPACK takes, in units of a matrix product's operations.
    static double svd(double size) { return 24 * size * size * size + 2000 * size * size; }
    double product() const { return 2 * d * d * d; }

    /// One layer's blocks at the last of n tokens.
    double block(double n) const {
        return pass(n) * (spec.causal ? n + d : n + 2 * n * d) + product();
    }
    /// Blocks and their spectra, sub-layers alone.
    double sublayers(double n) const { return block(n) + 2 * svd(d); }
    /// The full map of m tokens for one layer, and the layer's share of the stack's.
    double full(double m, bool dense) const {
        const double directions = dense ? m * d : 2 * kFullMapProducts;  // J alone, or J and its transpose
        const double products = 2 * directions * m * pass(m);  // sub-layers, stack
        const double feed_forward =
            token_by_token(spec, 1, static_cast<int>(m)) ? m * (d * pass(0) + svd(d)) : 0;
        return m * pass(m) + products + feed_forward + sublayers(m) + (dense ? 2 * svd(m * d) : 0);
    }
};

/// `count` of `depth` layers, spread evenly; the first and the last one are among them from two on.
std::vector<int> spread(int count, int depth) {
    std::vector<int> layers;
    for (int i = 0; i < count; ++i)
        layers.push_back(count == 1 ? depth - 1 : static_cast<int>(std::lround(i * (depth - 1.0) / (count - 1))));
    return layers;
}

}  // namespace

JacobianPlan plan_jacobian(const StackSpec& spec, int length, int sequences) {
    const Cost cost{spec};
    const double n = length;
    const double budget = std::max(kBudget, 3 * n * cost.depth * cost.pass(n));
    // Sub-layers, their branches, the layer.
    const double layer = cost.sublayers(n) + 3 * Cost::svd(cost.d);
    const double whole = cost.depth * (layer + 2 * cost.product()) + Cost::svd(cost.d);

    JacobianPlan plan;
    plan.tokens = {length};
    plan.whole = whole <= budget;
    const double one = plan.whole ? whole : layer;
    const int count = plan.whole ? spec.depth : std::clamp(static_cast<int>(0.8 * budget / one), 1, spec.depth);
    plan.layers = spread(count, spec.depth);
    double left = budget - (plan.whole ? whole : count * layer);

    // The tokens before the last depend on those before them alone: a shorter sequence is a map of its own.
    for (int m = length; m >= 1 && (spec.causal || m == length); m = m / 2) {
        const bool dense = m * spec.d_model <= kDenseFullMap;
        const double price = count * cost.full(m, dense);
        if (price > kFullMapShare * left) continue;
        plan.prefix = m;
        plan.dense = dense;
        left -= price;
        break;
    }
    if (!plan.whole || !spec.causal) return plan;
    std::set<int> tokens{length};
    for (int part : {2, 4, 8}) {
        const int token = length / part;
        const double price = cost.depth * cost.sublayers(token) + Cost::svd(cost.d);
        if (token < 1 || price > left) break;
        if (tokens.insert(token).second) left -= price;
    }
    plan.tokens.assign(tokens.begin(), tokens.end());
    const double sequence = cost.depth * cost.sublayers(n) + Cost::svd(cost.d);
    plan.sequences += std::clamp(static_cast<int>(left / sequence), 0, std::min(kMostSequences, sequences) - 1);
    return plan;
}

std::string full_map_name(const JacobianPlan& plan, int length) {
    if (plan.prefix == 0) return "not measured";
    if (plan.prefix == length) return "whole sequence";
    return "first " + std::to_string(plan.prefix) + " of " + std::to_string(length) + " tokens";
}

}  // namespace normscope
