// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/allowed_error.h"
#include "tests/backend/norm_operations.h"
#include "tests/backend/step_operations.h"

// Every operation of pass_ops.h and step_ops.h with inputs for it, at sizes that are no multiples of a warp,
// with the aliases and null pointers that they allow. Each function passes its calls to verify(name, allowed,
// call): call(side) makes them on a device and returns what was written, and its error is within `allowed`.

namespace normscope::device_side::operations {

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

}  // namespace normscope::device_side::operations
