// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/knob_scale.h"

#include "tests/support/test_main.h"

#include <QTest>
#include <cmath>

using namespace normscope::widgets;

class KnobScaleTest : public QObject {
    Q_OBJECT

    static KnobScale logScale() {
        return {.kind = KnobScale::Kind::Log, .low = 0.01, .high = 2, .detents = {0.1, 1}};
    }
    static KnobScale widths() {
        return {.kind = KnobScale::Kind::LogInteger,
                .low = 8,
                .high = 1024,
                .allowed_low = 1,
                .allowed_high = 65536,
                .multiple = 4};
    }

  private Q_SLOTS:
    void positionsAndValuesAgree() {
        const KnobScale scales[] = {
            {.kind = KnobScale::Kind::Linear, .low = -1, .high = 3},
            logScale(),
            {.kind = KnobScale::Kind::Log, .low = 1e-12, .high = 1, .zero = true},
            {.kind = KnobScale::Kind::Integer, .low = 1, .high = 48},
            widths(),
        };
        for (const KnobScale& scale : scales) {
            for (int i = 0; i <= 200; ++i) {
                const double value = valueAt(scale, i / 200.0);
                QVERIFY(isAllowed(scale, value) || scale.low < scale.allowed_low);
                // A value of the slider maps back to its position: pressing the thumb moves nothing.
                QCOMPARE(valueAt(scale, positionOf(scale, value)), value);
            }
        }
    }

    void endsAreEnds() {
        QCOMPARE(valueAt(logScale(), 0), 0.01);
        QCOMPARE(valueAt(logScale(), 1), 2.0);
        QCOMPARE(positionOf(logScale(), 50), 1.0);
        QCOMPARE(positionOf(logScale(), 0), 0.0);
        QCOMPARE(valueAt(widths(), 0), 8.0);
        QCOMPARE(valueAt(widths(), 1), 1024.0);
    }

    void logarithmic() {
        const KnobScale scale{.kind = KnobScale::Kind::Log, .low = 0.01, .high = 100};
        QCOMPARE(positionOf(scale, 1), 0.5);
        QCOMPARE(valueAt(scale, 0.25), 0.1);
    }

    void threeDigitsThatReadBack() {
        const KnobScale scale{.kind = KnobScale::Kind::Log, .low = 1e-5, .high = 0.1};
        for (int i = 0; i <= 1000; ++i) {
            const double value = valueAt(scale, i / 1000.0);
            QCOMPARE(QString::number(value, 'g', 3).toDouble(), value);
        }
    }

    void detentsSnapWithinTheirRadius() {
        const KnobScale scale = logScale();
        const double at = positionOf(scale, 0.1);
        QCOMPARE(snappedValueAt(scale, at + 0.019, 0.02), 0.1);
        QCOMPARE(snappedValueAt(scale, at - 0.019, 0.02), 0.1);
        QVERIFY(snappedValueAt(scale, at + 0.021, 0.02) > 0.1);
        QVERIFY(snappedValueAt(scale, at - 0.021, 0.02) < 0.1);
    }

    void aDetentKeepsAllItsDigits() {
        KnobScale scale = logScale();
        scale.detents = {1 / std::sqrt(24.0)};
        QCOMPARE(snappedValueAt(scale, positionOf(scale, 0.204), 0.01), 1 / std::sqrt(24.0));
    }

    void onlyDivisors() {
        const KnobScale scale{.kind = KnobScale::Kind::LogInteger,
                              .low = 1,
                              .high = 64,
                              .allowed_low = 1,
                              .allowed_high = 4096,
                              .detents = {1, 2, 3, 6},
                              .detents_only = true};
        QCOMPARE(valueAt(scale, 1), 6.0);
        QCOMPARE(valueAt(scale, positionOf(scale, 4.5)), 6.0);
        QVERIFY(isAllowed(scale, 3));
        QVERIFY(!isAllowed(scale, 4));
        QCOMPARE(stepped(scale, 3, 1), 6.0);
        QCOMPARE(stepped(scale, 6, 1), 6.0);
        QCOMPARE(stepped(scale, 1, -1), 1.0);
        QCOMPARE(allowedText(scale), QStringLiteral("1, 2, 3, 6"));
    }

    void multiples() {
        const KnobScale scale = widths();
        QVERIFY(isAllowed(scale, 2000));  // beyond the slider, not beyond the recipe
        QVERIFY(!isAllowed(scale, 66));
        QVERIFY(!isAllowed(scale, 65540));
        QCOMPARE(stepped(scale, 8, 1), 12.0);
        QCOMPARE(stepped(scale, 12, -1), 8.0);
        QCOMPARE(stepped(scale, 8, -1), 8.0);
        QCOMPARE(stepped(scale, 2000, 1), 2000.0);
    }

    void zeroHasItsPlaceOnALogScale() {
        const KnobScale scale{.kind = KnobScale::Kind::Log, .low = 1e-3, .high = 1, .zero = true};
        QCOMPARE(valueAt(scale, 0), 0.0);
        QCOMPARE(positionOf(scale, 0), 0.0);
        QVERIFY(positionOf(scale, 1e-3) > 0.05);
        QCOMPARE(stepped(scale, 0, 1), 1e-3);
        QCOMPARE(stepped(scale, 1e-3, -1), 0.0);
        QVERIFY(isAllowed(scale, 0));
    }

    void openEnds() {
        const KnobScale scale{
            .kind = KnobScale::Kind::Log, .low = 0.05, .high = 20, .allowed_low = 0, .low_open = true};
        QVERIFY(!isAllowed(scale, 0));
        QVERIFY(isAllowed(scale, 1e-9));
        QVERIFY(isAllowed(scale, 1e9));
        QVERIFY(!isAllowed(scale, std::nan("")));
        QVERIFY(!isAllowed(scale, std::numeric_limits<double>::infinity()));
        QCOMPARE(allowedText(scale), QStringLiteral("> 0"));
    }

    void stepsMoveAndComeBack() {
        const KnobScale depth{.kind = KnobScale::Kind::Integer, .low = 1, .high = 48};
        QCOMPARE(stepped(depth, 12, 1), 13.0);
        QCOMPARE(stepped(depth, 13, -1), 12.0);
        QCOMPARE(stepped(depth, 48, 1), 48.0);
        QCOMPARE(stepped(depth, 1, -1), 1.0);
        QVERIFY(stepped(logScale(), 0.5, 1) > 0.5);
        QVERIFY(stepped(logScale(), 0.5, -1) < 0.5);
    }

    void pagesGoFromDetentToDetent() {
        QCOMPARE(paged(logScale(), 0.2, 1), 1.0);
        QCOMPARE(paged(logScale(), 0.2, -1), 0.1);
        QCOMPARE(paged(logScale(), 1, -1), 0.1);
        QVERIFY(paged(logScale(), 1, 1) > 1);
    }
};

NORMSCOPE_TEST(KnobScaleTest)
#include "knob_scale_test.moc"
