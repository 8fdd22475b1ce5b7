// SPDX-License-Identifier: GPL-3.0-or-later
// The probe against its definitions, counted once more from products that Eigen makes of the weights.
#include "core/probe/precision/ranges.h"

#include "core/backend/shared/number_format.h"
#include "tests/support/test_main.h"

#include <Eigen/Dense>

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>

using namespace normscope;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr int kTokens = 6, kSequences = 2, kRows = kTokens * kSequences;

Batch batch_of() {
    Batch batch{kSequences, kTokens, {}, {}};
    for (int i = 0; i < kRows; ++i) {
        batch.tokens.push_back((5 * i + 2) % 9);
        batch.targets.push_back((4 * i + 1) % 9);
    }
    return batch;
}

StackSpec stack_of(const QString& name) {
    StackSpec s;
    s.depth = 2;
    s.d_model = 8;
    s.heads = 2;
    s.context = kTokens;
    if (name == "llama") {
        apply_block_preset(s, Block::Llama);
        s.heads = 4;
        s.kv_heads = 2;
    } else if (name == "post, bidirectional") {
        s.scheme = Scheme::Post;
        s.causal = false;
        s.residual_step = 0.3;
    } else if (name == "wide heads, GeGLU") {
        s.activation = Activation::GeGlu;
        s.head_width = 6;
        s.kv_heads = 1;
    }
    complete(s, 9);
    return s;
}

/// Shares counted from the bits' point of view: what rounding to the format gives.
struct Counted {
    double amax = 0, amin = INFINITY, count = 0;
    std::map<std::string, double> over, under, lost;
    void add(double x) {
        ++count;
        if (x == 0) return;
        x = std::abs(x);
        amax = std::max(amax, x);
        amin = std::min(amin, x);
        const auto of = [&](const char* format, double largest, int normal, int step) {
            over[format] += x > largest;
            under[format] += std::ilogb(x) < normal;
            lost[format] += std::nearbyint(std::ldexp(x, -step)) == 0;
        };
        of("fp16", 65504, -14, -24);
        of("bf16", 3.3895313892515355e38, -126, -133);
        of("e4m3", 448, -6, -9);
        of("e5m2", 57344, -14, -16);
    }
    void add(const Matrix& values) {
        for (const double x : values.reshaped()) add(x);
    }
};

}  // namespace

class RangesTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{2};

  private Q_SLOTS:
    void isWhatItsDefinitionsGive_data() {
        QTest::addColumn<QString>("stack");
        QTest::addColumn<unsigned>("seed");
        for (const char* stack : {"gpt2", "llama", "post, bidirectional", "wide heads, GeGLU"})
            for (const unsigned seed : {1u, 2u, 3u})
                QTest::addRow("%s, seed %u", stack, seed) << stack << seed;
    }
    void isWhatItsDefinitionsGive() {
        QFETCH(QString, stack);
        QFETCH(unsigned, seed);
        const StackSpec spec = stack_of(stack);
        Transformer<double> model(spec, seed);
        // Sizes over many binades, so that each format has values on both sides of its limits.
        for (std::size_t i = 0; i < model.parameters().size(); ++i)
            model.parameters()[i] *= std::ldexp(1.0, static_cast<int>(i * 7 % 23) - 8);
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_ranges(input);
        const Tape<double>& tape = input.tape();
        const auto view = [&](const double* values, int rows, int columns) -> Matrix {
            return Eigen::Map<const Matrix>(values, rows, columns);
        };
        const auto weight = [&](const std::string& name) -> Matrix {
            const TensorInfo* t = model.table().find(name);
            if (!t) return {};
            return view(model.parameters().data() + t->offset, t->shape[0],
                        t->shape.size() > 1 ? t->shape[1] : 1);
        };
        const int d = spec.d_model, h = spec.d_head(), kv = spec.d_kv(), d_q = h * spec.heads,
                  width = d_q + 2 * kv;

        std::map<std::string, Counted> expected;
        for (int l = 0; l < spec.depth; ++l) {
            const std::string block = "blocks." + std::to_string(l);
            const SublayerTape<double>&attention = tape.sublayers[2 * std::size_t(l)],
                  &ffn = tape.sublayers[2 * std::size_t(l) + 1];
            Matrix mixed(kRows, d_q);
            for (int b = 0; b < kSequences; ++b) {
                const Matrix qkv = view(attention.qkv + b * kTokens * width, kTokens, width);
                expected[block + ".attn.qkv"].add(qkv);
                for (int head = 0; head < spec.heads; ++head) {
                    const int group = head * spec.kv_heads / spec.heads;
                    const Matrix s =
                        qkv.middleCols(head * h, h) * qkv.middleCols(d_q + group * h, h).transpose();
                    Matrix p = Matrix::Zero(kTokens, kTokens);
                    for (int i = 0; i < kTokens; ++i) {
                        const int keys = spec.causal ? i + 1 : kTokens;
                        const Eigen::ArrayXd row = s.row(i).head(keys).array() / std::sqrt(double(h));
                        const Eigen::ArrayXd e = (row - row.maxCoeff()).exp();
                        // Below the smallest normal number the kernel's exponential is 0.
                        p.row(i).head(keys) = (e / e.sum() < 1e-300).select(0.0, e / e.sum()).matrix();
                        for (int j = 0; j < keys; ++j) {
                            expected[block + ".attn.scores"].add(s(i, j));
                            expected[block + ".attn.probabilities"].add(p(i, j));
                        }
                    }
                    mixed.block(b * kTokens, head * h, kTokens, h) =
                        p * qkv.middleCols(d_q + kv + group * h, h);
                }
            }
            expected[block + ".attn.mixed"].add(mixed);
            const auto linear = [&](const Matrix& x, const std::string& name,
                                    const std::string& bias) -> Matrix {
                Matrix y = x * weight(block + "." + name).transpose();
                const Matrix b = weight(block + "." + bias);
                if (b.size() > 0) y.rowwise() += b.col(0).transpose();
                return y;
            };
            const double step = spec.residual_step;
            expected[block + ".attn.branch"].add(Matrix(step * linear(mixed, "attn.wo", "attn.bo")));
            const Matrix u = view(ffn.u ? ffn.u : ffn.x, kRows, d),
                         act = view(ffn.activated, kRows, spec.d_ff);
            if (is_gated(spec.activation)) {
                expected[block + ".ffn.pre"].add(linear(u, "ffn.w_gate", "ffn.b_gate"));
                expected[block + ".ffn.pre"].add(linear(u, "ffn.w_up", "ffn.b_up"));
                expected[block + ".ffn.branch"].add(Matrix(step * linear(act, "ffn.w_down", "ffn.b_down")));
            } else {
                expected[block + ".ffn.pre"].add(linear(u, "ffn.w1", "ffn.b1"));
                expected[block + ".ffn.branch"].add(Matrix(step * linear(act, "ffn.w2", "ffn.b2")));
            }
            expected[block + ".ffn.hidden"].add(act);
        }
        for (std::size_t k = 0; k < tape.hidden.size(); ++k) {
            expected["hidden." + std::to_string(k)].add(view(tape.hidden[k], kRows, d));
            expected["grad.hidden." + std::to_string(k)].add(
                view(input.backward().hidden[k].data(), kRows, d));
        }
        expected["logits"].add(view(tape.logits, kRows, spec.vocab));

        const auto& places = result.labels.at("places");
        QCOMPARE(places.size(), expected.size());
        const auto entry = [&](const std::string& name, std::size_t i) {
            const NamedArray* array = result.find(name.c_str());
            if (!array) qFatal("no array %s", name.c_str());
            return array->data.at(i);
        };
        double over = 0, lost = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            QVERIFY2(expected.count(places[i]), places[i].c_str());
            const Counted& truth = expected.at(places[i]);
            const auto close = [&](double found, double value) {
                return std::abs(found - value) <= 1e-8 * std::abs(value);
            };
            QVERIFY2(close(entry("amax", i), truth.amax), places[i].c_str());
            // Sums cancel: the smallest value of many is known to round-off of the largest alone.
            QVERIFY2(std::abs(entry("amin", i) - truth.amin) <= 1e-8 * truth.amin + 1e-13 * truth.amax,
                     places[i].c_str());
            for (const char* format : {"fp16", "bf16", "e4m3", "e5m2"}) {
                const std::string f = format;
                for (const auto& [share, counts] :
                     {std::pair("over_", &truth.over), {"under_", &truth.under}, {"lost_", &truth.lost}})
                    QVERIFY2(std::abs(entry(share + f, i) - counts->at(f) / truth.count) < 1e-12,
                             qPrintable(QString("%1 %2%3").arg(places[i].c_str(), share, format)));
                over += entry("over_" + f, i);
                lost += entry("lost_" + f, i);
            }
        }
        QVERIFY(over > 0 && lost > 0);  // else nothing was compared
    }

    /// At the limits themselves; the largest number is held, half the smallest subnormal is not.
    void theLimits() {
        for (const NumberFormat& f : kNumberFormats) {
            QVERIFY(f.smallest < f.smallest_normal && f.smallest_normal < f.largest);
            QCOMPARE(std::ldexp(1.0, std::ilogb(f.smallest_normal)), f.smallest_normal);
        }
        QCOMPARE(kNumberFormats[1].largest, 3.3895313892515355e38);
    }

    void notANumberIsNoRange() {
        const StackSpec spec = stack_of("gpt2");
        Transformer<double> model(spec, 1);
        model.parameters()[model.table().attention[1].wo] = std::nan("");
        const Batch batch = batch_of();
        ProbeInput<double> input(model, batch, pool_, 0);
        const ProbeResult result = probe_ranges(input);
        const auto& places = result.labels.at("places");
        const auto at = [&](const char* place) {
            return static_cast<std::size_t>(std::find(places.begin(), places.end(), place) - places.begin());
        };
        const auto& largest = result.find("amax")->data;
        QVERIFY(std::isfinite(largest.at(at("blocks.1.attn.mixed"))) &&
                std::isnan(largest.at(at("blocks.1.attn.branch"))));
        QVERIFY(std::isnan(result.find("over_fp16")->data.at(at("hidden.3"))));
    }
};

NORMSCOPE_TEST(RangesTest)
#include "ranges_test.moc"
