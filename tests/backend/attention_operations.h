// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/operations.h"

#include <set>

// Attention, as operations.h.

namespace normscope::device_side::operations {

struct AttentionOptions {
    int heads, kv_heads;
    QkNorm norm;
    bool rotary, causal, bias;
    int width = 36, tokens = 35, sequences = 2;
    NormKind kind = NormKind::RmsNorm;
    int head_width = 0;   ///< 0: width / heads
    double soft_cap = 0;  ///< 0: none
    int window = 0;
};
struct AttentionCase {
    const char* name;
    AttentionOptions options;
};
inline constexpr AttentionCase kAttentionCases[] = {
    {"plain", {3, 3, QkNorm::Off, false, true, true}},
    {"not causal", {3, 3, QkNorm::Off, false, false, true}},
    {"groups, rotary", {6, 2, QkNorm::Off, true, true, false}},
    {"norms by head", {6, 3, QkNorm::Head, true, true, false}},
    {"norms over all heads", {2, 1, QkNorm::Full, false, true, true}},
    // One token, a few, more than four warps of keys; 1, 3 and 25 heads with one key each, in groups, and one
    // for all.
    {"1 head, 1 token", {1, 1, QkNorm::Off, false, true, true, 33, 1, 1}},
    {"1 head, 7 tokens", {1, 1, QkNorm::Full, false, true, true, 65, 7, 2, NormKind::LayerNorm}},
    {"1 head, 129 tokens", {1, 1, QkNorm::Off, false, true, true, 33, 129, 1}},
    {"3 heads, 1 token", {3, 1, QkNorm::Head, false, true, true, 33, 1, 3}},
    {"3 heads, 129 tokens, one key", {3, 1, QkNorm::Off, false, false, false, 33, 129, 2}},
    {"25 heads, 7 tokens", {25, 25, QkNorm::Off, true, true, true, 50, 7, 2}},
    {"25 heads, 7 tokens, groups of 5", {25, 5, QkNorm::Head, true, true, false, 100, 7, 2}},
    {"25 heads, 129 tokens, one key", {25, 1, QkNorm::Off, false, true, true, 75, 129, 1}},
    // All heads together wider than the rows that they read, and narrower.
    {"wide heads", {6, 2, QkNorm::Head, true, true, true, 20, 35, 1, NormKind::RmsNorm, 8}},
    {"wide heads, one norm", {3, 3, QkNorm::Full, false, false, false, 20, 35, 2, NormKind::RmsNorm, 10}},
    {"capped scores", {3, 3, QkNorm::Off, false, true, true, 36, 35, 2, NormKind::RmsNorm, 0, 0.4}},
    {"capped scores, not causal, one key",
     {25, 1, QkNorm::Head, true, false, true, 100, 67, 2, NormKind::RmsNorm, 0, 0.7}},
    {"window", {6, 2, QkNorm::Off, true, true, true, 36, 67, 2, NormKind::RmsNorm, 0, 0, 5}},
    {"window of a token, capped",
     {3, 3, QkNorm::Off, false, true, true, 36, 35, 2, NormKind::RmsNorm, 0, 0.5, 1}},
    {"narrow heads", {3, 1, QkNorm::Off, true, true, true, 44, 35, 2, NormKind::RmsNorm, 6}},
};

template <class Verify>
void attention(const Verify& verify, const AttentionCase& given) {
    const auto [heads, kv_heads, norm, rotary, causal, bias, width, tokens, sequences, kind, head_width,
                soft_cap, window] = given.options;
    const AttentionShape shape{width,  heads,   kv_heads, head_width > 0 ? head_width : width / heads,
                               tokens, causal,  norm,     kind,
                               window, soft_cap};
    const bool normed = shape.qk_norm != QkNorm::Off, by_head = shape.qk_norm == QkNorm::Head;
    const int rows = sequences * tokens;
    const std::size_t hidden = area(rows, width), mixed = area(rows, shape.d_q()),
                      q_width = area(1, by_head ? shape.head_width : shape.d_q()),
                      k_width = area(1, by_head ? shape.head_width : shape.d_kv());
    const auto weights_of = [&](auto& s) {
        using T = typename std::decay_t<decltype(s)>::scalar;
        std::vector<double> angles;
        for (int t = 0; t < tokens; ++t)
            for (const bool sine : {false, true})
                for (int i = 0; i < shape.head_width / 2; ++i)
                    angles.push_back(
                        double(float(sine ? std::sin(t * 0.3 / (i + 1)) : std::cos(t * 0.3 / (i + 1)))));
        return AttentionWeights<T>{
            {s.in(drawn(area(shape.width(), width), 1, 0.3)), nullptr,
             bias ? s.in(drawn(static_cast<std::size_t>(shape.width()), 2)) : nullptr},
            {s.in(drawn(area(width, shape.d_q()), 3, 0.3)), nullptr, bias ? s.in(drawn(width, 4)) : nullptr},
            normed ? s.in(drawn(q_width, 5)) : nullptr,
            normed ? s.in(drawn(k_width, 6)) : nullptr,
            rotary ? s.in(angles) : nullptr,
            s.scalar_in(1e-3),
            s.scalar_in(0.25)};
    };
    const auto tape_of = [&](auto& s) {
        using T = typename std::decay_t<decltype(s)>::scalar;
        const std::size_t statistics = area(rows, heads);
        return AttentionTape<T>{s.out(area(rows, shape.width())),
                                normed ? s.out(area(rows, shape.d_q() + shape.d_kv())) : nullptr,
                                {s.out(statistics), s.out(statistics)},
                                {s.out(statistics), s.out(statistics)},
                                s.out(area(sequences * heads * tokens, tokens)),
                                s.out(mixed),
                                nullptr,
                                soft_cap > 0 ? s.out(area(sequences * heads * tokens, tokens)) : nullptr};
    };
    const std::vector<double> u = drawn(hidden, 7);
    verify("attention_forward", {8, 3}, [&](auto& s) {
        const auto tape = tape_of(s);
        auto* f = s.out(hidden);
        s.layers.attention_forward(shape, sequences, weights_of(s), s.in(u), tape, f);
        return Outputs{
            {"f", s.read(f, hidden)},
            {"probabilities", s.read(tape.probabilities, area(sequences * heads * tokens, tokens))},
            {"mixed", s.read(tape.mixed, mixed)},
            {"qkv", s.read(tape.qkv, area(rows, shape.width()))}};
    });
    enum class Of { Projections, Norms };
    const auto vjp = [&](int directions, bool fresh, Of of) {
        return [=, &u](auto& s) {
            using T = typename std::decay_t<decltype(s)>::scalar;
            const auto w = weights_of(s);
            const auto tape = tape_of(s);
            const std::size_t count = hidden * static_cast<std::size_t>(directions);
            auto* at = s.in(u);
            s.layers.attention_forward(shape, sequences, w, at, tape, s.out(hidden));
            const std::size_t qkv = area(shape.width(), width), o = area(width, shape.d_q());
            const auto sums = [&](bool there, std::size_t size) -> T* {
                return there ? s.in(drawn(size, 11)) : nullptr;
            };
            const auto matrix = [&](std::size_t size) -> T* {
                return fresh ? s.out(size) : s.in(drawn(size, 12));
            };
            AttentionGradients<T> g{matrix(qkv),
                                    sums(bias, area(shape.width(), 1)),
                                    matrix(o),
                                    sums(bias, width),
                                    sums(normed, q_width),
                                    sums(normed, k_width),
                                    fresh};
            auto* du = s.out(count);
            s.layers.attention_vjp(shape, sequences, directions, w, tape, at, s.in(drawn(count, 8)), du,
                                   directions == 1 ? &g : nullptr);
            if (of == Of::Norms)
                return Outputs{{"q_norm", s.read(g.q_norm, q_width)}, {"k_norm", s.read(g.k_norm, k_width)}};
            Outputs all{{"du", s.read(du, count)}};
            if (directions > 1) return all;
            all.push_back({"wqkv", s.read(g.wqkv, qkv)});
            all.push_back({"wo", s.read(g.wo, o)});
            if (bias) all.push_back({"bqkv", s.read(g.bqkv, area(shape.width(), 1))});
            if (bias) all.push_back({"bo", s.read(g.bo, width)});
            return all;
        };
    };
    for (const int directions : {1, 3})
        for (const bool fresh : {false, true})
            verify("attention_vjp", {16, 4}, vjp(directions, fresh, Of::Projections));
    // The CPU rounds these sums after every row.
    if (normed) verify("attention_vjp of norms", {16, 12}, vjp(1, true, Of::Norms));
    for (const int first_token : std::set<int>{0, tokens / 2, tokens - 1}) {
        if (!causal && first_token > 0) continue;
        verify("attention_jvp", {16, 4}, [&](auto& s) {
            const auto w = weights_of(s);
            const auto tape = tape_of(s);
            s.layers.attention_forward(shape, 1, w, s.in(u), tape, s.out(hidden));
            const std::size_t count = area(3 * (tokens - first_token), width);
            auto* tf = s.out(count);
            s.layers.attention_jvp(shape, first_token, 3, w, tape, s.in(drawn(count, 9)), tf);
            return Outputs{{"tf", s.read(tf, count)}};
        });
    }
}

}  // namespace normscope::device_side::operations
