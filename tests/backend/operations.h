// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/device_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Every operation of pass_ops.h and step_ops.h with inputs for it, at sizes that are no multiples of a warp,
// with the aliases and null pointers that they allow. Each function passes its calls to verify(name, allowed,
// call): call(side) makes them on a device and returns what was written, and its error is within `allowed`.

namespace normscope::device_side {

/// The largest error of all outputs relative to each output's largest magnitude, in units of T's machine
/// epsilon.
template <class T>
double error_of(const Outputs& found, const Outputs& reference) {
    double worst = 0;
    for (std::size_t k = 0; k < reference.size(); ++k) {
        const auto& [name, expected] = reference[k];
        const std::vector<double>& actual = found[k].second;
        double scale = 0, most = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
            most = std::max(most, std::abs(actual[i] - expected[i]));
            if (!std::isfinite(most)) return std::numeric_limits<double>::infinity();
        }
        for (double v : expected)
            if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
        if (most > 0) worst = std::max(worst, most / (scale * std::numeric_limits<T>::epsilon()));
    }
    return worst;
}

inline bool same_bits(const Outputs& a, const Outputs& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (std::memcmp(a[k].second.data(), b[k].second.data(), a[k].second.size() * sizeof(double)) != 0)
            return false;
    return a.size() == b.size();
}

inline std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

/// Sequences of tokens of width d; 77 rows are more than one chunk of a sum over rows.
struct Sizes {
    int sequences = 7, tokens = 11, d = 37;
    int rows() const { return sequences * tokens; }
    std::size_t count() const { return area(rows(), d); }
};

/// The largest error relative to the output's largest magnitude: `epsilons` machine epsilons of the scalar,
/// and in BF16 and FP16 half a unit of the format for each of `roundings` results that are rounded on the way
/// to an output, one after another.
struct Allowed {
    Allowed(double e, double r = 1) : epsilons(e), roundings(r) {}  // NOLINT: mostly one number
    double epsilons, roundings;
};
/// A sum of `terms` of both signs: errors of a sum in any order grow as their root.
inline Allowed sum_of(int terms, double roundings = 1) {
    return {4 + std::sqrt(terms), roundings};
}

