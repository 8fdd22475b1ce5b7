// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/decimate.h"

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
};

QTEST_GUILESS_MAIN(DecimateTest)
#include "decimate_test.moc"
