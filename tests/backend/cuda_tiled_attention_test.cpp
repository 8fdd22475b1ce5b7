// SPDX-License-Identifier: GPL-3.0-or-later
// Attention in tiles on the emulated CUDA device (tiled_verify.h), against the CPU's with stored
// probabilities.
#include "tests/backend/tiled_attention_case.h"
#include "tests/backend/tiled_verify.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::device_side;
using operations::all_of;
using operations::kTiledCases;
using operations::TiledCase;
using operations::TiledSetup;

namespace {

constexpr Verification kFloat{Rounding::None, PrecisionPolicy::Pure, 0, 0, 3};
Verification autocast(Rounding to) {
    return {to, PrecisionPolicy::Autocast, to == Rounding::Bf16 ? 1.0 / 128 : 1.0 / 1024, 0, 3};
}

}  // namespace

class CudaTiledAttentionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Against float64 in float32, and in the formats against the CPU's operations in the same format, which
    /// round the same results, and against float64.
    void cases_data() {
        QTest::addColumn<int>("given");
        QTest::addColumn<int>("rounding");
        for (int k = 0; k < static_cast<int>(std::size(kTiledCases)); ++k)
            for (const Rounding to : {Rounding::None, Rounding::Bf16, Rounding::Fp16})
                // FP16 differs from BF16 in the conversions and one instruction.
                if (to != Rounding::Fp16 || k % 4 == 1)
                    QTest::addRow("%s, %s", kTiledCases[k].name,
                                  to == Rounding::None   ? "float32"
                                  : to == Rounding::Bf16 ? "bf16"
                                                         : "fp16")
                        << k << static_cast<int>(to);
    }
    void cases() {
        QFETCH(int, given);
        QFETCH(int, rounding);
        const auto& named = kTiledCases[given];
        const auto to = static_cast<Rounding>(rounding);
        const auto call = [&](auto& side) { return all_of(side, named.given); };
        Side<double> exact(cpu_device());
        const Outputs reference = call(exact);
        if (to == Rounding::None) {
            QCOMPARE(failure_against<float>(reference, named.name, 20, call, kFloat), QString());
            return;
        }
        Side<float> low(cpu_device(), to, PrecisionPolicy::Autocast);
        const Verification how = autocast(to);
        Outputs found;
        QCOMPARE(failure_against<float>(call(low), named.name, 2, call, how, &found), QString());
        const double error =
            error_of<float>(found, reference) * double(std::numeric_limits<float>::epsilon()) / how.unit;
        QVERIFY2(error < 6, qPrintable(QString("%1 units from float64").arg(error)));
    }

    /// Scores up to ±2·10⁴ that both sides compute exactly, of both signs and with the largest in any tile:
    /// nothing overflows, and the rows are those of float64.
    void extremeScores_data() {
        QTest::addColumn<int>("rounding");
        QTest::newRow("float32") << static_cast<int>(Rounding::None);
        QTest::newRow("bf16") << static_cast<int>(Rounding::Bf16);
    }
    void extremeScores() {
        QFETCH(int, rounding);
        const auto to = static_cast<Rounding>(rounding);
        // q = 16·u, k = v = u, and u of small integers.
        const TiledCase given{8, 1, 1, 129, true, 1, 0, QkNorm::Off, std::sqrt(8.0), 1, true};
        std::vector<double> inputs = drawn(area(given.rows(), 8), 11, 1), qkv(area(24, 8));
        for (std::size_t i = 0; i < inputs.size(); ++i)
            inputs[i] = std::round(12 * inputs[i] * (i / 8 % 3 == 0 ? 1 : 0.25));
        for (std::size_t part = 0; part < 3; ++part)
            for (std::size_t i = 0; i < 8; ++i) qkv[(8 * part + i) * 8 + i] = part == 0 ? 16 : 1;
        double most = 0;
        const auto forward = [&](auto& side) {
            const auto all = TiledSetup<std::decay_t<decltype(side)>>(side, given, inputs, {}, qkv).forward();
            for (double score : all[0].second) most = std::max(most, std::abs(score));
            return Outputs{all[0], all[1], all[2]};
        };
        const auto derivatives = [&](auto& side) {
            TiledSetup<std::decay_t<decltype(side)>> setup(side, given, inputs, {}, qkv);
            return Outputs{setup.vjp(1)[0], setup.jvp(1, 0)[0]};
        };
        const bool single = to == Rounding::None;
        const Verification how = single ? kFloat : autocast(to);
        Side<double> exact(cpu_device());
        Side<float> low(cpu_device(), to, PrecisionPolicy::Autocast);
        QCOMPARE(failure_against<float>(single ? forward(exact) : forward(low), "extreme scores",
                                        single ? 2 : 1, forward, how),
                 QString());
        QVERIFY(most > 1e4);
        // In rows with two keys the derivatives of scores, of up to 10³, cancel.
        QCOMPARE(failure_against<float>(single ? derivatives(exact) : derivatives(low), "their derivatives",
                                        single ? 1200 : 1, derivatives, how),
                 QString());
    }

    /// A number that is not finite changes no other sequence and no other head.
    void notFinite_data() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<double>("value");
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            QTest::addRow("float32 %g", value) << static_cast<int>(Rounding::None) << value;
            QTest::addRow("bf16 %g", value) << static_cast<int>(Rounding::Bf16) << value;
        }
    }
    void notFinite() {
        QFETCH(int, rounding);
        QFETCH(double, value);
        const auto to = static_cast<Rounding>(rounding);
        const TiledCase given{8, 2, 2, 65, true, 2};
        constexpr int kToken = 40, d = 16;
        const std::size_t rows = area(given.rows(), d);
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true}, 0);
        Side<float> s(device, to, to == Rounding::None ? PrecisionPolicy::Pure : PrecisionPolicy::Autocast);
        const auto finite = drawn(rows, 5);
        auto broken = finite;
        broken[area(65 + kToken, d) + 3] = value;  // in the second sequence
        TiledSetup<Side<float>> well(s, given, finite), ill(s, given, broken);
        const auto of = [&](auto& setup, const char* name, const Outputs& all) {
            (void)setup;
            for (const auto& [is, values] : all)
                if (is == name) return values;
            return std::vector<double>{};
        };
        const auto f = of(well, "f", well.forward()), g = of(ill, "f", ill.forward());
        const auto du = of(well, "du", well.vjp(2)), dv = of(ill, "du", ill.vjp(2));
        for (std::size_t i = 0; i < rows; ++i) {
            const bool second = i >= rows / 2;
            const int token = static_cast<int>(i / d) % 65;
            if (!second) QVERIFY(f[i] == g[i]);
            if (!second) QVERIFY(du[i] == dv[i] && du[rows + i] == dv[rows + i]);
            if (second && token >= kToken) QVERIFY(!std::isfinite(g[i]));
        }
        // The values of one head alone: a bias of v.
        std::vector<double> bias(3 * d);
        bias[2 * d + 8 + 1] = value;
        TiledSetup<Side<float>> head(s, given, finite, bias);
        const auto mixed = of(well, "mixed", well.forward()), other = of(head, "mixed", head.forward());
        for (std::size_t i = 0; i < rows; ++i)
            QVERIFY(i % d == 9 ? !std::isfinite(other[i]) : mixed[i] == other[i]);
    }

    /// ⟨dy, J tx⟩ = ⟨Jᵀdy, tx⟩.
    void vjpAndJvpAreAdjoint() {
        const TiledCase given{24, 4, 2, 70, true};
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 2, true}, 0);
        Side<float> s(device);
        TiledSetup<Side<float>> setup(s, given);
        const std::size_t rows = area(70, 96);
        const auto du = setup.vjp(2)[0].second, tf = setup.jvp(2, 0)[0].second;
        const auto dy = drawn(2 * rows, 6, std::sqrt(3.0)), tx = drawn(2 * rows, 7, std::sqrt(3.0));
        for (std::size_t k = 0; k < 2; ++k)
            for (std::size_t l = 0; l < 2; ++l) {
                double left = 0, right = 0, size = 0;
                for (std::size_t i = 0; i < rows; ++i) {
                    left += dy[k * rows + i] * tf[l * rows + i];
                    right += du[k * rows + i] * tx[l * rows + i];
                    size += std::abs(du[k * rows + i] * tx[l * rows + i]);
                }
                QVERIFY2(std::abs(left - right) < 1e-6 * size,
                         qPrintable(QString("%1 and %2").arg(left).arg(right)));
            }
    }

    /// Heads that have no tiles, and arithmetic that rounds every result, need probabilities; a tape without
    /// is rejected.
    void whatNeedsProbabilities() {
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, 1, true});
        LayerOps<float>& single = device.pass_ops<float>().layers;
        QVERIFY(single.needs_probabilities(512, 64));
        QVERIFY(!single.needs_probabilities(513, 64));
        QVERIFY(!single.needs_probabilities(513, 256));
        QVERIFY(single.needs_probabilities(513, 257));
        QVERIFY(!device.pass_ops<float>(Rounding::Bf16, PrecisionPolicy::Autocast)
                     .layers.needs_probabilities(1024, 64));
        QVERIFY(device.pass_ops<float>(Rounding::Bf16, PrecisionPolicy::Pure)
                    .layers.needs_probabilities(1024, 64));
        QVERIFY(device.pass_ops<double>().layers.needs_probabilities(1024, 64));
        QVERIFY(cpu_device().pass_ops<float>().layers.needs_probabilities(1024, 64));
        const AttentionShape shape{64, 1, 1, 64, 600, true, QkNorm::Off, NormKind::LayerNorm};
        AttentionTape<double> tape{};
        tape.row_softmax = reinterpret_cast<double*>(64);
        QVERIFY_EXCEPTION_THROWN(
            device.pass_ops<double>().layers.attention_forward(shape, 1, {}, nullptr, tape, nullptr),
            InputError);
    }
};

NORMSCOPE_TEST(CudaTiledAttentionTest)
#include "cuda_tiled_attention_test.moc"