namespace operations {

template <class Verify>
void coefficients(const Verify& verify) {
    std::vector<CoefficientRule> rules(3);
    rules[0].gate = 0;
    rules[0].site = GateSite::Branch;
    rules[0].a = 0.8;
    rules[1].gate = 1;
    rules[1].site = GateSite::Shortcut;
    rules[1].activation = GateActivation::Tanh;
    rules[1].stops_gradient = false;
    rules[2].scale = 2;
    rules[2].second_of_parallel = true;
    verify("pass_coefficients", 4, [&](auto& s) {
        using T = typename std::decay_t<decltype(s)>::scalar;
        auto* pass = s.template raw<PassCoefficients<T>>(1);
        auto* out = s.template raw<SublayerCoefficients<T>>(rules.size());
        s.elementwise.pass_coefficients(3, s.of(rules), {16, 3.5},
                                        s.of(std::vector<Numerics>{{0.5, 1.5, 1e-4}}),
                                        s.in({0.25, -0.5, 1.25}), pass, out);
        const auto p = s.values(pass, 1)[0];
        Outputs all{{"pass", {double(p.eps)}},
                    {"scale", {double(p.attention_scale)}},
                    {"embedding", {double(p.embedding_scale)}}};
        for (const auto& c : s.values(out, rules.size()))
            all.push_back({"sublayer",
                           {double(c.s_in), double(c.gate), double(c.shortcut), double(c.branch),
                            double(c.shortcut_of[0]), double(c.shortcut_of[1]), double(c.branch_of[0]),
                            double(c.branch_of[1]), double(c.scale_step), c.gate_slope, c.scale_slope}});
        return all;
    });
}

template <class Verify>
void memory(const Verify& verify, const Sizes& sizes = {}) {
    const std::size_t n = sizes.count();
    verify("copy", 0, [&](auto& s) {
        auto* to = s.out(n);
        s.elementwise.copy(n, s.in(drawn(n, 1)), to);
        return Outputs{{"to", s.read(to, n)}};
    });
    verify("zero", 0, [&](auto& s) {
        auto* arena = s.in(drawn(n, 1));
        auto* numbers = s.of(std::vector<double>{0.5, 0.25, 0.125});
        s.elementwise.zero(s.of(std::vector<ArenaPiece>{{3, n / 2, false}, {n - 2, 1, false}}), 2, arena, 2,
                           numbers);
        return Outputs{{"arena", s.read(arena, n)}, {"numbers", s.read(numbers, 3)}};
    });
}

template <class Verify>
void linear_layers(const Verify& verify, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d;
    const std::size_t n = sizes.count();
    constexpr int out = 41;
    for (const bool bias : {false, true})
        verify("linear", sum_of(d, bias ? 2 : 1), [&](auto& s) {
            auto* y = s.out(area(R, out));
            s.layers.linear(R, out, d, s.in(drawn(n, 1)),
                            {s.in(drawn(area(out, d), 2)), nullptr, bias ? s.in(drawn(out, 3)) : nullptr}, y);
            return Outputs{{"y", s.read(y, area(R, out))}};
        });
    verify("linear_input_gradient", sum_of(out), [&](auto& s) {
        auto* dx = s.out(n);
        s.layers.linear_input_gradient(R, out, d, s.in(drawn(area(R, out), 1)), s.in(drawn(area(out, d), 2)),
                                       dx);
        return Outputs{{"dx", s.read(dx, n)}};
    });
    for (const bool fresh : {false, true})
        verify("linear_weight_gradient", sum_of(R, 2), [&](auto& s) {
            auto* dW = fresh ? s.out(area(out, d)) : s.in(drawn(area(out, d), 3));
            s.layers.linear_weight_gradient(R, out, d, s.in(drawn(area(R, out), 1)), s.in(drawn(n, 2)), fresh,
                                            dW);
            return Outputs{{"dW", s.read(dW, area(out, d))}};
        });
    verify("transpose_weight", 0, [&](auto& s) {
        auto* to = s.out(n);
        s.layers.transpose_weight(R, d, s.in(drawn(n, 1)), to);
        return Outputs{{"to", s.read(to, n)}};
    });
}

template <class Verify>
void columns(const Verify& verify, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d;
    const std::size_t n = sizes.count();
    verify("column_sums", sum_of(R, 2), [&](auto& s) {
        auto* sums = s.in(drawn(d, 2));
        s.layers.column_sums(R, d, s.in(drawn(n, 1)), sums);
        return Outputs{{"sums", s.read(sums, d)}};
    });
    for (const bool alias : {false, true})
        verify("multiply_rows", sum_of(R, 2), [&](auto& s) {
            auto* sums = s.in(drawn(d, 2));
            auto* y = s.in(drawn(n, 3));
            auto* out = alias ? y : s.out(n);
            s.elementwise.multiply_rows(R, d, s.in(drawn(n, 1)), y, out, sums);
            return Outputs{{"out", s.read(out, n)}, {"sums", s.read(sums, d)}};
        });
    // Delayed: into one place twice, and more sums than one launch takes.
    verify("delay_sums", sum_of(R, 2), [&](auto& s) {
        constexpr int many = 100;
        auto* sums = s.in(drawn(static_cast<std::size_t>(d), 2));
        auto* others = s.in(drawn(static_cast<std::size_t>(many) * d, 3));
        auto* squares = s.of(std::vector<double>{0.5, 0.25});
        const auto* x = s.in(drawn(n, 1));
        const auto* y = s.in(drawn(n, 4));
        for (int pass = 0; pass < 2; ++pass) {  // the memory of the second is that of the first
            s.elementwise.delay_sums();
            s.layers.column_sums(R, d, x, sums);
            s.elementwise.add_squares(1, n, 0, x, squares);
            for (int i = 0; i < many; ++i) s.layers.column_sums(R, d, i % 2 ? x : y, others + area(i, d));
            s.layers.column_sums(R, d, y, sums);
            s.elementwise.add_squares(1, n, 0, y, squares + 1);
            s.elementwise.finish_sums();
        }
        return Outputs{{"sums", s.read(sums, d)},
                       {"others", s.read(others, area(many, d))},
                       {"squares", s.read(squares, 2)}};
    });
    for (const bool scaled : {false, true})
        verify("column_products", sum_of(R), [&](auto& s) {
            auto* sums = s.in(drawn(d, 3));
            s.elementwise.column_products(R, d, scaled ? s.scalar_in(0.75) : nullptr, s.in(drawn(n, 1)),
                                          s.in(drawn(n, 2)), sums);
            return Outputs{{"sums", s.read(sums, d)}};
        });
}

inline std::vector<std::int32_t> drawn_tokens(int rows) {
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < rows; ++i) tokens.push_back(i * i * 3 % 5);
    return tokens;
}

