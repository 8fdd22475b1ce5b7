// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/jacobian_bound.h"

#include "core/theory/lipschitz.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/samples.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

/// 1 − ‖A‖ per sub-layer, NaN where that is no bound; empty where the theorem does not apply.
std::vector<double> sublayerBounds(const ProbeResult& sample, const RecipeFacts& facts) {
    const NamedArray* norms = arrayOf(sample, "branch_norm", 1);
    if (!norms || !facts.identity_shortcut) return {};
    std::vector<double> bounds;
    for (const double norm : norms->data)
        bounds.push_back(norm < 1 ? residual_min_singular_value(norm) : kNaN);
    return bounds;
}

}  // namespace

std::optional<Curve> sigmaMinBound(const ProbeResult& sample, const RecipeFacts& facts, bool sublayers) {
    if (!sublayers && !facts.blocks_multiply) return std::nullopt;
    const std::vector<double> bounds = sublayerBounds(sample, facts);
    Curve curve;
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
        const int k = int(i) + 1;
        if (sublayers) {
            curve.x.insert(curve.x.end(), {depthX(k), depthX(k + 1)});
            curve.y.insert(curve.y.end(), {bounds[i], bounds[i + 1]});
        } else {
            curve.x.push_back(depthX(k + 1));
            curve.y.push_back(bounds[i] * bounds[i + 1]);
        }
    }
    if (std::all_of(curve.y.begin(), curve.y.end(), [](double y) { return std::isnan(y); }))
        return std::nullopt;
    return curve;
}

double stackSigmaMinBound(const ProbeResult& sample, const RecipeFacts& facts) {
    const std::vector<double> bounds = sublayerBounds(sample, facts);
    if (bounds.empty() || !facts.blocks_multiply) return kNaN;
    double product = 1;
    for (const double bound : bounds) product *= bound;
    return product;
}

}  // namespace normscope::widgets
