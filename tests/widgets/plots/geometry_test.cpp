// SPDX-License-Identifier: GPL-3.0-or-later
// Clipping, dashes, hatching and the spreading of labels: the geometry of the plots.
#include "tests/support/test_main.h"
#include "widgets/plots/geometry/clip.h"
#include "widgets/plots/geometry/label_spread.h"

#include <QtTest>
#include <random>

using namespace normscope::widgets;

class GeometryTest : public QObject {
    Q_OBJECT
    const QRectF box_{0, 0, 10, 10};

  private Q_SLOTS:
    void lineThroughTheBoxIsCutAtBothSides() {
        const auto part = clipLine({-10, 5, 20, 5}, box_);
        QVERIFY(part);
        QCOMPARE(*part, QLineF(0, 5, 10, 5));
        QVERIFY(!clipLine({-10, -1, 20, -1}, box_));
        QVERIFY(!clipLine({-5, 4, 4, -5}, box_));  // passes the corner outside
    }

    void farPointsKeepTheSlope() {
        const auto part = clipLine({0, 5, 1e12, 5 - 1e12}, box_);
        QVERIFY(part);
        QVERIFY(std::abs(part->p2().x() - 5) < 1e-3 && std::abs(part->p2().y()) < 1e-3);
    }

    void polylineLeavesAndComesBack() {
        const auto pieces = clipPolyline({{1, 1}, {5, 20}, {9, 1}, {9, 2}}, box_);
        QCOMPARE(pieces.size(), std::size_t(2));
        QCOMPARE(pieces[0].front(), QPointF(1, 1));
        QCOMPARE(pieces[0].back().y(), 10.0);
        QCOMPARE(pieces[1].size(), qsizetype(3));
        QCOMPARE(pieces[1].back(), QPointF(9, 2));
    }

    void polygonIsCutToTheBox() {
        const QPolygonF cut = clipPolygon({{-5, -5}, {15, -5}, {15, 5}, {-5, 5}}, box_);
        QCOMPARE(cut.boundingRect(), QRectF(0, 0, 10, 5));
        QVERIFY(clipPolygon({{20, 0}, {30, 0}, {30, 9}}, box_).isEmpty());
    }

    void dashesCoverTheirShareAndContinueRoundCorners() {
        const auto lines = dashes({{0, 0}, {5, 0}, {5, 95}}, {3, 1});
        double drawn = 0;
        for (const auto& line : lines) drawn += line.length();
        QCOMPARE(drawn, 75.0);
        // The second dash begins at 4, passes the corner at 5 and ends 2 further down.
        QCOMPARE(lines[1], QLineF(4, 0, 5, 0));
        QCOMPARE(lines[2], QLineF(5, 0, 5, 2));
        QCOMPARE(dashes({{0, 0}, {5, 0}, {5, 5}}, {}).size(), qsizetype(2));
    }

    void hatchStaysInside() {
        const auto lines = hatch({3, 4, 20, 8}, 5);
        QVERIFY(lines.size() >= 5);
        for (const auto& line : lines) {
            QVERIFY(QRectF(3, 4, 20, 8).adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(line.p1()));
            QVERIFY(QRectF(3, 4, 20, 8).adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(line.p2()));
        }
        QVERIFY(hatch({}, 5).isEmpty());
    }

    void freeLabelsStayWhereTheyWantToBe() {
        QCOMPARE(spreadLabels({50, 10, 30}, 10, 0, 100), (std::vector<double>{50, 10, 30}));
    }

    void touchingLabelsShareThePush() {
        QCOMPARE(spreadLabels({50, 50}, 10, 0, 100), (std::vector<double>{45, 55}));
    }

    void labelsNeverOverlapNorLeave_data() {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 0; seed < 20; ++seed) QTest::addRow("seed %u", seed) << seed;
    }
    void labelsNeverOverlapNorLeave() {
        QFETCH(unsigned, seed);
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> where(-20, 120);
        std::vector<double> wanted(1 + random() % 10);
        for (double& w : wanted) w = where(random);
        auto at = spreadLabels(wanted, 10, 0, 100);
        std::sort(at.begin(), at.end());
        QVERIFY(at.front() >= 5 - 1e-9 && at.back() <= 95 + 1e-9);
        for (std::size_t i = 1; i < at.size(); ++i) QVERIFY(at[i] - at[i - 1] >= 10 - 1e-9);
    }
};

NORMSCOPE_TEST(GeometryTest)
#include "geometry_test.moc"