/// full: with β, a scale, added to dx; else without, dx in place of dy.
template <class Verify>
void norms(const Verify& verify, NormKind kind, bool full, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d;
    const std::size_t n = sizes.count();
    const auto rows_of = [&](auto& s) {
        using T = typename std::decay_t<decltype(s)>::scalar;
        return NormRows<T>{kind,
                           R,
                           d,
                           s.in(drawn(n, 1, 3)),
                           {s.out(R), s.out(R)},
                           s.in(drawn(d, 2)),
                           full ? s.in(drawn(d, 3)) : nullptr};
    };
    const auto forward = [&](auto& s, const auto& rows, auto* y) {
        s.layers.norm_forward(rows, s.scalar_in(1e-3), full ? s.scalar_in(0.5) : nullptr, y);
    };
    verify("norm_forward", 4, [&](auto& s) {
        const auto rows = rows_of(s);
        auto* y = s.out(n);
        forward(s, rows, y);
        return Outputs{{"y", s.read(y, n)},
                       {"mean", s.read(rows.statistics.mean, R)},
                       {"rstd", s.read(rows.statistics.rstd, R)}};
    });
    for (const bool parameters : {false, true})
        verify("norm_vjp", 8, [&](auto& s) {
            const auto rows = rows_of(s);
            forward(s, rows, s.out(n));
            auto* dy = s.in(drawn(n, 4));
            auto* dx = full ? s.in(drawn(n, 5)) : dy;
            auto* dgamma = parameters ? s.in(drawn(d, 6)) : nullptr;
            auto* dbeta = parameters && full ? s.in(drawn(d, 7)) : nullptr;
            s.layers.norm_vjp(rows, dy, full ? s.scalar_in(0.5) : nullptr, full, dx, dgamma, dbeta, nullptr,
                              {});
            Outputs all{{"dx", s.read(dx, n)}};
            if (dgamma) all.push_back({"dgamma", s.read(dgamma, d)});
            if (dbeta) all.push_back({"dbeta", s.read(dbeta, d)});
            return all;
        });
    verify("residual_norm", Allowed(8, 2), [&](auto& s) {
        auto rows = rows_of(s);
        auto* z = s.in(drawn(n, 4));
        rows.x = z;
        auto* y = s.out(n);
        s.layers.residual_norm(rows, s.scalar_in(1e-3), full ? s.scalar_in(0.5) : nullptr,
                               full ? s.scalar_in(0.75) : nullptr, full ? z : s.in(drawn(n, 1)),
                               s.scalar_in(-1.25), full ? s.in(drawn(n, 1)) : z, z, y, nullptr);
        return Outputs{{"z", s.read(z, n)},
                       {"y", s.read(y, n)},
                       {"mean", s.read(rows.statistics.mean, R)},
                       {"rstd", s.read(rows.statistics.rstd, R)}};
    });
    verify("embedding_norm", Allowed(8, 2), [&](auto& s) {
        auto rows = rows_of(s);
        auto* x = s.out(n);
        rows.x = x;
        auto* y = s.out(n);
        s.layers.embedding_norm(sizes.sequences, sizes.tokens, s.of(drawn_tokens(R)),
                                s.in(drawn(area(5, d), 1)),
                                full ? s.in(drawn(area(sizes.tokens, d), 4)) : nullptr, x, rows,
                                s.scalar_in(1e-3), full ? s.scalar_in(0.5) : nullptr, y, nullptr);
        return Outputs{{"x", s.read(x, n)},
                       {"y", s.read(y, n)},
                       {"mean", s.read(rows.statistics.mean, R)},
                       {"rstd", s.read(rows.statistics.rstd, R)}};
    });
    // A rounding counts twice in a square.
    verify("squares of norms", Allowed(16, 2), [&](auto& s) {
        auto rows = rows_of(s);
        auto* x = s.out(n);
        rows.x = x;
        auto* squares = s.of(std::vector<double>{0.5, 0.25});
        s.layers.embedding_norm(sizes.sequences, sizes.tokens, s.of(drawn_tokens(R)),
                                s.in(drawn(area(5, d), 1)), nullptr, x, rows, s.scalar_in(1e-3), nullptr,
                                s.out(n), squares);
        s.layers.residual_norm(rows, s.scalar_in(1e-3), nullptr, nullptr, s.in(drawn(n, 2)), nullptr,
                               s.in(drawn(n, 3)), x, s.out(n), squares + 1);
        return Outputs{{"squares", s.read(squares, 2)}};
    });
    for (const bool parameters : {false, true})
        verify("norm_vjp", Allowed(16, 2), [&](auto& s) {
            const auto rows = rows_of(s);
            forward(s, rows, s.out(n));
            auto* dx = s.in(drawn(n, 4));
            auto* squares = s.of(std::vector<double>{0.5});
            s.layers.norm_vjp(rows, s.in(drawn(n, 5)), nullptr, full, dx,
                              parameters ? s.in(drawn(d, 6)) : nullptr, nullptr, squares, {});
            return Outputs{{"squares", s.read(squares, 1)}};
        });
    verify("norm_vjp", Allowed(sum_of(R, 2).epsilons, 3), [&](auto& s) {
        using T = typename std::decay_t<decltype(s)>::scalar;
        const auto rows = rows_of(s);
        forward(s, rows, s.out(n));
        auto* dx = s.in(drawn(n, 4));
        const BranchGradient<T> before{
            full ? s.scalar_in(-0.75) : nullptr, {s.out(n), nullptr}, full ? s.in(drawn(d, 8)) : nullptr};
        auto* squares = s.of(std::vector<double>{0.5});
        s.layers.norm_vjp(rows, s.in(drawn(n, 5)), nullptr, full, dx, full ? s.in(drawn(d, 6)) : nullptr,
                          nullptr, squares, before);
        Outputs all{{"branch", s.read(before.rows.floats, n)}};
        if (before.sums) all.push_back({"sums", s.read(before.sums, d)});
        return all;
    });
    verify("norm_jvp", 8, [&](auto& s) {
        const auto rows = rows_of(s);
        forward(s, rows, s.out(n));
        auto* tx = s.in(drawn(n, 4));
        auto* ty = full ? s.out(n) : tx;
        s.layers.norm_jvp(rows, tx, full ? s.scalar_in(0.5) : nullptr, ty);
        return Outputs{{"ty", s.read(ty, n)}};
    });
}

