// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/layer_lipschitz.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

double gelu_tanh(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double gelu_erf(double x) {
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}
double silu(double x) {
    return x / (1 + std::exp(-x));
}

/// The steepest slope over [−8, 8].
double steepest(double (*f)(double)) {
    double most = 0;
    for (double x = -8; x < 8; x += 1e-4) most = std::max(most, std::abs(f(x + 1e-5) - f(x - 1e-5)) / 2e-5);
    return most;
}

}  // namespace

class LayerLipschitzTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void activationsAgainstTheirSlopes() {
        for (const auto& [kind, f] :
             {std::pair{Activation::GeluTanh, &gelu_tanh}, std::pair{Activation::GeluErf, &gelu_erf},
              std::pair{Activation::Silu, &silu}}) {
            const double bound = activation_lipschitz(kind), slope = steepest(f);
            QVERIFY2(slope <= bound && bound < slope + 2e-4, qPrintable(QString::number(slope, 'g', 10)));
        }
        QCOMPARE(activation_lipschitz(Activation::Relu), 1.0);
    }

    /// [E] Theorem 5.1 with one number for each: ‖W^O‖(‖W^V‖ + θ/τ·B/√d_h·‖W^K‖(2‖W^Q‖B + ‖b^Q‖)‖W^V‖).
    void attentionInNumbers() {
        const double wo = 3, wv = 2, wq = 0.5, wk = 0.25, bq = 0.1, B = 4, theta = 0.9, tau = 1.5;
        const HeadLipschitz head{wv, wq, wk, wq * B + bq, wk * B, theta};
        const AttentionLipschitz bound = attention_lipschitz(wo, std::vector{head, head}, B, tau, 16);
        QVERIFY(std::abs(bound.value - 2 * wo * wv) < 1e-14);
        const double phi = B / 4 * wk * (2 * wq * B + bq) * wv;
        QVERIFY(std::abs(bound.scores - 2 * wo * theta / tau * phi) < 1e-14);
        QVERIFY(std::abs(bound.total() - bound.value - bound.scores) < 1e-14);
    }

    /// A gated map of one channel, y = w_d·φ(w_g x)·w_u x, within its range.
    void gatedMapOfOneChannel() {
        for (const auto& [activation, function] :
             {std::pair{Activation::SwiGlu, &silu}, std::pair{Activation::GeGlu, &gelu_tanh}})
            for (const double range : {0.5, 2.0, 6.0}) {
                const auto phi = function;
                const double wg = 1.3, wu = -0.8, wd = 2;
                double slope = 0, up = 0, gated = 0;
                for (double x = -range; x <= range; x += 1e-3) {
                    const auto y = [&](double v) { return wd * phi(wg * v) * wu * v; };
                    slope = std::max(slope, std::abs(y(x + 1e-6) - y(x - 1e-6)) / 2e-6);
                    up = std::max(up, std::abs(wu * x));
                    gated = std::max(gated, std::abs(phi(wg * x)));
                }
                const double bound = gated_lipschitz(activation, wg, std::abs(wu), wd, up, gated);
                QVERIFY(slope <= bound && bound < 2 * slope);
            }
    }

    /// Special cases of the one form: the paper's pre and post layers.
    void specialCasesOfTheOneForm() {
        const double lip = 5, attention = 2, ffn = 3;
        const SublayerLipschitz pre_a{1, 1, 1, lip * attention}, pre_f{1, 1, 1, lip * ffn};
        QCOMPARE(pre_a.total() * pre_f.total(), (1 + lip * attention) * (1 + lip * ffn));
        const SublayerLipschitz post_a{lip, 1, 1, attention}, post_f{lip, 1, 1, ffn};
        QCOMPARE(post_a.total() * post_f.total(), lip * lip * (1 + attention) * (1 + ffn));
    }

    /// The parts of a change of log S add up to it.
    void attributionAddsUp() {
        const SensitivityFactors from{0.91, 3.7, 12.5}, to{0.4, 55, 1e6};
        const SensitivityChange change = sensitivity_change(from, to);
        QVERIFY(std::abs(change.total() - std::log(to.proxy() / from.proxy())) < 1e-12);
        QVERIFY(std::abs(change.token_norm - 2 * std::log(55 / 3.7)) < 1e-14);
    }
};

NORMSCOPE_TEST(LayerLipschitzTest)
#include "layer_lipschitz_test.moc"
