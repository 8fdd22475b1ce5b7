// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/jacobian_plan.h"

#include "core/base/assert.h"
#include "core/probe/spectra/full_map.h"
#include "core/probe/spectra/token_spectrum.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope {

namespace {

constexpr double kPlanBudget = 4e9;        // operations; see the header
constexpr double kLastTokenBudget = 3e10;  // budget of the last token's blocks of all layers
constexpr double kFullMap = 3.4e9;         // budget of the full map
constexpr int kDenseFullMap = 128;         // n·d up to which explicit matrices are affordable
constexpr int kDenseStackMap = 1024;       // the same of the stack's alone, one of them
constexpr double kDenseStack = 8e9;        // its budget, in addition to the plan's
constexpr int kMaxSequences = 8;
constexpr std::size_t kMaxTokens = 4;
constexpr double kSinglePrecision = 4;  // how much faster a pass is in float32

/// Cost of float64 work on a stack of this shape, in operations of a large GEMM; slower work is counted
/// higher (measured at d 64 and d 768).
struct Cost {
    const StackSpec& spec;
    double d = spec.d_model, depth = spec.depth;

    /// Operations of a token through one layer with `n` tokens to attend to.
    double operations(double n) const {
        const double maps = is_gated(spec.activation) ? 3 : 2;
        return 2 * (2 * d * (spec.d_q() + spec.d_kv()) + maps * d * spec.d_ff) + 4 * n * spec.d_q();
    }
    /// Forward, or as one direction of a tangent: few rows per GEMM, plus row kernels.
    double pass(double n) const { return (1 + 64 / d) * operations(n) + 3300 * d; }
    /// Singular values of a [size, size] matrix.
    static double svd(double size) { return 24 * size * size * size + 3700 * size * size; }
    double product() const { return 2 * d * d * d; }
    /// The stack's map of m tokens as an explicit matrix.
    double dense_stack(double m) const { return depth * m * d * m * pass(m) + svd(m * d); }

    /// One layer's blocks at the last of n tokens; where each token depends on all, attention and the layer's
    /// share of the stack take the whole sequence.
    double block(double n) const { return pass(n) * (spec.causal ? n + d : n + 1.5 * n * d) + product(); }
    /// Blocks and their spectra, sub-layers alone.
    double sublayers(double n) const { return block(n) + 2 * svd(d); }
    /// The full map of m tokens for one layer, and the layer's share of the stack's.
    double full(double m, bool dense) const {
        const double directions = dense ? m * d : 2 * kFullMapProducts;  // J alone, or J and its transpose
        const double products = 2 * directions * m * pass(m);            // sub-layers, stack
        const double feed_forward = m >= kMinTokenBlocks && token_by_token(spec, 1, static_cast<int>(m))
                                        ? m * (d * operations(0) + svd(d))
                                        : 0;
        return m * pass(m) + products + feed_forward + sublayers(m) +
               (dense ? (1 + 1 / depth) * svd(m * d) : 0);
    }
};

/// `count` of `depth` layers, spread evenly; the first and the last one are among them from two on.
std::vector<int> spread(int count, int depth) {
    std::vector<int> layers;
    for (int i = 0; i < count; ++i)
        layers.push_back(count == 1 ? depth - 1
                                    : static_cast<int>(std::lround(i * (depth - 1.0) / (count - 1))));
    return layers;
}

}  // namespace

JacobianPlan plan_jacobian(const StackSpec& spec, int length, int sequences) {
    const Cost cost{spec};
    const double n = length;
    const double budget = std::max(kPlanBudget, 3 * n * cost.depth * cost.operations(n));
    // Sub-layers, the layer, and branches where they are narrow (token_block.h).
    const double layer = cost.sublayers(n) + (spec.d_model <= 128 ? 3 : 1) * Cost::svd(cost.d);
    const double whole = cost.depth * (layer + 2 * cost.product()) + Cost::svd(cost.d);

    JacobianPlan plan;
    plan.tokens = {length};
    plan.whole = whole <= std::max(kLastTokenBudget, budget);
    const double one = plan.whole ? whole : layer;
    const int count =
        plan.whole ? spec.depth : std::clamp(static_cast<int>(0.95 * budget / one), 1, spec.depth);
    plan.layers = spread(count, spec.depth);
    NORMSCOPE_ASSERT(std::is_sorted(plan.layers.begin(), plan.layers.end()), "layers are ascending");
    double left = budget - (plan.whole ? whole : count * layer);

    // Earlier tokens do not depend on later ones: a shorter sequence has its own map.
    const int least = std::min(2, length);
    for (int m = length; m >= least && (spec.causal || m == length); m = m / 2) {
        const bool dense = m * spec.d_model <= kDenseFullMap;
        const double price = count * cost.full(m, dense);
        if (price > (plan.whole ? std::max(kFullMap, 0.5 * left) : left)) continue;
        plan.prefix = m;
        plan.dense = dense;
        plan.dense_stack =
            dense || (plan.whole && m * spec.d_model <= kDenseStackMap && cost.dense_stack(m) <= kDenseStack);
        left -= price;
        break;
    }
    if (!plan.whole || !spec.causal) return plan;
    plan.spread = std::min(kMaxSequences, sequences);
    left -= plan.spread * (cost.depth * cost.pass(n) * (n + cost.d) / kSinglePrecision + Cost::svd(cost.d));
    // The prefix's last token is measured already.
    std::set<int> tokens{length};
    const double sequence = cost.depth * cost.sublayers(n) + Cost::svd(cost.d);
    for (const int token : {plan.prefix, length / 2, length / 4, length / 8}) {
        const double price =
            token == plan.prefix ? 0 : cost.depth * cost.sublayers(token) + Cost::svd(cost.d);
        const bool new_place = token >= 1 && !tokens.contains(token);
        // From the second position on, a second sequence takes precedence.
        const double kept = tokens.size() > 2 ? sequence : 0;
        if (!new_place || price > left - kept || tokens.size() == kMaxTokens) continue;
        tokens.insert(token);
        left -= price;
    }
    plan.tokens.assign(tokens.begin(), tokens.end());
    plan.sequences += std::clamp(static_cast<int>(std::max(left, 0.0) / sequence), 0, plan.spread - 1);
    return plan;
}

std::string full_map_name(const JacobianPlan& plan, int length) {
    if (plan.prefix == 0) return "not measured";
    if (plan.prefix == length) return "whole sequence";
    return "first " + std::to_string(plan.prefix) + " of " + std::to_string(length) + " tokens";
}

}  // namespace normscope