template <class Verify>
void elementwise(const Verify& verify, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d;
    const std::size_t n = sizes.count();
    for (const Activation kind : {Activation::GeluTanh, Activation::GeluErf, Activation::Relu,
                                  Activation::Silu, Activation::SwiGlu, Activation::GeGlu})
        verify("activation", 16, [&](auto& s) {
            auto* h = s.in(drawn(n, 1, 4));
            auto* slope = s.out(n);
            auto* a = kind == Activation::Relu ? h : s.out(n);
            s.elementwise.activation(kind, n, h, a, slope);
            return Outputs{{"a", s.read(a, n)}, {"slope", s.read(slope, n)}};
        });
    for (const bool alias : {false, true}) {
        verify("multiply", 2, [&](auto& s) {
            auto* y = s.in(drawn(n, 2));
            auto* out = alias ? y : s.out(n);
            s.elementwise.multiply(n, s.in(drawn(n, 1)), y, out);
            return Outputs{{"out", s.read(out, n)}};
        });
        verify("axpby", 4, [&](auto& s) {
            auto* y = s.in(drawn(n, 2));
            auto* out = alias ? y : s.out(n);
            s.elementwise.axpby(n, alias ? nullptr : s.scalar_in(0.7), s.in(drawn(n, 1)),
                                alias ? s.scalar_in(-1.3) : nullptr, y, out);
            return Outputs{{"out", s.read(out, n)}};
        });
        verify("scale", 2, [&](auto& s) {
            auto* x = s.in(drawn(n, 1));
            auto* out = alias ? x : s.out(n);
            s.elementwise.scale(n, alias ? nullptr : s.scalar_in(0.7), x, out);
            return Outputs{{"out", s.read(out, n)}};
        });
        verify("scale_columns", 2, [&](auto& s) {
            auto* x = s.in(drawn(n, 1));
            auto* out = alias ? x : s.out(n);
            s.elementwise.scale_columns(R, d, s.in(drawn(d, 2)), x, out);
            return Outputs{{"out", s.read(out, n)}};
        });
        verify("soft_cap_vjp", 4, [&](auto& s) {
            auto* g = s.in(drawn(n, 2));
            auto* out = alias ? g : s.out(n);
            s.elementwise.soft_cap_vjp(n, 2, s.in(drawn(n, 1, 1.9)), g, out);
            return Outputs{{"out", s.read(out, n)}};
        });
    }
    verify("soft_cap", 4, [&](auto& s) {
        auto* x = s.in(drawn(n, 1, 5));
        s.elementwise.soft_cap(n, 2, x);
        return Outputs{{"x", s.read(x, n)}};
    });
    for (const Activation kind : {Activation::SwiGlu, Activation::GeGlu}) {
        const int slope = kind == Activation::SwiGlu ? 4 : 16;  // of GELU as in "activation"
        verify("gated", 4, [&](auto& s) {
            auto* a = s.out(n);
            s.elementwise.gated(kind, R, d, s.in(drawn(2 * n, 1, 3)), a);
            return Outputs{{"a", s.read(a, n)}};
        });
        verify("gated_vjp", slope, [&](auto& s) {
            auto* dpre = s.out(2 * n);
            s.elementwise.gated_vjp(kind, R, d, s.in(drawn(2 * n, 1, 3)), s.in(drawn(n, 2)), dpre);
            return Outputs{{"dpre", s.read(dpre, 2 * n)}};
        });
        verify("gated_jvp", slope, [&](auto& s) {
            auto* ta = s.out(n);
            s.elementwise.gated_jvp(kind, R, d, s.in(drawn(2 * n, 1, 3)), s.in(drawn(2 * n, 2)), ta);
            return Outputs{{"ta", s.read(ta, n)}};
        });
    }
    verify("round_weights", 0, [&](auto& s) {
        auto* x = s.in(drawn(n, 1));
        s.layers.round_weights(n, x);
        return Outputs{{"x", s.read(x, n)}};
    });
}

