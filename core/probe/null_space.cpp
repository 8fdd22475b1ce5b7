// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/null_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/theory/norm_jacobian.h"
#include "core/theory/norm_precision.h"

namespace normscope {

namespace {

template <class T>
std::vector<double> widened(const T* values, std::size_t count) {
    return std::vector<double>(values, values + count);
}

/// Adds to `sum` [d] the branch Δt·b·λ∘y of one sub-layer at a row, from the tape. A gate on the branch is left out: it
/// multiplies all branches of a layer alike and changes no share.
template <class T>
void add_branch(const Transformer<T>& model, const Tape<T>& tape, std::size_t k, std::size_t row,
                std::vector<double>& sum) {
    const std::size_t d = sum.size();
    const SublayerRule& rule = model.rules()[k];
    const SublayerTape<T>& t = tape.sublayers[k];
    const SublayerOffsets& at = k % 2 == 0 ? static_cast<const SublayerOffsets&>(model.table().attention[k / 2])
                                           : static_cast<const SublayerOffsets&>(model.table().feed_forward[k / 2]);
    const auto parameter = [&](std::size_t offset, std::size_t i, double otherwise) {
        return offset == kAbsent ? otherwise : static_cast<double>(model.parameters()[offset + i]);
    };
    const std::size_t stride = model.spec().branch_scale == BranchScale::Channel ? 1 : 0;
    for (std::size_t i = 0; i < d; ++i) {
        double y = static_cast<double>(t.f[row * d + i]);
        if (rule.out)
            y = (y - static_cast<double>(t.out.mean[row])) * static_cast<double>(t.out.rstd[row]) *
                    parameter(at.norm_out.weight, i, 1) +
                parameter(at.norm_out.bias, i, 0);
        sum[i] += model.numerics.residual_step * rule.b * parameter(at.scale, stride * i, 1) * y;
    }
}

/// What joined the stream before a post norm beside the shortcut, [d] at one row: the branch, in a parallel layer both.
template <class T>
std::vector<double> branch(const ProbeInput<T>& input, const Tape<T>& tape, int sublayer, std::size_t row) {
    const auto k = static_cast<std::size_t>(sublayer);
    std::vector<double> sum(static_cast<std::size_t>(input.model.spec().d_model));
    if (input.model.spec().layout == Layout::Parallel) add_branch(input.model, tape, k - 1, row, sum);
    add_branch(input.model, tape, k, row, sum);
    return sum;
}

/// Of an even number the mean of the middle two.
double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

template <class T>
ProbeResult probe_null_space(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const BackwardRecord<T>& record = input.backward();
    const auto& sites = input.model.sites();
    const StackSpec& s = input.model.spec();
    const auto d = static_cast<std::size_t>(s.d_model), rows = static_cast<std::size_t>(tape.rows());
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> gain(sites.size()), backward(sites.size()), forward(sites.size(), nan);
    std::vector<double> rho_bf16(sites.size(), nan), rho_fp16(sites.size(), nan);

    input.pool.run(static_cast<int>(sites.size()), [&](int index) {
        input.check_cancelled();
        const auto i = static_cast<std::size_t>(index);
        const auto [x, statistics] = norm_site_input(sites[i], tape);
        const auto gamma = widened(input.model.parameters().data() + sites[i].offsets.weight, d);
        ErasedEnergy lost_backward, lost_forward;
        std::vector<double> variances;
        for (std::size_t r = 0; r < rows; ++r) {
            gain[i] += static_cast<double>(statistics.rstd[r]) / static_cast<double>(rows);
            const auto token = widened(x + r * d, d);
            const auto jacobian = s.norm.kind == NormKind::LayerNorm
                                      ? NormJacobian::layer_norm(token, gamma, input.model.numerics.eps)
                                      : NormJacobian::rms_norm(token, gamma, input.model.numerics.eps);
            variances.push_back(jacobian.variance());
            lost_backward += jacobian.erased_backward(widened(record.norm_output[i].data() + r * d, d));
            if (sites[i].place == NormSite::Place::Post)
                lost_forward += jacobian.erased_forward(branch(input, tape, sites[i].sublayer, r));
        }
        if (const double eps = input.model.numerics.eps; eps > 0) {
            const double variance = median(std::move(variances));
            rho_bf16[i] = rho_ln(variance, eps, d, kUnitRoundOffBf16);
            rho_fp16[i] = rho_ln(variance, eps, d, kUnitRoundOffFp16);
        }
        backward[i] = lost_backward.share();
        if (sites[i].place == NormSite::Place::Post) forward[i] = lost_forward.share();
    });

    ProbeResult result;
    const auto add = [&](const char* name, std::vector<double> values) {
        result.arrays.push_back({name, {sites.size()}, std::move(values), {"site"}, "1"});
    };
    add("gain", std::move(gain));
    add("erased_backward", std::move(backward));
    add("erased_forward", std::move(forward));
    add("bf16_rho_ln", std::move(rho_bf16));
    add("fp16_rho_ln", std::move(rho_fp16));
    for (const NormSite& site : sites) result.labels["sites"].push_back(site.name);
    return result;
}
template ProbeResult probe_null_space<float>(ProbeInput<float>&);
template ProbeResult probe_null_space<double>(ProbeInput<double>&);

}  // namespace normscope
