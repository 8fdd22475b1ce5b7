// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/norm_precision.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QTest>
#include <cmath>
#include <limits>

using namespace normscope;

namespace {

class NormPrecisionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void roundOffIsThatOfTheFormats() {
        QCOMPARE(kUnitRoundOffFp16, 1.0 / 2048);  // 11 significant bits
        QCOMPARE(kUnitRoundOffBf16, 1.0 / 256);   // 8
    }

    void rhoOfWidth768() {
        const auto rho = [](double variance, double u) { return rho_ln(variance, 1e-5, 768, u); };
        QCOMPARE(rho(1, kUnitRoundOffFp16), 37500.0);
        QCOMPARE(rho(1e-4, kUnitRoundOffFp16), 3.75);
        QCOMPARE(rho(4e-6, kUnitRoundOffFp16), 0.15);
        QCOMPARE(rho(4e-6, kUnitRoundOffBf16), 1.2);
    }

    /// ε/(d·u) is the variance at which ρ_LN is 1; more channels, a larger variance or a smaller ε raise it.
    void oneIsWhereEpsilonTakesOver() {
        QCOMPARE(rho_ln(1e-6 / (64 * 0x1p-8), 1e-6, 64, 0x1p-8), 1.0);
        QCOMPARE(rho_ln(2, 1e-6, 64, 0x1p-8), 2 * rho_ln(1, 1e-6, 64, 0x1p-8));
        QCOMPARE(rho_ln(1, 1e-6, 128, 0x1p-8), 2 * rho_ln(1, 1e-6, 64, 0x1p-8));
        QCOMPARE(rho_ln(1, 5e-7, 64, 0x1p-8), 2 * rho_ln(1, 1e-6, 64, 0x1p-8));
    }

    void endsOfItsRange() {
        QCOMPARE(rho_ln(0, 1e-5, 64, 0x1p-8), 0.0);
        QVERIFY(std::isinf(rho_ln(1, 0, 64, 0x1p-8)));
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        for (const double bad : {-1.0, nan, std::numeric_limits<double>::infinity()}) {
            QVERIFY_EXCEPTION_THROWN(rho_ln(bad, 1e-5, 64, 0x1p-8), InputError);
            QVERIFY_EXCEPTION_THROWN(rho_ln(1, bad, 64, 0x1p-8), InputError);
            QVERIFY_EXCEPTION_THROWN(rho_ln(1, 1e-5, 64, bad), InputError);
        }
        QVERIFY_EXCEPTION_THROWN(rho_ln(1, 1e-5, 0, 0x1p-8), InputError);
        QVERIFY_EXCEPTION_THROWN(rho_ln(0, 0, 64, 0x1p-8), InputError);
    }
};

}  // namespace

NORMSCOPE_TEST(NormPrecisionTest)
#include "norm_precision_test.moc"