template <class Verify>
void embeddings(const Verify& verify, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d, sequences = sizes.sequences, length = sizes.tokens, vocab = 19,
              context = length + 2;
    const std::size_t n = sizes.count();
    std::vector<std::int32_t> tokens;
    for (int i = 0; i < R; ++i) tokens.push_back(i * i * 5 % (vocab - 2));  // some repeat, two never come
    for (const bool positions : {false, true}) {
        verify("embedding_forward", 2, [&](auto& s) {
            auto* x = s.out(n);
            s.layers.embedding_forward(sequences, length, d, s.of(tokens), s.in(drawn(area(vocab, d), 1)),
                                       positions ? s.in(drawn(area(length, d), 2)) : nullptr, x);
            return Outputs{{"x", s.read(x, n)}};
        });
        verify("embedding_vjp", sum_of(R), [&](auto& s) {
            auto* dtable = s.in(drawn(area(vocab, d), 2));
            auto* dpositions = positions ? s.in(drawn(area(context, d), 3)) : nullptr;
            s.layers.embedding_vjp(sequences, length, d, s.of(tokens), s.in(drawn(n, 1)), vocab, dtable,
                                   context, dpositions);
            Outputs all{{"dtable", s.read(dtable, area(vocab, d))}};
            if (dpositions) all.push_back({"dpositions", s.read(dpositions, area(context, d))});
            return all;
        });
    }
}

