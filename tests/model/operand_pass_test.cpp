// SPDX-License-Identifier: GPL-3.0-or-later
// A pass whose GEMMs read 8-bit operands: every product again in float64, from the inputs that the pass kept.
#include "core/backend/cpu/operand_ops.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numeric>
#include <vector>

using namespace normscope;

namespace {

constexpr int kTokens = 6, kWidth = 40, kHeads = 2, kInner = 72;

StackSpec stack() {
    StackSpec s;
    s.depth = 2;
    s.d_model = kWidth;  // a block of 32 and one of 8
    s.heads = kHeads;
    s.d_ff = kInner;
    s.context = kTokens;
    s.scheme = Scheme::Peri;
    complete(s, 11);
    validate(s);
    return s;
}

/// Rows of a matrix rounded along their entries.
std::vector<double> rounded(const OperandFormat& format, const float* x, int rows, int inner, int row_stride,
                            int inner_stride) {
    const double amax = largest_magnitude(std::size_t(rows), std::size_t(inner), std::size_t(row_stride),
                                          std::size_t(inner_stride), x);
    std::vector<double> all;
    for (int r = 0; r < rows; ++r) {
        std::vector<float> q(static_cast<std::size_t>(inner));
        round_operand(format, amax, std::size_t(inner), std::size_t(inner_stride), x + r * row_stride,
                      q.data());
        all.insert(all.end(), q.begin(), q.end());
    }
    return all;
}

double dot(const std::vector<double>& a, int i, const std::vector<double>& b, int j, int inner) {
    return std::inner_product(a.begin() + i * inner, a.begin() + (i + 1) * inner, b.begin() + j * inner, 0.0);
}

bool close(double got, double wanted, double scale = 1) {
    return std::abs(got - wanted) < 2e-6 * std::max(scale, std::abs(wanted));
}

}  // namespace

class OperandPassTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyProduct_data() {
        QTest::addColumn<int>("format");
        for (std::size_t i = 0; i < kOperandFormats.size(); ++i)
            QTest::newRow(kOperandFormats[i].name) << static_cast<int>(i);
    }
    void everyProduct() {
        QFETCH(int, format);
        const OperandFormat& f = kOperandFormats[static_cast<std::size_t>(format)];
        Transformer<float> model(stack(), 5);
        float* const weights = model.parameters().data();
        for (const NormSite& site : model.sites())  // γ that blocks clamp or move
            for (int i = 0; i < kWidth; ++i)
                weights[site.offsets.weight + std::size_t(i)] = 0.93f + 0.003f * float(i);
        OperandPassOps ops(f);
        model.set_operations(&ops.layers, &ops.elementwise);
        Batch batch{1, kTokens, {1, 5, 2, 9, 0, 7}, {}, {}};
        Tape<float> tape;
        ThreadPool pool(1);
        model.forward(batch, tape, pool);

        const ParameterTable& table = model.table();
        const auto linear = [&](const float* x, int in, std::size_t w, std::size_t b, int out,
                                const float* y) {
            const auto left = rounded(f, x, kTokens, in, in, 1),
                       right = rounded(f, weights + w, out, in, in, 1);
            for (int r = 0; r < kTokens; ++r)
                for (int c = 0; c < out; ++c) {
                    const double bias = b == kAbsent ? 0 : double(weights[b + std::size_t(c)]);
                    if (!close(double(y[r * out + c]), dot(left, r, right, c, in) + bias)) return false;
                }
            return true;
        };
        for (std::size_t layer = 0; layer < 2; ++layer) {
            const AttentionOffsets& a = table.attention[layer];
            const SublayerTape<float>& t = tape.sublayers[2 * layer];
            QVERIFY(linear(t.u, kWidth, a.wqkv, a.bqkv, 3 * kWidth, t.qkv));
            QVERIFY(linear(t.mixed, kWidth, a.wo, a.bo, kWidth, t.f));
            constexpr int dh = kWidth / kHeads;
            for (int h = 0; h < kHeads; ++h) {
                const float* q = t.qkv + h * dh;
                const auto left = rounded(f, q, kTokens, dh, 3 * kWidth, 1),
                           right = rounded(f, q + kWidth, kTokens, dh, 3 * kWidth, 1);
                const float* p = t.probabilities + h * kTokens * kTokens;
                for (int i = 0; i < kTokens; ++i) {
                    std::vector<double> row;
                    for (int j = 0; j <= i; ++j)
                        row.push_back(dot(left, i, right, j, dh) / std::sqrt(double(dh)));
                    const double most = *std::max_element(row.begin(), row.end());
                    double sum = 0;
                    for (double& s : row) sum += s = std::exp(s - most);
                    for (int j = 0; j <= i; ++j)
                        QVERIFY(close(double(p[i * kTokens + j]), row[std::size_t(j)] / sum));
                }
                const auto maps = rounded(f, p, kTokens, kTokens, kTokens, 1),
                           values = rounded(f, q + 2 * kWidth, dh, kTokens, 1, 3 * kWidth);
                for (int i = 0; i < kTokens; ++i)
                    for (int c = 0; c < dh; ++c)
                        QVERIFY(close(double(t.mixed[i * kWidth + h * dh + c]),
                                      dot(maps, i, values, c, kTokens)));
            }
            const FeedForwardOffsets& ffn = table.feed_forward[layer];
            const SublayerTape<float>& u = tape.sublayers[2 * layer + 1];
            QVERIFY(linear(u.u, kWidth, ffn.w1, ffn.b1, kInner, u.pre));
            QVERIFY(linear(u.activated, kInner, ffn.w2, ffn.b2, kWidth, u.f));
        }
        QVERIFY(linear(tape.final_hidden, kWidth, table.head, table.head_bias, 11, tape.logits));

        // Norms: γ in blocks where the format has them, otherwise as it is.
        for (const NormSite& site : model.sites()) {
            if (site.place != NormSite::Place::In) continue;
            const SublayerTape<float>& t = tape.sublayers[static_cast<std::size_t>(site.sublayer)];
            std::vector<float> gamma(weights + site.offsets.weight, weights + site.offsets.weight + kWidth),
                q = gamma;
            if (f.block > 0) round_operand(f, 0, kWidth, 1, gamma.data(), q.data());
            QCOMPARE(q != gamma, f.block > 0);
            for (int r = 0; r < kTokens; ++r)
                for (int c = 0; c < kWidth; ++c) {
                    const auto row = static_cast<std::size_t>(r);
                    const double z =
                        (double(t.x[r * kWidth + c]) - double(t.in.mean[row])) * double(t.in.rstd[row]);
                    const double beta = double(weights[site.offsets.bias + std::size_t(c)]);
                    QVERIFY(close(double(t.u[r * kWidth + c]), double(q[std::size_t(c)]) * z + beta));
                }
        }
        model.set_operations(nullptr, nullptr);
    }
};

NORMSCOPE_TEST(OperandPassTest)
#include "operand_pass_test.moc"
