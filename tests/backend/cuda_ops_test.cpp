// SPDX-License-Identifier: GPL-3.0-or-later
// Every operation of the emulated CUDA device against the CPU in float64, in float32 and float64, at sizes
// that are no multiples of a warp, with the aliases and null pointers that ops.h allows. Accesses are
// checked. Several schedules of the grid give the same bits.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/backend/device_side.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace normscope;
using namespace normscope::device_side;

namespace {

constexpr std::uint64_t kSeeds = 4;

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

bool same_bits(const Outputs& a, const Outputs& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (std::memcmp(a[k].second.data(), b[k].second.data(), a[k].second.size() * sizeof(double)) != 0)
            return false;
    return a.size() == b.size();
}

template <class T, class Call>
QString failure(const char* name, double multiple, Call&& call) {
    Side<double> cpu(cpu_device());
    const Outputs reference = call(cpu);
    Outputs first;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, seed, true});
        Side<T> side(device);
        const Outputs found = call(side);
        if (seed == 1) {
            first = found;
            const double error = error_of<T>(found, reference);
            if (qEnvironmentVariableIsSet("NORMSCOPE_PRINT_ERRORS"))
                qInfo("%s, %d bytes: %.2g epsilon", name, static_cast<int>(sizeof(T)), error);
            if (!(error <= multiple))
                return QString("%1: %2 times epsilon, allowed %3").arg(name).arg(error).arg(multiple);
        }
        if (!same_bits(found, first)) return QString("%1: other bits with seed %2").arg(name).arg(seed);
    }
    return {};
}

/// call(side) in both scalars: errors at most `multiple` times machine epsilon.
template <class Call>
void verify(const char* name, double multiple, Call&& call) {
    QCOMPARE(failure<float>(name, multiple, call), QString());
    QCOMPARE(failure<double>(name, multiple, call), QString());
}

std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

constexpr int R = 77, d = 37;  // R: more than one chunk of rows
const std::size_t n = area(R, d);

}  // namespace

class CudaOpsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void coefficients() {
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
            s.ops.pass_coefficients(3, s.of(rules), 16, s.of(std::vector<Numerics>{{0.5, 1.5, 1e-4}}),
                                    s.in({0.25, -0.5, 1.25}), pass, out);
            const auto p = s.values(pass, 1)[0];
            Outputs all{{"pass", {double(p.eps)}}, {"scale", {double(p.attention_scale)}}};
            for (const auto& c : s.values(out, rules.size()))
                all.push_back({"sublayer",
                               {double(c.s_in), double(c.gate), double(c.shortcut), double(c.branch),
                                double(c.shortcut_of[0]), double(c.shortcut_of[1]), double(c.branch_of[0]),
                                double(c.branch_of[1]), double(c.scale_step), c.gate_slope, c.scale_slope}});
            return all;
        });
    }

    void memory() {
        verify("copy", 0, [&](auto& s) {
            auto* to = s.out(n);
            s.ops.copy(n, s.in(drawn(n, 1)), to);
            return Outputs{{"to", s.read(to, n)}};
        });
        verify("zero", 0, [&](auto& s) {
            auto* arena = s.in(drawn(n, 1));
            s.ops.zero(s.of(std::vector<ArenaPiece>{{3, 300, false}, {1000, 1, false}}), 2, arena);
            return Outputs{{"arena", s.read(arena, n)}};
        });
    }

    void linearLayers() {
        constexpr int out = 41;
        for (const bool bias : {false, true})
            verify("linear", 6, [&](auto& s) {
                auto* y = s.out(area(R, out));
                s.ops.linear(R, out, d, s.in(drawn(n, 1)),
                             {s.in(drawn(area(out, d), 2)), nullptr, bias ? s.in(drawn(out, 3)) : nullptr},
                             y);
                return Outputs{{"y", s.read(y, area(R, out))}};
            });
        verify("linear_input_gradient", 6, [&](auto& s) {
            auto* dx = s.out(n);
            s.ops.linear_input_gradient(R, out, d, s.in(drawn(area(R, out), 1)), s.in(drawn(area(out, d), 2)),
                                        dx);
            return Outputs{{"dx", s.read(dx, n)}};
        });
        for (const bool fresh : {false, true})
            verify("linear_weight_gradient", 8, [&](auto& s) {
                auto* dW = fresh ? s.out(area(out, d)) : s.in(drawn(area(out, d), 3));
                s.ops.linear_weight_gradient(R, out, d, s.in(drawn(area(R, out), 1)), s.in(drawn(n, 2)),
                                             fresh, dW);
                return Outputs{{"dW", s.read(dW, area(out, d))}};
            });
        verify("transpose_weight", 0, [&](auto& s) {
            auto* to = s.out(n);
            s.ops.transpose_weight(R, d, s.in(drawn(n, 1)), to);
            return Outputs{{"to", s.read(to, n)}};
        });
    }

    /// The bits of a row do not depend on the number of rows.
    void rowsAreIndependent() {
        const auto rows_of = [&]<class T>(int count, T) {
            EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
            Side<T> s(device);
            auto* y = s.out(area(count, d));
            s.ops.linear(count, d, d, s.in(drawn(area(count, d), 1)),
                         {s.in(drawn(area(d, d), 2)), nullptr, nullptr}, y);
            auto* normed = s.out(area(count, d));
            s.ops.norm_forward(
                {NormKind::LayerNorm, count, d, y, {s.out(R), s.out(R)}, s.in(drawn(d, 3)), nullptr},
                s.scalar_in(1e-5), nullptr, normed);
            return s.read(normed, d);
        };
        QVERIFY(rows_of(R, float()) == rows_of(1, float()));
        QVERIFY(rows_of(R, double()) == rows_of(1, double()));
    }

    void columns() {
        verify("column_sums", 4, [&](auto& s) {
            auto* sums = s.in(drawn(d, 2));
            s.ops.column_sums(R, d, s.in(drawn(n, 1)), sums);
            return Outputs{{"sums", s.read(sums, d)}};
        });
        for (const bool scaled : {false, true})
            verify("column_products", 4, [&](auto& s) {
                auto* sums = s.in(drawn(d, 3));
                s.ops.column_products(R, d, scaled ? s.scalar_in(0.75) : nullptr, s.in(drawn(n, 1)),
                                      s.in(drawn(n, 2)), sums);
                return Outputs{{"sums", s.read(sums, d)}};
            });
    }

    void norms_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("full");
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (const bool full : {false, true})
                QTest::addRow("%s %d", norm_kind_row(kind).word, full) << static_cast<int>(kind) << full;
    }
    /// full: with β, a scale, added to dx; else without, dx in place of dy.
    void norms() {
        QFETCH(int, kind);
        QFETCH(bool, full);
        const auto rows_of = [&](auto& s) {
            using T = typename std::decay_t<decltype(s)>::scalar;
            return NormRows<T>{static_cast<NormKind>(kind),
                               R,
                               d,
                               s.in(drawn(n, 1, 3)),
                               {s.out(R), s.out(R)},
                               s.in(drawn(d, 2)),
                               full ? s.in(drawn(d, 3)) : nullptr};
        };
        const auto forward = [&](auto& s, const auto& rows, auto* y) {
            s.ops.norm_forward(rows, s.scalar_in(1e-3), full ? s.scalar_in(0.5) : nullptr, y);
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
                s.ops.norm_vjp(rows, dy, full ? s.scalar_in(0.5) : nullptr, full, dx, dgamma, dbeta);
                Outputs all{{"dx", s.read(dx, n)}};
                if (dgamma) all.push_back({"dgamma", s.read(dgamma, d)});
                if (dbeta) all.push_back({"dbeta", s.read(dbeta, d)});
                return all;
            });
        verify("norm_jvp", 8, [&](auto& s) {
            const auto rows = rows_of(s);
            forward(s, rows, s.out(n));
            auto* tx = s.in(drawn(n, 4));
            auto* ty = full ? s.out(n) : tx;
            s.ops.norm_jvp(rows, tx, full ? s.scalar_in(0.5) : nullptr, ty);
            return Outputs{{"ty", s.read(ty, n)}};
        });
    }

    void attention_data() {
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("kv_heads");
        QTest::addColumn<int>("norm");
        QTest::addColumn<bool>("rotary");
        QTest::addColumn<bool>("causal");
        QTest::addColumn<bool>("bias");
        const auto row = [](const char* name) -> QTestData& { return QTest::newRow(name); };
        const auto off = int(QkNorm::Off), head = int(QkNorm::Head), full = int(QkNorm::Full);
        row("plain") << 3 << 3 << off << false << true << true;
        row("not causal") << 3 << 3 << off << false << false << true;
        row("groups, rotary") << 6 << 2 << off << true << true << false;
        row("norms by head") << 6 << 3 << head << true << true << false;
        row("norms over all heads") << 2 << 1 << full << false << true << true;
    }
    void attention() {
        QFETCH(int, heads);
        QFETCH(int, kv_heads);
        QFETCH(int, norm);
        QFETCH(bool, rotary);
        QFETCH(bool, causal);
        QFETCH(bool, bias);
        constexpr int width = 36, tokens = 35, sequences = 2;
        const AttentionShape shape{
            width, heads, kv_heads, tokens, causal, static_cast<QkNorm>(norm), NormKind::RmsNorm};
        const bool normed = shape.qk_norm != QkNorm::Off, by_head = shape.qk_norm == QkNorm::Head;
        const int rows = sequences * tokens;
        const std::size_t hidden = area(rows, width), q_width = by_head ? shape.d_head() : width,
                          k_width = by_head ? shape.d_head() : shape.d_kv();
        const auto weights_of = [&](auto& s) {
            using T = typename std::decay_t<decltype(s)>::scalar;
            std::vector<double> angles;
            for (int t = 0; t < tokens; ++t)
                for (const bool sine : {false, true})
                    for (int i = 0; i < shape.d_head() / 2; ++i)
                        angles.push_back(
                            double(float(sine ? std::sin(t * 0.3 / (i + 1)) : std::cos(t * 0.3 / (i + 1)))));
            return AttentionWeights<T>{
                {s.in(drawn(area(shape.width(), width), 1, 0.3)), nullptr,
                 bias ? s.in(drawn(static_cast<std::size_t>(shape.width()), 2)) : nullptr},
                {s.in(drawn(area(width, width), 3, 0.3)), nullptr, bias ? s.in(drawn(width, 4)) : nullptr},
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
                                    normed ? s.out(area(rows, width + shape.d_kv())) : nullptr,
                                    {s.out(statistics), s.out(statistics)},
                                    {s.out(statistics), s.out(statistics)},
                                    s.out(area(sequences * heads * tokens, tokens)),
                                    s.out(hidden)};
        };
        const std::vector<double> u = drawn(hidden, 7);
        verify("attention_forward", 8, [&](auto& s) {
            const auto tape = tape_of(s);
            auto* f = s.out(hidden);
            s.ops.attention_forward(shape, sequences, weights_of(s), s.in(u), tape, f);
            return Outputs{
                {"f", s.read(f, hidden)},
                {"probabilities", s.read(tape.probabilities, area(sequences * heads * tokens, tokens))},
                {"mixed", s.read(tape.mixed, hidden)},
                {"qkv", s.read(tape.qkv, area(rows, shape.width()))}};
        });
        for (const int directions : {1, 3})
            for (const bool fresh : {false, true})
                verify("attention_vjp", 16, [&](auto& s) {
                    using T = typename std::decay_t<decltype(s)>::scalar;
                    const auto w = weights_of(s);
                    const auto tape = tape_of(s);
                    const std::size_t count = hidden * static_cast<std::size_t>(directions);
                    auto* at = s.in(u);
                    s.ops.attention_forward(shape, sequences, w, at, tape, s.out(hidden));
                    const std::size_t qkv = area(shape.width(), width), o = area(width, width);
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
                    s.ops.attention_vjp(shape, sequences, directions, w, tape, at, s.in(drawn(count, 8)), du,
                                        directions == 1 ? &g : nullptr);
                    Outputs all{{"du", s.read(du, count)}};
                    if (directions > 1) return all;
                    all.push_back({"wqkv", s.read(g.wqkv, qkv)});
                    all.push_back({"wo", s.read(g.wo, o)});
                    if (bias) all.push_back({"bqkv", s.read(g.bqkv, area(shape.width(), 1))});
                    if (bias) all.push_back({"bo", s.read(g.bo, width)});
                    if (normed) all.push_back({"q_norm", s.read(g.q_norm, q_width)});
                    if (normed) all.push_back({"k_norm", s.read(g.k_norm, k_width)});
                    return all;
                });
        for (const int first_token : {0, 20, tokens - 1}) {
            if (!causal && first_token > 0) continue;
            verify("attention_jvp", 16, [&](auto& s) {
                const auto w = weights_of(s);
                const auto tape = tape_of(s);
                s.ops.attention_forward(shape, 1, w, s.in(u), tape, s.out(hidden));
                const std::size_t count = area(3 * (tokens - first_token), width);
                auto* tf = s.out(count);
                s.ops.attention_jvp(shape, first_token, 3, w, tape, s.in(drawn(count, 9)), tf);
                return Outputs{{"tf", s.read(tf, count)}};
            });
        }
    }

    void elementwise() {
        for (const Activation kind : {Activation::GeluTanh, Activation::GeluErf, Activation::Relu,
                                      Activation::Silu, Activation::SwiGlu})
            verify("activation", 16, [&](auto& s) {
                auto* h = s.in(drawn(n, 1, 4));
                auto* slope = s.out(n);
                auto* a = kind == Activation::Relu ? h : s.out(n);
                s.ops.activation(kind, n, h, a, slope);
                return Outputs{{"a", s.read(a, n)}, {"slope", s.read(slope, n)}};
            });
        for (const bool alias : {false, true}) {
            verify("multiply", 2, [&](auto& s) {
                auto* y = s.in(drawn(n, 2));
                auto* out = alias ? y : s.out(n);
                s.ops.multiply(n, s.in(drawn(n, 1)), y, out);
                return Outputs{{"out", s.read(out, n)}};
            });
            verify("axpby", 4, [&](auto& s) {
                auto* y = s.in(drawn(n, 2));
                auto* out = alias ? y : s.out(n);
                s.ops.axpby(n, alias ? nullptr : s.scalar_in(0.7), s.in(drawn(n, 1)),
                            alias ? s.scalar_in(-1.3) : nullptr, y, out);
                return Outputs{{"out", s.read(out, n)}};
            });
            verify("scale", 2, [&](auto& s) {
                auto* x = s.in(drawn(n, 1));
                auto* out = alias ? x : s.out(n);
                s.ops.scale(n, alias ? nullptr : s.scalar_in(0.7), x, out);
                return Outputs{{"out", s.read(out, n)}};
            });
            verify("scale_columns", 2, [&](auto& s) {
                auto* x = s.in(drawn(n, 1));
                auto* out = alias ? x : s.out(n);
                s.ops.scale_columns(R, d, s.in(drawn(d, 2)), x, out);
                return Outputs{{"out", s.read(out, n)}};
            });
            verify("soft_cap_vjp", 4, [&](auto& s) {
                auto* g = s.in(drawn(n, 2));
                auto* out = alias ? g : s.out(n);
                s.ops.soft_cap_vjp(n, 2, s.in(drawn(n, 1, 1.9)), g, out);
                return Outputs{{"out", s.read(out, n)}};
            });
        }
        verify("soft_cap", 4, [&](auto& s) {
            auto* x = s.in(drawn(n, 1, 5));
            s.ops.soft_cap(n, 2, x);
            return Outputs{{"x", s.read(x, n)}};
        });
        verify("swiglu", 4, [&](auto& s) {
            auto* a = s.out(n);
            s.ops.swiglu(R, d, s.in(drawn(2 * n, 1, 3)), a);
            return Outputs{{"a", s.read(a, n)}};
        });
        verify("swiglu_vjp", 4, [&](auto& s) {
            auto* dpre = s.out(2 * n);
            s.ops.swiglu_vjp(R, d, s.in(drawn(2 * n, 1, 3)), s.in(drawn(n, 2)), dpre);
            return Outputs{{"dpre", s.read(dpre, 2 * n)}};
        });
        verify("swiglu_jvp", 4, [&](auto& s) {
            auto* ta = s.out(n);
            s.ops.swiglu_jvp(R, d, s.in(drawn(2 * n, 1, 3)), s.in(drawn(2 * n, 2)), ta);
            return Outputs{{"ta", s.read(ta, n)}};
        });
        verify("round_weights", 0, [&](auto& s) {
            auto* x = s.in(drawn(n, 1));
            s.ops.round_weights(n, x);
            return Outputs{{"x", s.read(x, n)}};
        });
    }

    void embeddings() {
        constexpr int sequences = 7, length = 11, vocab = 19;
        std::vector<std::int32_t> tokens;
        for (int i = 0; i < R; ++i) tokens.push_back(i * i * 5 % (vocab - 2));  // some repeat, two never come
        for (const bool positions : {false, true}) {
            verify("embedding_forward", 2, [&](auto& s) {
                auto* x = s.out(n);
                s.ops.embedding_forward(sequences, length, d, s.of(tokens), s.in(drawn(area(vocab, d), 1)),
                                        positions ? s.in(drawn(area(length, d), 2)) : nullptr, x);
                return Outputs{{"x", s.read(x, n)}};
            });
            verify("embedding_vjp", 4, [&](auto& s) {
                auto* dtable = s.in(drawn(area(vocab, d), 2));
                auto* dpositions = positions ? s.in(drawn(area(13, d), 3)) : nullptr;
                s.ops.embedding_vjp(sequences, length, d, s.of(tokens), s.in(drawn(n, 1)), vocab, dtable, 13,
                                    dpositions);
                Outputs all{{"dtable", s.read(dtable, area(vocab, d))}};
                if (dpositions) all.push_back({"dpositions", s.read(dpositions, area(13, d))});
                return all;
            });
        }
    }

    void crossEntropy() {
        std::vector<std::int32_t> targets;
        for (int i = 0; i < R; ++i) targets.push_back(i * 7 % d);
        for (const double z : {0.0, 0.01})
            for (const int dlogits : {0, 1, 2})  // null, an array, the logits
                verify("cross_entropy", 4, [&](auto& s) {
                    using T = typename std::decay_t<decltype(s)>::scalar;
                    auto* logits = s.in(drawn(n, 1, 4));
                    auto* losses = s.out(R);
                    auto* to = dlogits == 0 ? nullptr : dlogits == 1 ? s.out(n) : logits;
                    s.ops.cross_entropy(R, d, logits, s.of(targets), to ? s.scalar_in(0.125) : nullptr,
                                        static_cast<T>(static_cast<float>(z)), losses, to);
                    Outputs all{{"losses", s.read(losses, R)}};
                    if (to) all.push_back({"dlogits", s.read(to, n)});
                    return all;
                });
    }

    /// Terms of both signs: the sum is smaller than its terms.
    void reductions() {
        for (const std::size_t count : {std::size_t{1}, n, std::size_t{9001}}) {
            verify("add_dot", 64, [&](auto& s) {
                auto* out = s.scalar_in(0.5);
                s.ops.add_dot(count, s.in(drawn(count, 1)), s.in(drawn(count, 2)), s.number(3), out);
                return Outputs{{"out", s.read(out, 1)}};
            });
            verify("add_squares", 16, [&](auto& s) {
                auto* out = s.number(0.5);
                s.ops.add_squares(count, s.in(drawn(count, 1)), out);
                return Outputs{{"out", s.read(out, 1)}};
            });
            verify("norm_of_squares", 8, [&](auto& s) {
                auto* norm = s.number(0);
                auto squares = drawn(count, 1);
                for (double& v : squares) v = std::abs(v);
                s.ops.norm_of_squares(static_cast<int>(count), s.of(squares),
                                      count == 1 ? nullptr : s.number(4), norm);
                return Outputs{{"norm", s.read(norm, 1)}};
            });
        }
        const std::vector<ArenaPiece> pieces{
            {0, 10, true}, {10, 1000, false}, {1100, 33, true}, {1200, 300, true}};
        verify("piece_squares", 16, [&](auto& s) {
            auto* squares = s.of(std::vector<double>{7, 7, 7, 7});
            s.ops.piece_squares(s.of(pieces), 1, 3, s.in(drawn(1500, 1)), squares);
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
                    s.ops.sum_shards(s.of(pieces), 1, 4, count, shards.data(), total, squares);
                    return Outputs{{"total", s.read(total, 1500)}, {"squares", s.read(squares, 4)}};
                });
        for (const int bad : {-1, 0, 5000, 9000})
            for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")})
                verify("first_not_finite", 0, [&](auto& s) {
                    auto x = drawn(9001, 1);
                    if (bad >= 0) x[static_cast<std::size_t>(bad)] = x.back() = value;
                    auto* place = s.of(std::vector<std::int64_t>{-7});
                    s.ops.first_not_finite(x.size(), s.in(x), place);
                    return Outputs{{"place", s.read(place, 1)}};
                });
    }

    void clipping() {
        for (const double clip : {0.0, 0.5, 100.0}) {
            verify("clip_factor", 4, [&](auto& s) {
                auto* factor = s.number(0);
                s.ops.clip_factor(s.number(3), s.number(clip), factor);
                return Outputs{{"factor", s.read(factor, 1)}};
            });
            verify("clip_gates", 4, [&](auto& s) {
                auto* g = s.in(drawn(50, 1));
                s.ops.clip_gates(3, s.of(std::vector<std::size_t>{1, 4, 49}), clip, s.number(0.9), g);
                return Outputs{{"g", s.read(g, 50)}};
            });
        }
    }

    void optimizers_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("adamw") << 0;
        QTest::newRow("adam") << 1;
        QTest::newRow("sgd") << 2;
    }
    void optimizers() {
        QFETCH(int, kind);
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
            if (kind == 0) s.ops.adamw(at, 1, 4, step, clip, g, p, m, v);
            if (kind == 1) s.ops.adam(at, 1, 4, step, clip, g, p, m, v);
            if (kind == 2) s.ops.sgd(at, 1, 4, step, clip, g, p, m);
            return Outputs{{"p", s.read(p, 1500)}, {"m", s.read(m, 1500)}, {"v", s.read(v, 1500)}};
        });
    }

    void muon() {
        const OptimizerNumbers numbers{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378};
        for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{37, 20}, {20, 37}, {33, 33}})
            for (const bool zero : {false, true})
                verify("muon", zero ? 1 : 8, [&, rows = rows, columns = columns](auto& s) {
                    const std::size_t count = area(rows, columns);
                    auto *p = s.in(drawn(count, 1)),
                         *m = s.in(zero ? std::vector<double>(count) : drawn(count, 3));
                    s.ops.muon(rows, columns, true, s.of(std::vector<OptimizerNumbers>{numbers}),
                               s.number(0.5), s.in(zero ? std::vector<double>(count) : drawn(count, 2)), p,
                               m);
                    return Outputs{{"p", s.read(p, count)}, {"m", s.read(m, count)}};
                });
    }

    void emulatedFormats_data() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<int>("policy");
        const auto pure = static_cast<int>(PrecisionPolicy::Pure),
                   autocast = static_cast<int>(PrecisionPolicy::Autocast);
        QTest::newRow("bf16") << static_cast<int>(Rounding::Bf16) << pure;
        QTest::newRow("fp16") << static_cast<int>(Rounding::Fp16) << pure;
        QTest::newRow("bf16 autocast") << static_cast<int>(Rounding::Bf16) << autocast;
        QTest::newRow("fp16 autocast") << static_cast<int>(Rounding::Fp16) << autocast;
    }
    /// Against the CPU's emulated operations: a sum in another order may round to the format's next value.
    /// Which results are rounded is the same.
    void emulatedFormats() {
        QFETCH(int, rounding);
        QFETCH(int, policy);
        const auto to = static_cast<Rounding>(rounding);
        const auto policy_of = static_cast<PrecisionPolicy>(policy);
        const bool pure = policy_of == PrecisionPolicy::Pure;
        const double unit = to == Rounding::Bf16 ? 1.0 / 128 : 1.0 / 1024;
        const auto format = [&](std::vector<double> values) {
            for (double& v : values) v = static_cast<double>(rounded(to, static_cast<float>(v)));
            return values;
        };
        const auto results = [&](Device& device) {
            Side<float> s(device, to, policy_of);
            Outputs all;
            const auto keep = [&](const char* name, const float* at, std::size_t count) {
                all.push_back({name, s.read(at, count)});
            };
            const auto x = format(drawn(n, 1)), y = format(drawn(n, 2)),
                       w = format(drawn(area(d, d), 3, 0.3)), v = format(drawn(d, 4));
            float *out = s.out(n), *other = s.out(n);
            s.ops.linear(R, d, d, s.in(x), {s.in(w), nullptr, s.in(v)}, out);
            keep("linear", out, n);
            float* dW = s.in(w);
            s.ops.linear_weight_gradient(R, d, d, s.in(x), s.in(y), false, dW);
            keep("linear_weight_gradient", dW, area(d, d));
            float* sums = s.in(v);
            s.ops.column_sums(R, d, s.in(drawn(n, 5)), sums);
            keep("column_sums", sums, d);
            const NormRows<float> rows{NormKind::LayerNorm,  R,       d,      s.in(x),
                                       {s.out(R), s.out(R)}, s.in(v), nullptr};
            s.ops.norm_forward(rows, s.scalar_in(1e-3), nullptr, out);
            keep("norm_forward", out, n);
            float* dgamma = s.in(v);
            s.ops.norm_vjp(rows, s.in(y), nullptr, false, out, dgamma, nullptr);
            keep("norm_vjp", out, n);
            keep("dgamma", dgamma, d);
            s.ops.activation(Activation::GeluTanh, n, s.in(x), out, other);
            keep("activation", out, n);
            s.ops.multiply(n, s.in(x), s.in(y), out);
            keep("multiply", out, n);
            s.ops.axpby(n, s.scalar_in(0.3), s.in(x), s.scalar_in(0.6), s.in(y), out);
            keep("axpby", out, n);
            s.ops.scale_columns(R, d, s.in(v), s.in(x), out);
            keep("scale_columns", out, n);
            std::vector<std::int32_t> tokens;
            for (int i = 0; i < R; ++i) tokens.push_back(i * 7 % 19);
            float* dtable = s.in(format(drawn(area(19, d), 6)));
            s.ops.embedding_vjp(7, 11, d, s.of(tokens), s.in(x), 19, dtable, 11, nullptr);
            keep("embedding_vjp", dtable, area(19, d));
            float* losses = s.out(R);
            s.ops.cross_entropy(R, d, s.in(x), s.of(tokens), s.scalar_in(0.1), 0, losses, out);
            keep("cross_entropy", out, n);
            const AttentionShape shape{36, 3, 3, 35, true, QkNorm::Off, NormKind::LayerNorm};
            const std::size_t hidden = area(70, 36), qkv = area(70, 108), maps = area(6 * 35, 35);
            const AttentionWeights<float> weights{
                {s.in(format(drawn(area(108, 36), 7, 0.3))), nullptr, nullptr},
                {s.in(format(drawn(area(36, 36), 8, 0.3))), nullptr, nullptr},
                nullptr,
                nullptr,
                nullptr,
                s.scalar_in(1e-3),
                s.scalar_in(0.25)};
            const AttentionTape<float> tape{s.out(qkv), nullptr, {}, {}, s.out(maps), s.out(hidden)};
            float *f = s.out(hidden), *du = s.out(hidden);
            float* u = s.in(format(drawn(hidden, 9)));
            s.ops.attention_forward(shape, 2, weights, u, tape, f);
            keep("attention_forward", f, hidden);
            keep("probabilities", tape.probabilities, maps);
            s.ops.attention_vjp(shape, 2, 1, weights, tape, u, s.in(format(drawn(hidden, 10))), du, nullptr);
            keep("attention_vjp", du, hidden);
            float* low = s.in(drawn(n, 11));
            s.ops.round_weights(n, low);
            keep("round_weights", low, n);
            return all;
        };
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
        const Outputs found = results(device), expected = results(cpu_device());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            const auto& [name, values] = expected[k];
            const double error =
                error_of<float>({found[k]}, {expected[k]}) * std::numeric_limits<float>::epsilon();
            QVERIFY2(error <= 3 * unit,
                     qPrintable(QString("%1: %2 units").arg(name.c_str()).arg(error / unit)));
            const bool rounded_there = format(values) == values;
            QVERIFY2(!pure || rounded_there, name.c_str());
            QVERIFY2((format(found[k].second) == found[k].second) == rounded_there, name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(CudaOpsTest)
#include "cuda_ops_test.moc"