template <class Verify>
void cross_entropy(const Verify& verify, const Sizes& sizes = {}) {
    const int R = sizes.rows(), d = sizes.d;
    const std::size_t n = sizes.count();
    std::vector<std::int32_t> targets;
    for (int i = 0; i < R; ++i) targets.push_back(i * 7 % d);
    for (const double z : {0.0, 0.01})
        for (const int dlogits : {0, 1, 2})  // null, an array, the logits
            verify("cross_entropy", 4, [&](auto& s) {
                using T = typename std::decay_t<decltype(s)>::scalar;
                auto* logits = s.in(drawn(n, 1, 4));
                auto* losses = s.out(R);
                auto* to = dlogits == 0 ? nullptr : dlogits == 1 ? s.out(n) : logits;
                s.elementwise.cross_entropy(R, d, logits, s.of(targets), to ? s.scalar_in(0.125) : nullptr,
                                            static_cast<T>(static_cast<float>(z)), losses, to);
                Outputs all{{"losses", s.read(losses, R)}};
                if (to) all.push_back({"dlogits", s.read(to, n)});
                return all;
            });
}

/// Terms of both signs: the sum is smaller than its terms.
template <class Verify>
void reductions(const Verify& verify) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2849}, std::size_t{9001}}) {
        verify("add_dot", 64, [&](auto& s) {
            auto* out = s.scalar_in(0.5);
            s.elementwise.add_dot(count, s.in(drawn(count, 1)), s.in(drawn(count, 2)), s.number(3), out);
            return Outputs{{"out", s.read(out, 1)}};
        });
        verify("add_squares", 16, [&](auto& s) {
            auto* out = s.of(std::vector<double>{0.5, 0.25, 0.125});
            s.elementwise.add_squares(3, count, count + 1, s.in(drawn(3 * count + 2, 1)), out);
            return Outputs{{"out", s.read(out, 3)}};
        });
        verify("norm_of_squares", 8, [&](auto& s) {
            auto* norm = s.number(0);
            auto squares = drawn(count, 1);
            for (double& v : squares) v = std::abs(v);
            s.step.norm_of_squares(static_cast<int>(count), s.of(squares), count == 1 ? nullptr : s.number(4),
                                   norm);
            return Outputs{{"norm", s.read(norm, 1)}};
        });
    }
    const std::vector<ArenaPiece> pieces{
        {0, 10, true}, {10, 1000, false}, {1100, 33, true}, {1200, 300, true}};
    verify("piece_squares", 16, [&](auto& s) {
        auto* squares = s.of(std::vector<double>{7, 7, 7, 7});
        s.step.piece_squares(s.of(pieces), 1, 3, s.in(drawn(1500, 1)), squares);
        return Outputs{{"squares", s.read(squares, 4)}};
    });
    for (const int count : {1, 3, 20})
        for (const bool in_place : {false, true})
            verify("sum_shards", 8, [&](auto& s) {
                using T = typename std::decay_t<decltype(s)>::scalar;
                std::vector<T*> shards;
                for (int k = 0; k < count; ++k)
                    shards.push_back(s.in(drawn(1500, static_cast<std::uint64_t>(k + 1))));
                T* total = in_place ? shards[0] : s.in(drawn(1500, 99));
                auto* squares = s.of(std::vector<double>{7, 7, 7, 7});
                s.step.sum_shards(s.of(pieces), 1, 4, count, shards.data(), total, squares);
                return Outputs{{"total", s.read(total, 1500)}, {"squares", s.read(squares, 4)}};
            });
    for (const int bad : {-1, 0, 5000, 9000})
        for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")})
            verify("find_first_non_finite", 0, [&](auto& s) {
                auto x = drawn(9001, 1);
                if (bad >= 0) x[static_cast<std::size_t>(bad)] = x.back() = value;
                auto* place = s.of(std::vector<std::int64_t>{-7});
                s.step.find_first_non_finite(x.size(), s.in(x), place);
                return Outputs{{"place", s.read(place, 1)}};
            });
}

