// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/residual.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/model/residual_sum.h"
#include "core/model/scratch_slots.h"
#include "core/model/sublayer_factors.h"
#include "core/probe/interface/jackknife.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace normscope {

namespace {

/// The sums of one sequence at one sub-layer.
struct Sums {
    double ratio = 0;         ///< Σ over tokens of ‖branch‖/‖h_k‖
    double cosine = 0;        ///< Σ cos(branch, h_k) over the tokens where neither is zero
    double directed = 0;      ///< how many these are
    double gradient_out = 0;  ///< ‖g_{k+1}‖²
    double gradient_sum = 0;  ///< ‖g_z‖²
    double gradient_in = 0;   ///< ‖g_k‖²
    double gain = 0;          ///< Σ over tokens of 1/σ_ε of the post norm; 1 a token without one
};
constexpr std::size_t kResidualTerms = sizeof(Sums) / sizeof(double);

template <class T>
Sums sums_of(ProbeInput<T>& input, const Tape<T>& tape, const BackwardRecord<T>& record, int sublayer,
             int sequence) {
    const auto& kernels = row_kernels<T>();
    const auto k = static_cast<std::size_t>(sublayer);
    const std::size_t n = static_cast<std::size_t>(tape.length);
    const std::size_t d = static_cast<std::size_t>(input.model.spec().d_model);
    const int first_row = sequence * tape.length;
    const std::size_t first = static_cast<std::size_t>(first_row) * d, count = n * d;
    T* rows = input.model.device().template scratch_of<T>(kResidualRows, count);

    Sums sums;
    branch_rows(input.model, tape, sublayer, first_row, tape.length, rows);
    const HostView<T> branches = tape.view(rows, count), stream = tape.view(tape.hidden[k] + first, count);
    for (std::size_t r = 0; r < n; ++r) {
        const T *branch = branches.data() + r * d, *x = stream.data() + r * d;
        const double branch_norm = std::sqrt(kernels.dot(d, branch, branch)),
                     norm = std::sqrt(kernels.dot(d, x, x));
        sums.ratio += branch_norm / norm;
        if (branch_norm == 0 || norm == 0) continue;
        sums.cosine += kernels.dot(d, branch, x) / (branch_norm * norm);
        ++sums.directed;
    }

    const SublayerTape<T>& of_sublayer = tape.sublayers[k];
    sums.gain = static_cast<double>(n);
    if (input.model.rules()[k].post) {
        const HostView<T> rstd = tape.view(of_sublayer.post.rstd + first_row, n);
        sums.gain = std::accumulate(rstd.begin(), rstd.end(), 0.0);
    }

    const T *after = record.hidden[k + 1].data() + first, *before = record.hidden[k].data() + first;
    gradient_at_sum(input.model, tape, sublayer, first_row, tape.length, after, rows);
    const auto square = [&](const T* values) {
        const HostView<T> on_host = tape.view(values, count);
        return kernels.dot(count, on_host.data(), on_host.data());
    };
    sums.gradient_out = square(after);
    sums.gradient_sum = square(rows);
    sums.gradient_in = square(before);
    return sums;
}

/// Root mean square of the post norm's γ; 1 without one, NaN of a kind whose gain is not γ/σ.
template <class T>
double post_scale(const Transformer<T>& model, int sublayer) {
    if (!model.rules()[static_cast<std::size_t>(sublayer)].post) return 1;
    const NormOffsets& norm = offsets(model.table(), sublayer).norm_post;
    if (norm_kind_row(norm.kind).nulls == NormNulls::None) return std::numeric_limits<double>::quiet_NaN();
    const auto d = static_cast<std::size_t>(model.spec().d_model);
    const HostView<T> gamma = model.host_parameters(norm.weight, d);
    return std::sqrt(row_kernels<T>().dot(d, gamma.data(), gamma.data()) / static_cast<double>(d));
}

}  // namespace

