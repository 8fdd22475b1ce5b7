// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/decimate.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace normscope::widgets;

class DecimateTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void sparsePointsStay() {
        const QPolygonF points{{0, 1}, {1, 5}, {2, -3}, {7, 2}};
        const auto pieces = decimate(points, 1);
        QCOMPARE(pieces.size(), std::size_t(1));
        QCOMPARE(pieces[0], points);
    }

    void nonFinitePointsCut() {
        const double nan = std::numeric_limits<double>::quiet_NaN(),
                     inf = std::numeric_limits<double>::infinity();
        const QPolygonF points{{nan, 0}, {0, 1}, {1, 2}, {2, nan}, {3, inf}, {4, 1}, {5, nan}};
        const auto pieces = decimate(points, 1);
        QCOMPARE(pieces.size(), std::size_t(2));
        QCOMPARE(pieces[0], (QPolygonF{{0, 1}, {1, 2}}));
        QCOMPARE(pieces[1], (QPolygonF{{4, 1}}));
    }

    void nothingGivesNothing() { QVERIFY(decimate({}, 1).empty()); }

    /// On random walks with spikes: every column keeps its first, last, lowest and highest value, at most
    /// four points, and the result is a subsequence of the input.
    void noSpikeIsLost_data() {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 0; seed < 20; ++seed) QTest::addRow("seed %u", seed) << seed;
    }
    void noSpikeIsLost() {
        QFETCH(unsigned, seed);
        std::mt19937 random(seed);
        std::normal_distribution<double> noise;
        const int count = 5000;
        QPolygonF points;
        for (int i = 0; i < count; ++i) {
            const double spike = random() % 500 == 0 ? 1e6 * noise(random) : 0;
            points.append({300.0 * i / count, noise(random) + spike});
        }
        const auto pieces = decimate(points, 1);
        QCOMPARE(pieces.size(), std::size_t(1));
        std::map<int, std::vector<double>> before, after;
        for (const auto& p : points) before[static_cast<int>(p.x())].push_back(p.y());
        for (const auto& p : pieces[0]) after[static_cast<int>(p.x())].push_back(p.y());
        QCOMPARE(after.size(), before.size());
        for (const auto& [column, values] : before) {
            const auto& kept = after[column];
            QVERIFY(kept.size() <= 4);
            QCOMPARE(kept.front(), values.front());
            QCOMPARE(kept.back(), values.back());
            QCOMPARE(*std::max_element(kept.begin(), kept.end()),
                     *std::max_element(values.begin(), values.end()));
            QCOMPARE(*std::min_element(kept.begin(), kept.end()),
                     *std::min_element(values.begin(), values.end()));
        }
        auto at = points.begin();
        for (const auto& p : pieces[0]) {
            at = std::find(at, points.end(), p);
            QVERIFY(at != points.end());
            ++at;
        }
    }

    /// Every column from its lowest to its highest point, without a gap to its neighbours.
    void columnsCoverTheLine() {
        QPolygonF line;
        unsigned state = 1;
        for (int i = 0; i < 1000; ++i) {
            state = state * 1664525u + 1013904223u;
            line << QPointF(10.2 + i * 0.31, 50 + 40.0 * (state >> 8) / double(1u << 24));
        }
        line[500].setY(400);  // a spike
        const QVector<QLineF> columns = pixelColumns(line, 1, 1.5, {});
        QCOMPARE(columns.size(), qsizetype(std::floor(line.back().x()) - std::floor(line.front().x()) + 1));
        for (qsizetype i = 0; i < columns.size(); ++i) {
            const double x = std::floor(line.front().x()) + double(i) + 0.5;
            QCOMPARE(columns[i].x1(), x);
            QCOMPARE(columns[i].x2(), x);
            QVERIFY(columns[i].y2() - columns[i].y1() >= 1.5 - 1e-9);
            for (const QPointF& p : line)
                if (std::floor(p.x()) == x - 0.5)
                    QVERIFY(columns[i].y1() <= p.y() && p.y() <= columns[i].y2());
            if (i > 0)
                QVERIFY(columns[i].y1() <= columns[i - 1].y2() && columns[i - 1].y1() <= columns[i].y2());
        }
        QVERIFY(columns[qsizetype(std::floor(line[500].x()) - 10)].y2() >= 400);
    }

    void dashesAreAlongXAndHideNoSpike() {
        QPolygonF line;
        for (int i = 0; i < 100; ++i) line << QPointF(i, 20) << QPointF(i + 0.5, 20);
        QVERIFY(pixelColumns(line, 1, 1.5, {6, 4}).size() == 60);
        line[2 * 7].setY(90);  // in the gap from 6 to 10
        const QVector<QLineF> columns = pixelColumns(line, 1, 1.5, {6, 4});
        QVERIFY(std::any_of(columns.begin(), columns.end(), [](const QLineF& c) { return c.y2() >= 90; }));
    }
};

NORMSCOPE_TEST(DecimateTest)
#include "decimate_test.moc"
