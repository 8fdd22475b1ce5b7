// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/null_count.h"

#include "core/base/nan.h"
#include "core/theory/norm_jacobian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace normscope {

namespace {

double frobenius(const BlockMatrix& block) {
    return std::sqrt(std::inner_product(block.begin(), block.end(), block.begin(), 0.0));
}

NullStructure of_post_norm(NormKind kind, std::span<const double> z, std::span<const double> gamma,
                           double eps) {
    const NormNulls nulls = norm_kind_row(kind).nulls;
    if (nulls == NormNulls::None)
        return {static_cast<int>(std::count(gamma.begin(), gamma.end(), 0.0)), 0, kNaN};
    const bool centred = nulls == NormNulls::MeanAndInput;
    const NormJacobian norm =
        centred ? NormJacobian::layer_norm(z, gamma, eps) : NormJacobian::rms_norm(z, gamma, eps);
    const int dead = static_cast<int>(std::count(gamma.begin(), gamma.end(), 0.0));
    const auto left = norm.left_null_space();  // at ε = 0: live covectors, then dead channels
    const int total = static_cast<int>(left.size());
    NullStructure s;
    s.exact = norm.epsilon_effect() > 0 ? std::max(centred ? 1 : 0, dead) : total;
    s.epsilon = std::max(0, total - s.exact);
    s.predicted = kNaN;
    if (s.epsilon == 0) return s;
    const std::vector<double>& g = left[static_cast<std::size_t>(total - dead - 1)];
    const std::vector<double> direction = norm.right_null_space().back();
    double along = 0;
    for (std::size_t i = 0; i < g.size(); ++i) along += direction[i] * gamma[i] * g[i];
    s.predicted = norm.gain() * norm.epsilon_effect() * std::abs(along);
    return s;
}

}  // namespace

NullStructure null_structure(const Transformer<double>& model, const Tape<double>& tape, int sublayer,
                             int row) {
    const auto k = static_cast<std::size_t>(sublayer), layer = k / 2;
    const StackSpec& spec = model.spec();
    const auto d = static_cast<std::size_t>(spec.d_model);
    const SublayerRule& rule = model.rules()[k];
    if (!rule.post) {
        const auto centres = [](const std::optional<NormSpec>& norm) {
            return norm && norm_kind_row(norm->kind).nulls == NormNulls::MeanAndInput;
        };
        const bool erased = rule.a == 0 && (centres(rule.in) || centres(rule.out));
        return {erased ? 1 : 0, 0, kNaN};
    }
    const SublayerOffsets& at = sublayer % 2 == 0
                                    ? static_cast<const SublayerOffsets&>(model.table().attention[layer])
                                    : static_cast<const SublayerOffsets&>(model.table().feed_forward[layer]);
    const HostView<double> gamma = model.host_parameters(at.norm_post.weight, d);
    const HostView<double> z = tape.view(tape.sublayers[k].z + static_cast<std::size_t>(row) * d, d);
    return of_post_norm(at.norm_post.kind, z, gamma, norm_eps(model, NormSite::Place::Post, sublayer));
}

double block_resolution(int d, double largest) {
    return 16 * d * std::numeric_limits<double>::epsilon() * largest;
}

double product_resolution(const std::vector<BlockMatrix>& factors, int d) {
    const std::size_t count = factors.size();
    std::vector<double> later(count, 1.0);  // ‖F_D … F_{l+1}‖_F; nothing multiplies the last factor
    BlockMatrix running = factors.back();
    for (std::size_t l = count - 1; l-- > 0;) {
        later[l] = frobenius(running);
        running = block_product(running, factors[l], d);
    }
    double sum = later[0] * frobenius(factors[0]);
    running = factors.front();
    for (std::size_t l = 1; l < count; ++l) {
        sum += later[l] * frobenius(factors[l]) * frobenius(running);
        running = block_product(factors[l], running, d);
    }
    return block_resolution(d, sum);
}

NullCount count_nulls(const NullStructure& structure, std::span<const double> descending, double resolution) {
    const int d = static_cast<int>(descending.size());
    if (!std::isfinite(descending.front())) return {kNaN, kNaN, kNaN, kNaN, kNaN};
    if (descending.front() == 0) return {static_cast<double>(d), 0, 0, kNaN, kNaN};
    const int exact = std::min(structure.exact, d), rest = d - exact;
    // The exact nulls are the last `exact` values, for any round-off.
    const auto below = std::count_if(descending.begin(), descending.begin() + rest,
                                     [&](double value) { return value <= resolution; });
    NullCount count{static_cast<double>(exact), 0, static_cast<double>(below), structure.predicted, kNaN};
    if (structure.epsilon > 0 && rest > 0 && below == 0) {
        count.epsilon = structure.epsilon;
        count.measured = descending[static_cast<std::size_t>(rest - 1)];
    }
    return count;
}

}  // namespace normscope
