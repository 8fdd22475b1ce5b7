// SPDX-License-Identifier: GPL-3.0-or-later
// One NaN or infinity among the inputs changes the outputs that depend on it and no other bit; they become
// NaN or infinite as on the CPU. And calls with no rows write nothing.
#include "tests/backend/cuda_verify.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::device_side;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();
constexpr int R = 9, d = 35, out = 37, kRow = 4;
constexpr std::size_t n = std::size_t{R} * d, width = d;

/// 1: infinite, −1: minus infinite, 2: NaN.
int class_of(double v) {
    return std::isnan(v) ? 2 : std::isinf(v) ? (v > 0 ? 1 : -1) : 0;
}
std::vector<double> with(std::vector<double> values, std::size_t at, double value) {
    values.at(at) = value;
    return values;
}

EmulatedCudaDevice& emulated() {
    static EmulatedCudaDevice& device = *new EmulatedCudaDevice({grid::Schedule::Order::Drawn, 5, true});
    return device;
}

/// Whether infinite outputs must have the CPU's sign. The CPU's exp() saturates below infinity, so that φ(−∞)
/// is −∞ there, and −∞·0 = NaN where exp(∞) = ∞.
enum class Infinities { AsTheCpus, OrNan };

/// call(side, value): outputs with `value` at one place of an input. depends(output, entry): whether they do.
template <class T, class Call, class Depends>
QString first_wrong(const char* name, const Call& call, const Depends& depends, Infinities infinities) {
    const auto outputs = [&](Device& device, double value) {
        Side<T> side(device);
        return call(side, value);
    };
    for (const double value : {kNan, kInfinity, -kInfinity}) {
        const Outputs clean = outputs(emulated(), 0.5), found = outputs(emulated(), value),
                      on_cpu = outputs(cpu_device(), value);
        for (std::size_t k = 0; k < found.size(); ++k)
            for (std::size_t i = 0; i < found[k].second.size(); ++i) {
                const double v = found[k].second[i];
                const auto wrong = [&](const char* what) {
                    return QString("%1, %2 at an input: %3[%4] is %5, %6")
                        .arg(name)
                        .arg(value)
                        .arg(found[k].first.c_str())
                        .arg(i)
                        .arg(v)
                        .arg(what);
                };
                if (!depends(k, i)) {
                    if (std::memcmp(&v, &clean[k].second[i], sizeof v) != 0)
                        return wrong("but does not depend on it");
                    continue;
                }
                if (std::isnan(value) && !std::isnan(v)) return wrong("and not NaN");
                const double other = on_cpu[k].second[i];
                if (infinities == Infinities::OrNan ? std::isfinite(v) != std::isfinite(other)
                                                    : class_of(v) != class_of(other))
                    return wrong("and not as the CPU's ") + QString::number(other);
            }
    }
    return {};
}

const auto check = [](const char* name, const auto& call, const auto& depends,
                      Infinities infinities = Infinities::AsTheCpus) {
    QCOMPARE((first_wrong<float>(name, call, depends, infinities)), QString());
    QCOMPARE((first_wrong<double>(name, call, depends, infinities)), QString());
};

const auto same_row = [](std::size_t, std::size_t i) { return i / width == kRow; };
const auto everything = [](std::size_t, std::size_t) { return true; };

}  // namespace

class CudaNotFiniteTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The first column and the last, which is beyond a whole warp.
    void columns_data() {
        QTest::addColumn<int>("column");
        QTest::newRow("first column") << 0;
        QTest::newRow("last column") << d - 1;
    }

    void linearLayers_data() { columns_data(); }
    void linearLayers() {
        QFETCH(int, column);
        const auto c = static_cast<std::size_t>(column), at = kRow * width + c;
        const auto W = drawn(area(out, d), 2);
        const auto linear = [&](auto& s, const std::vector<double>& x, const std::vector<double>& weight,
                                const std::vector<double>& bias) {
            auto* y = s.out(area(R, out));
            s.layers.linear(R, out, d, s.in(x), {s.in(weight), nullptr, s.in(bias)}, y);
            return Outputs{{"y", s.read(y, area(R, out))}};
        };
        const auto x = drawn(n, 1), bias = drawn(out, 3);
        check(
            "linear, x", [&](auto& s, double v) { return linear(s, with(x, at, v), W, bias); },
            [](std::size_t, std::size_t i) { return i / out == kRow; });
        check(
            "linear, W", [&](auto& s, double v) { return linear(s, x, with(W, at, v), bias); },
            [](std::size_t, std::size_t i) { return i % out == kRow; });
        check(
            "linear, bias", [&](auto& s, double v) { return linear(s, x, W, with(bias, c, v)); },
            [&](std::size_t, std::size_t i) { return i % out == c; });
        check(
            "linear_input_gradient",
            [&](auto& s, double v) {
                auto* dx = s.out(n);
                s.layers.linear_input_gradient(
                    R, out, d, s.in(with(drawn(area(R, out), 1), kRow * out + c, v)), s.in(W), dx);
                return Outputs{{"dx", s.read(dx, n)}};
            },
            same_row);
        const auto weight_gradient = [&](auto& s, const std::vector<double>& dy,
                                         const std::vector<double>& rows) {
            auto* dW = s.in(W);
            s.layers.linear_weight_gradient(R, out, d, s.in(dy), s.in(rows), false, dW);
            return Outputs{{"dW", s.read(dW, area(out, d))}};
        };
        const auto dy = drawn(area(R, out), 4);
        check(
            "linear_weight_gradient, dy",
            [&](auto& s, double v) { return weight_gradient(s, with(dy, kRow * out + c, v), x); },
            [&](std::size_t, std::size_t i) { return i / width == c; });
        check(
            "linear_weight_gradient, x",
            [&](auto& s, double v) { return weight_gradient(s, dy, with(x, at, v)); },
            [&](std::size_t, std::size_t i) { return i % width == c; });
    }

    void sumsOverRows_data() { columns_data(); }
    void sumsOverRows() {
        QFETCH(int, column);
        const auto c = static_cast<std::size_t>(column), at = kRow * width + c;
        const auto same_column = [&](std::size_t, std::size_t i) { return i == c; };
        check(
            "column_sums",
            [&](auto& s, double v) {
                auto* sums = s.in(drawn(d, 2));
                s.layers.column_sums(R, d, s.in(with(drawn(n, 1), at, v)), sums);
                return Outputs{{"sums", s.read(sums, d)}};
            },
            same_column);
        check(
            "column_products",
            [&](auto& s, double v) {
                auto* sums = s.in(drawn(d, 2));
                s.elementwise.column_products(R, d, s.scalar_in(0.75), s.in(with(drawn(n, 1), at, v)),
                                              s.in(drawn(n, 3)), sums);
                return Outputs{{"sums", s.read(sums, d)}};
            },
            same_column);
    }

    void norms_data() {
        QTest::addColumn<int>("column");
        QTest::addColumn<int>("kind");
        for (const NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
            for (const int column : {0, d - 1})
                QTest::addRow("%s, column %d", norm_kind_row(kind).word, column)
                    << column << static_cast<int>(kind);
    }
    void norms() {
        QFETCH(int, column);
        QFETCH(int, kind);
        const auto c = static_cast<std::size_t>(column), at = kRow * width + c;
        const auto outputs = [&](auto& s, const std::vector<double>& x, const std::vector<double>& dy,
                                 const std::vector<double>& tx) {
            using T = typename std::decay_t<decltype(s)>::scalar;
            const NormRows<T> rows{static_cast<NormKind>(kind),
                                   R,
                                   d,
                                   s.in(x),
                                   {s.out(R), s.out(R)},
                                   s.in(drawn(d, 2)),
                                   s.in(drawn(d, 3))};
            auto *y = s.out(n), *dx = s.out(n), *ty = s.out(n), *dgamma = s.in(drawn(d, 4)),
                 *dbeta = s.in(drawn(d, 5));
            s.layers.norm_forward(rows, s.scalar_in(1e-3), nullptr, y);
            s.layers.norm_vjp(rows, s.in(dy), nullptr, false, dx, dgamma, dbeta, nullptr, {});
            s.layers.norm_jvp(rows, s.in(tx), nullptr, ty);
            return Outputs{{"dx", s.read(dx, n)},
                           {"dgamma", s.read(dgamma, d)},
                           {"dbeta", s.read(dbeta, d)},
                           {"y", s.read(y, n)},
                           {"ty", s.read(ty, n)}};
        };
        const auto x = drawn(n, 1), dy = drawn(n, 6), tx = drawn(n, 7);
        check(
            "norm, x", [&](auto& s, double v) { return outputs(s, with(x, at, v), dy, tx); },
            [&](std::size_t k, std::size_t i) { return k == 1 || (k != 2 && i / width == kRow); });
        check(
            "norm, dy", [&](auto& s, double v) { return outputs(s, x, with(dy, at, v), tx); },
            [&](std::size_t k, std::size_t i) { return k == 0 ? i / width == kRow : k < 3 && i == c; });
        check(
            "norm, tx", [&](auto& s, double v) { return outputs(s, x, dy, with(tx, at, v)); },
            [&](std::size_t k, std::size_t i) { return k == 4 && i / width == kRow; });
    }

    void entries_data() { columns_data(); }
    void entries() {
        QFETCH(int, column);
        const std::size_t at = kRow * width + static_cast<std::size_t>(column);
        const auto same_entry = [&](std::size_t, std::size_t i) { return i == at; };
        for (const Activation kind :
             {Activation::GeluTanh, Activation::GeluErf, Activation::Relu, Activation::Silu})
            check(
                "activation",
                [&](auto& s, double v) {
                    auto *a = s.out(n), *slope = s.out(n);
                    s.elementwise.activation(kind, n, s.in(with(drawn(n, 1), at, v)), a, slope);
                    return Outputs{{"a", s.read(a, n)}};
                },
                same_entry, kind == Activation::Relu ? Infinities::AsTheCpus : Infinities::OrNan);
        check(
            "elementwise",
            [&](auto& s, double v) {
                auto* x = s.in(with(drawn(n, 1), at, v));
                auto *product = s.out(n), *sum = s.out(n), *scaled = s.out(n), *columns = s.out(n),
                     *vjp = s.out(n);
                s.elementwise.multiply(n, x, s.in(drawn(n, 2)), product);
                s.elementwise.axpby(n, s.scalar_in(0.7), x, nullptr, s.in(drawn(n, 2)), sum);
                s.elementwise.scale(n, s.scalar_in(0.7), x, scaled);
                s.elementwise.scale_columns(R, d, s.in(drawn(d, 3)), x, columns);
                s.elementwise.soft_cap_vjp(n, 2, s.in(drawn(n, 4)), x, vjp);
                s.elementwise.soft_cap(n, 2, x);
                return Outputs{{"product", s.read(product, n)},  {"sum", s.read(sum, n)},
                               {"scaled", s.read(scaled, n)},    {"columns", s.read(columns, n)},
                               {"soft_cap_vjp", s.read(vjp, n)}, {"soft_cap", s.read(x, n)}};
            },
            same_entry);
        check(
            "swiglu",
            [&](auto& s, double v) {
                auto* pre =
                    s.in(with(drawn(2 * n, 1), kRow * 2 * width + static_cast<std::size_t>(column), v));
                auto *a = s.out(n), *ta = s.out(n);
                s.elementwise.gated(Activation::SwiGlu, R, d, pre, a);
                s.elementwise.gated_jvp(Activation::SwiGlu, R, d, s.in(drawn(2 * n, 2)), pre, ta);
                return Outputs{{"a", s.read(a, n)}, {"ta", s.read(ta, n)}};
            },
            same_entry, Infinities::OrNan);
        check(
            "AdamW",
            [&](auto& s, double v) {
                auto *p = s.in(drawn(n, 1)), *m = s.in(drawn(n, 2)),
                     *second = s.in(std::vector<double>(n, 0.5));
                s.step.adamw(s.of(std::vector<ArenaPiece>{{0, n, true}}), 0, 1,
                             s.of(std::vector<OptimizerNumbers>{{0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.378}}),
                             s.number(1), s.in(with(drawn(n, 3), at, v)), p, m, second);
                return Outputs{{"p", s.read(p, n)}, {"m", s.read(m, n)}, {"v", s.read(second, n)}};
            },
            same_entry);
    }

    void embeddingsAndLoss_data() { columns_data(); }
    void embeddingsAndLoss() {
        QFETCH(int, column);
        const auto c = static_cast<std::size_t>(column), at = kRow * width + c;
        const std::vector<std::int32_t> tokens{3, 1, 4, 1, 5, 2, 5, 3, 5};  // three sequences of three
        check(
            "embedding_forward",
            [&](auto& s, double v) {
                auto* x = s.out(n);
                s.layers.embedding_forward(3, 3, d, s.of(tokens),
                                           s.in(with(drawn(area(7, d), 1), 5 * width + c, v)),
                                           s.in(drawn(area(3, d), 2)), x);
                return Outputs{{"x", s.read(x, n)}};
            },
            [&](std::size_t, std::size_t i) { return tokens[i / width] == 5 && i % width == c; });
        check(
            "embedding_vjp",
            [&](auto& s, double v) {
                auto *table = s.in(drawn(area(7, d), 1)), *positions = s.in(drawn(area(3, d), 2));
                s.layers.embedding_vjp(3, 3, d, s.of(tokens), s.in(with(drawn(n, 3), at, v)), 7, table, 3,
                                       positions);
                return Outputs{{"table", s.read(table, area(7, d))},
                               {"positions", s.read(positions, area(3, d))}};
            },
            [&](std::size_t k, std::size_t i) { return i == (k == 0 ? 5 * width : kRow % 3 * width) + c; });
        check(
            "cross_entropy",
            [&](auto& s, double v) {
                auto *losses = s.out(R), *dlogits = s.out(n);
                s.elementwise.cross_entropy(R, d, s.in(with(drawn(n, 1), at, v)), s.of(tokens),
                                            s.scalar_in(0.5), 0, losses, dlogits);
                return Outputs{{"losses", s.read(losses, R)}, {"dlogits", s.read(dlogits, n)}};
            },
            [](std::size_t k, std::size_t i) { return (k == 0 ? i : i / width) == kRow; });
    }

    void reductions_data() { columns_data(); }
    void reductions() {
        QFETCH(int, column);
        const std::size_t at = kRow * width + static_cast<std::size_t>(column);
        check(
            "reductions",
            [&](auto& s, double v) {
                auto* x = s.in(with(drawn(n, 1), at, v));
                auto* dot = s.scalar_in(1);
                auto *squares = s.number(1), *pieces = s.number(1);
                s.elementwise.add_dot(n, x, s.in(drawn(n, 2)), s.number(1), dot);
                s.elementwise.add_squares(1, n, 0, x, squares);
                s.step.piece_squares(s.of(std::vector<ArenaPiece>{{0, n, true}}), 0, 1, x, pieces);
                return Outputs{
                    {"dot", s.read(dot, 1)}, {"squares", s.read(squares, 1)}, {"pieces", s.read(pieces, 1)}};
            },
            everything);
    }

    /// A value that is not finite at one token leaves other sequences as they are, and reaches every later
    /// token. It also reaches earlier ones where all keys are multiplied, with the masked ones' zeros: 0·NaN
    /// is NaN.
    void attention_data() {
        QTest::addColumn<bool>("causal");
        QTest::newRow("causal") << true;
        QTest::newRow("all") << false;
    }
    void attention() {
        QFETCH(bool, causal);
        constexpr int tokens = 3, heads = 5,
                      kv_heads = 1;  // of three sequences; the value is in the second one
        const AttentionShape shape{d,      heads,  kv_heads,    d / heads,
                                   tokens, causal, QkNorm::Off, NormKind::LayerNorm};
        const std::size_t rows = area(R, shape.width());
        const auto outputs = [&](auto& s, const std::vector<double>& u, const std::vector<double>& df) {
            using T = typename std::decay_t<decltype(s)>::scalar;
            const AttentionWeights<T> w{{s.in(drawn(area(shape.width(), d), 1, 0.3)), nullptr, nullptr},
                                        {s.in(drawn(area(d, d), 2, 0.3)), nullptr, nullptr},
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        s.scalar_in(1e-3),
                                        s.scalar_in(0.25)};
            const AttentionTape<T> tape{s.out(rows), nullptr, {}, {}, s.out(area(R * heads, tokens)),
                                        s.out(n)};
            auto *f = s.out(n), *du = s.out(n);
            s.layers.attention_forward(shape, 3, w, s.in(u), tape, f);
            s.layers.attention_vjp(shape, 3, 1, w, tape, s.in(u), s.in(df), du, nullptr);
            return Outputs{{"f", s.read(f, n)}, {"du", s.read(du, n)}};
        };
        const auto u = drawn(n, 3), df = drawn(n, 4);
        const std::size_t at = 5 * width + 2;  // the last token of its sequence
        const auto same_sequence = [](std::size_t, std::size_t i) { return i / width / tokens == 1; };
        check(
            "attention, u", [&](auto& s, double v) { return outputs(s, with(u, at, v), df); }, same_sequence);
        check(
            "attention, df", [&](auto& s, double v) { return outputs(s, u, with(df, at, v)); },
            [&](std::size_t k, std::size_t i) { return k == 1 && same_sequence(k, i); });
    }

    void noRows() {
        const auto nothing = [&]<class T>(Device& device, T) {
            Side<T> s(device);
            auto *x = s.in(drawn(n, 1)), *y = s.in(drawn(n, 2)), *W = s.in(drawn(area(out, d), 3)),
                 *sums = s.in(drawn(d, 4)), *others = s.in(drawn(d, 5));
            auto* tokens = s.of(std::vector<std::int32_t>(R, 1));
            const NormRows<T> rows{NormKind::LayerNorm, 0, d, x, {y, y}, sums, nullptr};
            const AttentionShape shape{d, 5, 1, d / 5, 3, true, QkNorm::Off, NormKind::LayerNorm};
            const AttentionWeights<T> w{
                {W, nullptr, nullptr}, {W, nullptr, nullptr}, nullptr, nullptr, nullptr,
                s.scalar_in(1e-3),     s.scalar_in(1)};
            const AttentionTape<T> tape{y, nullptr, {}, {}, y, y};
            auto* eps = s.scalar_in(1e-3);
            auto* number = s.number(3);
            s.layers.linear(0, out, d, x, {W, nullptr, sums}, y);
            s.layers.linear_input_gradient(0, out, d, y, W, x);
            s.layers.column_sums(0, d, x, sums);
            s.elementwise.column_products(0, d, nullptr, x, y, sums);
            s.layers.norm_forward(rows, eps, nullptr, y);
            s.layers.norm_vjp(rows, x, nullptr, false, y, others, nullptr, nullptr, {});
            s.layers.norm_jvp(rows, x, nullptr, y);
            s.layers.attention_forward(shape, 0, w, x, tape, y);
            s.layers.attention_vjp(shape, 0, 1, w, tape, x, x, y, nullptr);
            s.layers.attention_jvp(shape, 0, 0, w, tape, x, y);
            s.elementwise.activation(Activation::Silu, 0, x, y, y);
            s.elementwise.multiply(0, x, x, y);
            s.elementwise.axpby(0, nullptr, x, nullptr, x, y);
            s.elementwise.scale(0, nullptr, x, y);
            s.elementwise.scale_columns(0, d, sums, x, y);
            s.elementwise.gated(Activation::SwiGlu, 0, d, x, y);
            s.elementwise.gated_vjp(Activation::SwiGlu, 0, d, x, x, y);
            s.elementwise.gated_jvp(Activation::SwiGlu, 0, d, x, x, y);
            s.elementwise.soft_cap(0, 2, y);
            s.elementwise.soft_cap_vjp(0, 2, x, x, y);
            s.layers.embedding_forward(0, 3, d, tokens, x, nullptr, y);
            s.layers.embedding_vjp(0, 3, d, tokens, x, 5, y, 3, nullptr);
            s.elementwise.cross_entropy(0, d, x, tokens, eps, 0, y, y);
            s.elementwise.add_dot(0, x, x, number, sums);
            s.elementwise.add_squares(0, 1, 1, x, number);
            s.elementwise.add_squares(1, 0, 0, x, number);
            s.elementwise.copy(0, x, y);
            s.elementwise.zero(nullptr, 0, y, 0, nullptr);
            s.layers.round_weights(0, y);
            QCOMPARE(s.read(x, n), drawn(n, 1));
            QCOMPARE(s.read(y, n), drawn(n, 2));
            QCOMPARE(s.read(sums, d), drawn(d, 4));
            QCOMPARE(s.read(others, d), drawn(d, 5));
            QCOMPARE(s.values(number, 1)[0], 3.0);
            s.layers.linear_weight_gradient(0, out, d, x, x, false, W);
            QCOMPARE(s.read(W, area(out, d)), drawn(area(out, d), 3));
        };
        nothing(cpu_device(), float());
        nothing(cpu_device(), double());
        nothing(emulated(), float());
        nothing(emulated(), double());
    }
};

NORMSCOPE_TEST(CudaNotFiniteTest)
#include "cuda_not_finite_test.moc"
