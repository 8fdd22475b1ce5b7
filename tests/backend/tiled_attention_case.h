// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/operations.h"

// Attention whose maps one side stores and the other makes in tiles: the inputs of one shape, and what its
// passes write. A side whose operations can do without probabilities gets none.

namespace normscope::device_side::operations {

struct TiledCase {
    int d_head, heads, kv_heads, n;
    bool causal;
    int sequences = 1, first_token = 0;
    QkNorm norm = QkNorm::Off;
    double scale = 1;    ///< times 1/√d_head
    double size = 1;     ///< of the weights of q and k
    bool whole = false;  ///< directions of small integers
    bool store = false;  ///< probabilities, on every side
    int d_model = 0;     ///< of the rows; 0: d_head·heads
    AttentionShape shape() const {
        return {d_model > 0 ? d_model : d_head * heads,
                heads,
                kv_heads,
                d_head,
                n,
                causal,
                norm,
                NormKind::RmsNorm};
    }
    int rows() const { return sequences * n; }
};

struct NamedTiledCase {
    const char* name;
    TiledCase given;
};
inline const NamedTiledCase kTiledCases[] = {
    {"one token", {5, 3, 1, 1, true}},
    {"head 1", {1, 3, 3, 17, true, 2, 4}},
    {"head 5, 25 heads in 5 groups", {5, 25, 5, 16, true, 1, 15}},
    {"head 8", {8, 3, 3, 7, true, 2, 1}},
    {"head 11, not causal", {11, 3, 1, 65, false}},
    {"head 16", {16, 1, 1, 64, true, 1, 33}},
    {"head 33, norms", {33, 3, 3, 17, true, 1, 16, QkNorm::Head, 8}},
    {"head 64", {64, 1, 1, 129, true, 1, 64}},
    {"head 65, not causal", {65, 1, 1, 65, false}},
    {"head 128", {128, 1, 1, 129, true, 1, 128}},
    {"head 130", {130, 1, 1, 35, true, 1, 3}},
    {"head 256, not causal", {256, 1, 1, 16, false}},
    {"wide heads", {32, 4, 2, 65, true, 2, 30, QkNorm::Off, 1, 1, false, false, 48}},
    {"narrow heads", {16, 2, 1, 65, true, 2, 30, QkNorm::Off, 1, 1, false, false, 48}},
    {"sharp rows", {16, 1, 1, 129, true, 1, 70, QkNorm::Off, 1, 2}},
};

/// A case's tensors on a side, after its forward pass.
template <class S>
class TiledSetup {
  public:
    using T = typename S::scalar;
    TiledSetup(S& side, const TiledCase& given, std::vector<double> inputs = {},
               std::vector<double> qkv_bias = {}, std::vector<double> qkv = {})
        : s(side), c(given), shape(given.shape()) {
        const int d = shape.d, d_q = shape.d_q(), width = shape.width();
        if (qkv.empty()) {
            qkv = drawn(area(width, d), 1, std::sqrt(3.0 / d));
            for (std::size_t i = 0; i < area(d_q + shape.d_kv(), d); ++i)
                qkv[i] = static_cast<double>(static_cast<float>(qkv[i] * c.size));
        }
        const bool normed = c.norm != QkNorm::Off;
        weights = {{s.in(qkv), nullptr, qkv_bias.empty() ? nullptr : s.in(qkv_bias)},
                   {s.in(drawn(area(d, d_q), 2, std::sqrt(3.0 / d_q))), nullptr, nullptr},
                   normed ? s.in(drawn(static_cast<std::size_t>(c.d_head), 3)) : nullptr,
                   normed ? s.in(drawn(static_cast<std::size_t>(c.d_head), 4)) : nullptr,
                   nullptr,
                   s.scalar_in(1e-3),
                   s.scalar_in(c.scale / std::sqrt(double(c.d_head)))};
        u = s.in(inputs.empty() ? drawn(area(c.rows(), d), 5, std::sqrt(3.0)) : inputs);
        const std::size_t statistics = area(c.rows(), c.heads);
        // Whatever the length: whether it can do without.
        stored = c.store || s.layers.needs_probabilities(std::numeric_limits<int>::max(), c.d_head);
        tape = {s.out(area(c.rows(), width)),
                normed ? s.out(area(c.rows(), d_q + shape.d_kv())) : nullptr,
                {s.out(statistics), s.out(statistics)},
                {s.out(statistics), s.out(statistics)},
                stored ? s.out(maps() * static_cast<std::size_t>(c.n)) : nullptr,
                s.out(area(c.rows(), d_q)),
                stored ? nullptr : s.out(2 * maps())};
        f = s.out(area(c.rows(), d));
        s.layers.attention_forward(shape, c.sequences, weights, u, tape, f);
    }
    T* directions_of(std::size_t count, std::uint64_t seed) {
        std::vector<double> values = drawn(count, seed, std::sqrt(3.0));
        if (c.whole)
            for (double& value : values) value = std::round(3 * value);
        return s.in(values);
    }
    std::size_t maps() const { return area(c.rows(), c.heads); }

