// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/allowed_error.h"

// The norms of LayerOps, alone and with what is before and after them (operations.h).

namespace normscope::device_side::operations {

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
    // What an operation writes that makes its norm's input too.
    const auto with_input = [&](auto& s, const auto& rows, const auto* y) {
        return Outputs{{"x", s.read(rows.x, n)},
                       {"y", s.read(y, n)},
                       {"mean", s.read(rows.statistics.mean, R)},
                       {"rstd", s.read(rows.statistics.rstd, R)}};
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
        return with_input(s, rows, y);
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
        return with_input(s, rows, y);
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

}  // namespace normscope::device_side::operations