template <class Verify>
void clipping(const Verify& verify) {
    for (const double clip : {0.0, 0.5, 100.0}) {
        verify("clip_gates", 4, [&](auto& s) {
            auto* g = s.in(drawn(50, 1));
            s.step.clip_gates(3, s.of(std::vector<std::size_t>{1, 4, 49}), clip, s.number(0.9), g);
            return Outputs{{"g", s.read(g, 50)}};
        });
    }
}

template <class Verify>
void step_control(const Verify& verify) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{129}, std::size_t{9001}})
        verify("add_mean", 4, [&](auto& s) {
            auto* sum = s.number(0.5);
            s.step.add_mean(count, s.in(drawn(count, 1)), 3, sum);
            return Outputs{{"sum", s.read(sum, 1)}};
        });
    const double inf = std::numeric_limits<double>::infinity();
    for (const bool scales : {false, true})
        for (const double clip : {0.0, 0.5})
            for (const double loss : {2.0, inf, std::nan("")})
                for (const auto& [norm, stopped] :
                     {std::pair{3.0, 0}, std::pair{inf, 0}, std::pair{std::nan(""), 0}, std::pair{3.0, 1}})
                    verify("finalize_step", 4, [&, norm = norm, stopped = stopped](auto& s) {
                        using T = typename std::decay_t<decltype(s)>::scalar;
                        const StepRule rule{0.9, 0.95, 1e-8, 1.5, scales};
                        StepControl before;
                        before.loss_scale = {8, LossScale::kInterval - 1};
                        before.updates = 3;
                        before.stopped = stopped;
                        for (int i = 0; i < 70; ++i) before.watch.add(i < 30 ? 0.1 : 4.0, 1.5);
                        auto* control = s.of(std::vector<StepControl>{before});
                        auto* factors = s.of(std::vector<LossFactors<T>>{{0, 0}});
                        auto* report = s.of(std::vector<StepReport>(1));
                        auto* numbers = s.of(std::vector<OptimizerNumbers>(1));
                        auto* factor = s.number(0);
                        auto* knobs = s.of(std::vector<StepKnobs>{{0.01, 0.1, clip}});
                        s.step.begin_step(rule, 3, 7, control, factors, report);
                        auto* value = s.in(std::vector<double>{loss});
                        // Two pieces; the norm is `norm`.
                        auto* squares =
                            s.of(std::vector<double>{norm * norm * 0.36 * 4, norm * norm * 0.64 * 4});
                        auto* root = s.number(0);
                        s.step.finalize_step(rule, knobs, {1, value, 1}, {2, squares, s.number(2), root},
                                             control, report, numbers, factor);
                        const auto f = s.values(factors, 1)[0];
                        const auto r = s.values(report, 1)[0];
                        const auto c = s.values(control, 1)[0];
                        return Outputs{{"token", {double(f.token)}},
                                       {"unscale", {double(f.unscale)}},
                                       {"loss", {r.loss}},
                                       {"norm", {r.grad_norm}},
                                       {"scale", {r.loss_scale, r.after.scale, c.loss_scale.scale}},
                                       {"counts",
                                        {double(c.loss_scale.good_steps), double(c.updates),
                                         double(c.watch.above), double(c.watch.seen), double(c.stopped)}},
                                       {"event", {double(r.event)}},
                                       {"numbers", s.read(&numbers->lr, 7)},
                                       {"root", s.read(root, 1)},
                                       {"clip", s.read(factor, 1)}};
                    });
}