    /// What the rows' softmax is from stored probabilities: where a row's largest entry lies, its score, from
    /// q and k, and its value, which is the inverse of the sum.
    Outputs row_softmax() const {
        std::vector<double> largest, inverse;
        if (!stored) {
            const auto pairs = s.read(tape.row_softmax, 2 * maps());
            for (std::size_t i = 0; i < maps(); ++i)
                largest.push_back(pairs[2 * i]), inverse.push_back(pairs[2 * i + 1]);
            return {{"largest", largest}, {"inverse", inverse}};
        }
        const auto n = static_cast<std::size_t>(c.n);
        const auto qkv = s.read(tape.qkv, area(c.rows(), shape.width())),
                   p = s.read(tape.probabilities, maps() * n);
        for (std::size_t map = 0; map < maps(); ++map) {
            const auto row = p.begin() + static_cast<std::ptrdiff_t>(map * n);
            const auto most = std::max_element(row, row + c.n);
            const int token = static_cast<int>(map) % c.n, head = static_cast<int>(map) / c.n % c.heads,
                      first = static_cast<int>(map) / c.n / c.heads * c.n;
            const auto entry = [&](int of, int column) {
                return qkv[area(first + of, shape.width()) + static_cast<std::size_t>(column)];
            };
            double score = 0;
            for (int i = 0; i < c.d_head; ++i)
                score += entry(token, head * c.d_head + i) *
                         entry(static_cast<int>(most - row),
                               shape.d_q() + head * c.kv_heads / c.heads * c.d_head + i);
            largest.push_back(score);
            inverse.push_back(*most);
        }
        return {{"largest", largest}, {"inverse", inverse}};
    }
    Outputs forward() const {
        Outputs all = row_softmax();
        all.push_back({"mixed", s.read(tape.mixed, area(c.rows(), shape.d_q()))});
        all.push_back({"f", s.read(f, area(c.rows(), shape.d))});
        return all;
    }
    /// With several directions du alone.
    Outputs vjp(int directions) {
        const std::size_t hidden = area(c.rows(), shape.d),
                          count = hidden * static_cast<std::size_t>(directions),
                          qkv = area(shape.width(), shape.d), o = area(shape.d, shape.d_q());
        T* du = s.out(count);
        AttentionGradients<T> g{
            s.out(qkv), s.in(std::vector<double>(static_cast<std::size_t>(shape.width()))),
            s.out(o),   nullptr,
            nullptr,    nullptr,
            true};
        s.layers.attention_vjp(shape, c.sequences, directions, weights, tape, u, directions_of(count, 6), du,
                               directions == 1 ? &g : nullptr);
        Outputs all{{"du", s.read(du, count)}};
        if (directions > 1) return all;
        // The bias' gradients are the sums of dq, dk and dv.
        all.push_back({"wqkv", s.read(g.wqkv, qkv)});
        all.push_back({"bqkv", s.read(g.bqkv, static_cast<std::size_t>(shape.width()))});
        all.push_back({"wo", s.read(g.wo, o)});
        return all;
    }
    Outputs jvp(int directions, int first_token) {
        const std::size_t count = area(directions * (c.n - first_token), shape.d);
        T* tf = s.out(count);
        s.layers.attention_jvp(shape, first_token, directions, weights, tape, directions_of(count, 7), tf);
        return {{"tf", s.read(tf, count)}};
    }

    S& s;
    TiledCase c;
    AttentionShape shape;
    AttentionWeights<T> weights;
    AttentionTape<T> tape;
    bool stored;
    T *u, *f;
};

/// All passes; the JVP is at the first sequence.
template <class S>
Outputs all_of(S& side, const TiledCase& given) {
    TiledSetup<S> setup(side, given);
    Outputs all = setup.forward();
    const auto add = [&](const Outputs& more) { all.insert(all.end(), more.begin(), more.end()); };
    add(setup.vjp(1));
    add(setup.vjp(2));
    add(setup.jvp(2, given.first_token));
    return all;
}

}  // namespace normscope::device_side::operations
