// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/attention_rows.h"

#include "core/backend/cpu/kernels/attention_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/nan.h"
#include "core/probe/interface/jackknife.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// The sums of each sequence (AttentionRowSums).
enum RowTerm : std::size_t { Rows, Entropy, SinkMass, kRowTerms };

/// The largest |q·k| over the unmasked entries of one head of one sequence (a window of 0: all before); NaN
/// where one is not finite. q, k: [n, d_head] with rows `stride` apart.
template <class T>
double largest_product(const T* q, const T* k, int n, int d_head, int stride, bool causal, int window,
                       std::vector<T>& scores) {
    constexpr int kBlock = 32;  // rows at a time, so that GEMM skips most of the masked half
    scores.resize(static_cast<std::size_t>(kBlock) * static_cast<std::size_t>(n));
    T most = 0;
    for (int first = 0; first < n; first += kBlock) {
        const int count = std::min(kBlock, n - first), keys = causal ? first + count : n;
        matmul_nt<T>(count, keys, d_head, 1, q + static_cast<std::size_t>(first) * stride, stride, k, stride,
                     0, scores.data(), keys);
        for (int r = 0; window > 0 && r < count; ++r)
            std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(r) * keys,
                        std::max(0, first + r + 1 - window), T(0));
        const T largest = attention_kernels<T>().largest_magnitude(count, keys, first, causal, scores.data());
        if (std::isnan(largest)) return kNaN;
        most = std::max(most, largest);
    }
    return static_cast<double>(most);
}

/// The largest 2-norm of `rows` vectors of `width` entries that are `stride` apart; NaN where one is not
/// finite.
template <class T>
double largest_row(const T* x, std::size_t rows, std::size_t width, std::size_t stride) {
    double largest = 0;
    for (std::size_t i = 0; i < rows; ++i, x += stride) {
        double squares = 0;
#pragma omp simd reduction(+ : squares)
        for (std::size_t c = 0; c < width; ++c)
            squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
        if (!(squares <= largest)) largest = squares;
    }
    return std::sqrt(largest);
}

}  // namespace

template <class T>
ProbeResult probe_attention(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const StackSpec& s = input.model.spec();
    const auto D = static_cast<std::size_t>(s.depth), H = static_cast<std::size_t>(s.heads);
    const auto B = static_cast<std::size_t>(tape.sequences), n = static_cast<std::size_t>(tape.length);
    const int d_head = s.d_head(), d_q = s.d_q(), width = d_q + 2 * s.d_kv();
    const double scale = 1 / (input.model.numerics.temperature * std::sqrt(static_cast<double>(d_head)));
    const Averaged undefined{kNaN, kNaN};
    std::vector<Averaged> entropy(D * H, undefined), sink_mass(D * H, undefined);
    std::vector<double> max_logit(D * H, kNaN), contraction(D * H, kNaN);

    input.pool.run(static_cast<int>(D * H), [&](int piece) {
        const auto at = static_cast<std::size_t>(piece), head = at % H;
        if (!input.selects_sublayer(2 * static_cast<int>(at / H))) return;
        input.check_cancelled();
        const SublayerTape<T>& attention = tape.sublayers[2 * (at / H)];
        const int window = s.is_local(static_cast<int>(at / H)) ? s.window : 0;
        // Neighbouring heads share a key head where there are fewer of those.
        const auto key = static_cast<std::size_t>(d_q) + head * s.kv_heads / H * d_head;
        std::vector<double> sums;  // [B, kRowTerms]
        std::vector<T> scores;
        double most = 0, ratio = kNaN;
        bool finite = true;  // the values
        for (std::size_t b = 0; b < B; ++b) {
            AttentionRowSums rows_of_b;
            attention_kernels<T>().add_rows(
                tape.length, s.causal, window,
                tape.view(attention.probabilities + (b * H + head) * n * n, n * n).data(), rows_of_b);
            if (!std::isfinite(rows_of_b.entropy)) return;
            sums.insert(sums.end(), {rows_of_b.rows, rows_of_b.entropy, rows_of_b.first_mass});
            const HostView<T> rows = tape.view(attention.qkv + b * n * width, n * width);
            const double largest =
                scale * largest_product(rows.data() + head * d_head, rows.data() + key, tape.length, d_head,
                                        width, s.causal, window, scores);
            if (std::isnan(largest)) return;
            most = std::max(most, largest);

            const auto values = static_cast<std::size_t>(d_head);
            const HostView<T> mixed = tape.view(attention.mixed + b * n * d_q, n * d_q);
            const double before = largest_row(rows.data() + key + s.d_kv(), n, values, width),
                         after = largest_row(mixed.data() + head * values, n, values, d_q);
            finite = finite && std::isfinite(before) && std::isfinite(after);
            if (before > 0) ratio = std::fmax(ratio, after / before);
        }
        max_logit[at] = most;
        contraction[at] = finite ? ratio : kNaN;
        if (sums[Rows] == 0) return;  // one token
        const auto mean = [](RowTerm term) {
            return
                [term](std::span<const double> totals, std::size_t) { return totals[term] / totals[Rows]; };
        };
        entropy[at] = jackknife(sums, kRowTerms, mean(Entropy));
        sink_mass[at] = jackknife(sums, kRowTerms, mean(SinkMass));
    });

    ProbeResult result;
    add_averaged(result, "entropy", {D, H}, entropy, {"layer", "head"}, "1");
    add_averaged(result, "sink_mass", {D, H}, sink_mass, {"layer", "head"}, "1");
    result.arrays.push_back({"max_logit", {D, H}, std::move(max_logit), {"layer", "head"}, "1"});
    result.arrays.push_back({"contraction", {D, H}, std::move(contraction), {"layer", "head"}, "1"});
    return result;
}
template ProbeResult probe_attention<float>(ProbeInput<float>&);
template ProbeResult probe_attention<double>(ProbeInput<double>&);

namespace {

double attention_rows_operations(const ProbeShape& s) {
    return s.part.attention * (2 * scalar_operations(0.5 * s.depth * s.heads * s.tokens() * s.length) +
                               scalar_operations(0.5 * s.depth * s.tokens() * s.d_model));  // vectorised
}

}  // namespace

ProbeInfo attention_probe() {
    const std::vector<Axis> heads{axis::layer, axis::head};
    return {
        "attention",
        "Attention",
        "−Σ p ln p ÷ ln(entries); p of the first token; max |q·k|/(τ√d_h); max ‖(AV)_i‖ ÷ max ‖V_j‖",
        "[E] Lemma 3.2; Zhai et al. 2023 (entropy), Xiao et al. 2023 (sinks)",
        ProbeNeeds::Forward,
        ProbeCost::Cheap,
        attention_rows_operations,
        probe_attention<float>,
        probe_attention<double>,
        {{"entropy", heads, "entropy of a row ÷ ln of its length", kAveraged | kMayBeNan},
         {"sink_mass", heads, "mass on the first token", kAveraged | kMayBeNan},
         {"max_logit", heads, "largest |q·k|/(τ·√d_h)", kMayBeNan},
         {"contraction", heads, "longest token of AV ÷ longest token of V, at most 1", kMayBeNan | kAdded}}};
}

}  // namespace normscope