template <class T>
ProbeResult probe_residual(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const BackwardRecord<T>& record = input.backward();
    const int sublayers = 2 * input.model.spec().depth, sequences = tape.sequences;
    const double tokens = tape.length;
    const auto size = static_cast<std::size_t>(sublayers);
    std::vector<Averaged> ratio(size), cosine(size), shortcut(size), branch(size), norm(size), gain(size);

    input.pool.run(sublayers, [&](int sublayer) {
        if (!input.selects_sublayer(sublayer)) return;
        input.check_cancelled();
        std::vector<double> sums;
        for (int b = 0; b < sequences; ++b) {
            const Sums s = sums_of(input, tape, record, sublayer, b);
            sums.insert(sums.end(), {s.ratio, s.cosine, s.directed, s.gradient_out, s.gradient_sum,
                                     s.gradient_in, s.gain});
        }
        const double along = std::abs(backward_shortcut_factor(input.model, sublayer));
        const double kept = along == 0 ? 1 : along;
        const double carried = along * std::abs(backward_output_factor(input.model, sublayer)) *
                               post_scale(input.model, sublayer);
        const auto averaged = [&](auto&& statistic) {
            return jackknife(sums, kResidualTerms, [&](std::span<const double> total, std::size_t count) {
                return statistic(Sums{total[0], total[1], total[2], total[3], total[4], total[5], total[6]},
                                 count);
            });
        };
        const auto k = static_cast<std::size_t>(sublayer);
        ratio[k] = averaged([&](const Sums& s, std::size_t count) { return s.ratio / (tokens * count); });
        cosine[k] = averaged([](const Sums& s, std::size_t) { return s.cosine / s.directed; });
        norm[k] =
            averaged([](const Sums& s, std::size_t) { return std::sqrt(s.gradient_sum / s.gradient_out); });
        shortcut[k] = averaged([&](const Sums&, std::size_t) { return kept; });
        branch[k] = averaged(
            [&](const Sums& s, std::size_t) { return std::sqrt(s.gradient_in / s.gradient_sum) / kept; });
        gain[k] =
            averaged([&](const Sums& s, std::size_t count) { return carried * s.gain / (tokens * count); });
    });

    ProbeResult result;
    const auto add = [&](const char* name, const std::vector<Averaged>& values) {
        add_averaged(result, name, {size}, values, {"sublayer"}, "1");
    };
    add("branch_ratio", ratio);
    add("branch_cosine", cosine);
    add("grad_shortcut", shortcut);
    add("grad_branch", branch);
    add("grad_norm", norm);
    add("shortcut_gain", gain);
    return result;
}
template ProbeResult probe_residual<float>(ProbeInput<float>&);
template ProbeResult probe_residual<double>(ProbeInput<double>&);

namespace {

double residual_operations(const ProbeShape& s) {
    return scalar_operations(s.part.sublayers * 3 * s.states());
}

}  // namespace

ProbeInfo residual_probe() {
    const std::vector<Axis> sublayers{axis::sublayer};
    constexpr unsigned flags = kAveraged | kMayBeNan;
    return {"residual",
            "Branch and stream",
            "‖Δt·b·y‖/‖x‖ and cos(Δt·b·y, x) a token; ‖g_k‖/‖g_(k+1)‖ = grad_norm·grad_shortcut·grad_branch, "
            "exactly",
            "[K] eq. 8; [B] Theorem 2",
            ProbeNeeds::Backward,
            ProbeCost::Cheap,
            residual_operations,
            probe_residual<float>,
            probe_residual<double>,
            {{"branch_ratio", sublayers, "mean over tokens of ‖Δt·b·y‖/‖x‖", flags},
             {"branch_cosine", sublayers, "mean over tokens of cos(Δt·b·y, x)", flags},
             {"grad_shortcut", sublayers, "factor of the gradient's norm along the shortcut", flags},
             {"grad_branch", sublayers, "factor that the branch adds", flags},
             {"grad_norm", sublayers, "factor of the norm after the sum", flags},
             {"shortcut_gain", sublayers,
              "what the shortcut alone carries: |s|·mean over tokens of rms(γ)/σ_ε", flags | kAdded}}};
}

}  // namespace normscope