/// kind: 0 AdamW, 1 Adam, 2 SGD.
template <class Verify>
void optimizers(const Verify& verify, int kind) {
    const OptimizerNumbers numbers{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378};
    const std::vector<ArenaPiece> pieces{
        {0, 10, true}, {10, 1000, false}, {1100, 33, true}, {1200, 300, true}};
    verify("optimizer", 4, [&](auto& s) {
        auto *p = s.in(drawn(1500, 1)), *m = s.in(drawn(1500, 3));
        auto second = drawn(1500, 4);
        for (double& v : second) v = std::abs(v);
        auto* v = s.in(second);
        auto* g = s.in(drawn(1500, 2));
        auto* at = s.of(pieces);
        auto* step = s.of(std::vector<OptimizerNumbers>{numbers});
        auto* clip = s.number(0.5);
        if (kind == 0) s.step.adamw(at, 1, 4, step, clip, g, p, m, v);
        if (kind == 1) s.step.adam(at, 1, 4, step, clip, g, p, m, v);
        if (kind == 2) s.step.sgd(at, 1, 4, step, clip, g, p, m);
        return Outputs{{"p", s.read(p, 1500)}, {"m", s.read(m, 1500)}, {"v", s.read(v, 1500)}};
    });
}

template <class Verify>
void muon(const Verify& verify) {
    const OptimizerNumbers numbers{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378};
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{37, 20}, {20, 37}, {33, 33}, {1, 65}})
        for (const bool zero : {false, true})
            verify("muon", zero ? 1 : 8, [&, rows = rows, columns = columns](auto& s) {
                const std::size_t count = area(rows, columns);
                auto *p = s.in(drawn(count, 1)),
                     *m = s.in(zero ? std::vector<double>(count) : drawn(count, 3));
                s.step.muon(rows, columns, true, s.of(std::vector<OptimizerNumbers>{numbers}), s.number(0.5),
                            s.in(zero ? std::vector<double>(count) : drawn(count, 2)), p, m);
                return Outputs{{"p", s.read(p, count)}, {"m", s.read(m, count)}};
            });
}

/// The operations of a forward and backward pass but attention (attention_operations.h): those whose results
/// are rounded in BF16 and FP16.
template <class Verify>
void of_a_pass(const Verify& verify, const Sizes& sizes = {}) {
    memory(verify, sizes);
    linear_layers(verify, sizes);
    columns(verify, sizes);
    for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
        for (const bool full : {false, true}) norms(verify, kind, full, sizes);
    elementwise(verify, sizes);
    embeddings(verify, sizes);
    cross_entropy(verify, sizes);
}

/// All of them but attention.
template <class Verify>
void all(const Verify& verify) {
    coefficients(verify);
    of_a_pass(verify);
    // More chunks of rows than a block has warps; tokens and classes beyond one chunk, one warp's columns,
    // one warp.
    columns(verify, {40, 13, 5});
    embeddings(verify, {13, 11, 133});
    cross_entropy(verify, {1, 3, 1100});
    reductions(verify);
    clipping(verify);
    step_control(verify);
    for (const int kind : {0, 1, 2}) optimizers(verify, kind);
    muon(verify);
}

}  // namespace operations

}  // namespace normscope::device_side
