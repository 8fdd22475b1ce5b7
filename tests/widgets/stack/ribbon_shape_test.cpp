// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/ribbon_shape.h"

#include "tests/support/test_main.h"
#include "widgets/figures/groups/ribbon.h"

#include <QTest>
#include <cmath>
#include <limits>

using namespace normscope::widgets;

class RibbonTest : public QObject {
    Q_OBJECT

    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    /// Twice the farthest point of a shape from its middle within a range of heights; 0 where it has none.
    static double widthAt(const QPainterPath& path, double x, double y) {
        const QRectF row(x - 100, y - 0.05, 200, 0.1);
        QPainterPath band;
        band.addRect(row);
        const QPainterPath cut = path.intersected(band);
        return cut.isEmpty() ? 0 : 2 * (cut.boundingRect().right() - x);
    }

  private Q_SLOTS:
    void widthIsLogarithmicAndClamped() {
        QCOMPARE(gradientWidth(1e-4, 15), 1.0);
        QCOMPARE(gradientWidth(1e-3, 15), 4.5);
        QCOMPARE(gradientWidth(1e-2, 15), 8.0);
        QCOMPARE(gradientWidth(0.1, 15), 11.5);
        QCOMPARE(gradientWidth(1, 15), 15.0);
        for (const double least : {0.0, 1e-300, 1e-9, 9.9e-5}) QCOMPARE(gradientWidth(least, 15), 1.0);
        for (const double most : {1.01, 1e9, std::numeric_limits<double>::infinity()})
            QCOMPARE(gradientWidth(most, 15), 15.0);
        QVERIFY(std::isnan(gradientWidth(kNone, 15)));
    }

    void shapeFollowsTheValues() {
        const std::vector<double> values{1, 1e-2, 1e-4};
        const QPainterPath path = ribbonShape(values, 50, 15, [](int k) { return 200.0 - 100 * k; });
        QCOMPARE(path.boundingRect(), QRectF(42.5, 0, 15, 200));
        QVERIFY(std::abs(widthAt(path, 50, 100) - 8) < 0.1);
        QVERIFY(std::abs(widthAt(path, 50, 150) - 11.5) < 0.1);  // linear between states
        QVERIFY(std::abs(widthAt(path, 50, 0.1) - 1) < 0.1);
    }

    void whatWasNotMeasuredIsAGap() {
        const std::vector<double> values{0.1, 0.1, kNone, 0.1, kNone, kNone, 0.1};
        const auto y = [](int k) { return 600.0 - 100 * k; };
        const QPainterPath path = ribbonShape(values, 50, 15, y);
        for (const double inside : {599.0, 550.0, 501.0, 345.0, 300.0, 255.0, 45.0, 1.0})
            QVERIFY2(std::abs(widthAt(path, 50, inside) - 11.5) < 0.1, qPrintable(QString::number(inside)));
        for (const double gap : {499.0, 400.0, 355.0, 245.0, 100.0, 55.0})
            QCOMPARE(widthAt(path, 50, gap), 0.0);
        QVERIFY(ribbonShape({kNone, kNone, kNone}, 50, 15, y).isEmpty());
        QVERIFY(ribbonShape({}, 50, 15, y).isEmpty());
    }

    void equalIsWhatIsDrawnEqually() {
        Ribbon a{"Pre-LN", 0, 1, {0.1, kNone, 0.2}, 4};
        Ribbon b = a;
        QVERIFY(a == b);
        b.gradient[1] = 0.1;
        QVERIFY(!(a == b));
        b = a;
        b.step = 5;
        QVERIFY(!(a == b));
        b = a;
        b.gradient.pop_back();
        QVERIFY(!(a == b));
    }

    void labelsFit_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<QList<int>>("labels");
        QTest::newRow("1") << 1 << QList<int>{1};
        QTest::newRow("4") << 4 << QList<int>{1, 2, 3, 4};
        QTest::newRow("12") << 12 << QList<int>{2, 4, 6, 8, 10, 12};
        QTest::newRow("13") << 13 << QList<int>{2, 4, 6, 8, 10, 12, 13};
        QTest::newRow("25") << 25 << QList<int>{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25};
        QTest::newRow("48") << 48 << QList<int>{5, 10, 15, 20, 25, 30, 35, 40, 48};
        QTest::newRow("96") << 96 << QList<int>{10, 20, 30, 40, 50, 60, 70, 80, 96};
    }
    void labelsFit() {
        QFETCH(int, depth);
        const auto layers = labelledLayers(depth, 304, 20);
        QTEST(QList<int>(layers.begin(), layers.end()), "labels");
    }

    void labelsOfEveryDepthAreApart() {
        for (int depth = 1; depth <= 4096; depth += depth < 200 ? 1 : 97) {
            const auto layers = labelledLayers(depth, 304, 20);
            QCOMPARE(layers.back(), depth);
            int below = 0;
            for (const int layer : layers) {
                QVERIFY((layer - below) * 304.0 / depth >= 20);
                below = layer;
            }
            QVERIFY(layers.size() >= (depth < 4 ? std::size_t(1) : std::size_t(2)));
        }
    }
};

NORMSCOPE_TEST(RibbonTest)
#include "ribbon_shape_test.moc"
