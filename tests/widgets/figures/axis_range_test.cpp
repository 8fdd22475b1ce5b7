// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/axis_range.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"

#include <QtTest>
#include <cmath>

using namespace normscope::widgets;

namespace {
Plot plotOf(std::vector<double> y, Scale scale = Scale::Linear) {
    Plot plot;
    std::vector<double> x;
    for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<double>(i));
    plot.y.scale = scale;
    plot.curves = {samples::curve("a", 0, x, std::move(y))};
    return plot;
}
constexpr double kInf = std::numeric_limits<double>::infinity();
}  // namespace

class AxisRangeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Noise is no cliff: a decade and a half, or a fifth of the largest magnitude, around the middle.
    void aNarrowRangeIsWidened() {
        const auto [low, high] = yRange(plotOf({0.99, 1.01}, Scale::Log));
        QVERIFY(std::abs(std::log10(high / low) - 1.5) < 1e-12);
        QVERIFY(std::abs(std::log10(high * low)) < 1e-3);
        const auto [wide_low, wide_high] = yRange(plotOf({1, 1000}, Scale::Log));
        QVERIFY(std::abs(std::log10(wide_low) + 0.15) < 1e-12 &&
                std::abs(std::log10(wide_high) - 3.15) < 1e-12);
        const auto [bottom, top] = yRange(plotOf({2.0, 2.01}));
        QVERIFY(std::abs(top - bottom - 0.2 * 2.0105) < 1e-3 && bottom < 2 && top > 2.01);
        QVERIFY(isUsable(yRange(plotOf({5e-324, 5e-324}, Scale::Log)), Scale::Log));
        QVERIFY(isUsable(yRange(plotOf({1e308, 1.1e308}, Scale::Log)), Scale::Log));
    }
    void anAxisShowsWhatItCovers() {
        Plot plot = plotOf({1, 100}, Scale::Log);
        plot.y.covers = {{1e-6, 10}};
        QVERIFY(yRange(plot).first < 1e-6 && yRange(plot).second > 100);
        QCOMPARE(yExtent(plot), std::optional(Range(1, 100)));
        plot.x.covers = {{0, 50}};
        QVERIFY(xRange(plot).second > 50 && xExtent(plot)->second < 50);
        QCOMPARE(yExtent(Plot()), std::nullopt);
    }
    void linearHasFivePercentMargin() { QCOMPARE(yRange(plotOf({0, 10})), Range(-0.5, 10.5)); }

    void logHasFivePercentOfItsDecades() {
        const auto [low, high] = yRange(plotOf({1, 100}, Scale::Log));
        QCOMPARE(low, std::pow(10.0, -0.1));
        QCOMPARE(high, std::pow(10.0, 2.1));
    }

    void badValuesDoNotCount() {
        QCOMPARE(yRange(plotOf({0, kNaN, kInf, -kInf, 10})), Range(-0.5, 10.5));
        const auto [low, high] = yRange(plotOf({0, -5, 1, 100}, Scale::Log));
        QCOMPARE(low, std::pow(10.0, -0.1));
        QVERIFY(high > 100 && high < 200);
    }

    void zeroSpanAndNothingAreWidened() {
        for (const auto& y : {std::vector<double>{3, 3}, {0}, {-1e300}, {kNaN}, {}}) {
            for (const Scale scale : {Scale::Linear, Scale::Log}) {
                const Range range = yRange(plotOf(y, scale));
                QVERIFY(isUsable(range, scale));
                if (!y.empty() && std::isfinite(y[0]) && (scale == Scale::Linear || y[0] > 0)) {
                    QVERIFY(range.first < y[0] && y[0] < range.second);
                }
            }
        }
    }

    void denormalAndHugeValuesStayUsable() {
        QVERIFY(isUsable(yRange(plotOf({5e-324, 1e308}, Scale::Log)), Scale::Log));
        QVERIFY(isUsable(yRange(plotOf({-1.7e308, 1.7e308})), Scale::Linear));
        QVERIFY(!isUsable({-1.7e308, 1.7e308}, Scale::Linear));
    }

    void farBoundsNeverDriveTheRange() {
        Plot plot = plotOf({1, 2}, Scale::Log);
        plot.curves.push_back(samples::curve("bound", 0, {0, 1}, {5, 3e9}));
        plot.curves.back().kind = LineKind::Bound;
        const auto [low, high] = yRange(plot);
        QVERIFY(high > 5 && high < 20);  // the least range, not the bound at 3e9
        plot.curves.back().kind = LineKind::Measured;
        QVERIFY(yRange(plot).second > 3e9);
    }

    void yFollowsAZoomInX() {
        const Plot plot = plotOf({0, 1, 2, 100});
        QVERIFY(yRange(plot, Range{0, 2}).second < 3);
        QVERIFY(yRange(plot).second > 100);
    }

    /// A bound counts where it is near and in sight, each of its points for itself.
    void aZoomedPlotTakesTheBoundOfItsOwnPart() {
        Plot plot = plotOf({1, 2, 3, 4});
        Curve bound = plot.curves[0];
        bound.kind = LineKind::Bound;
        bound.y = {1.5, 3.5, 5, 6.5};
        plot.curves.push_back(bound);
        QCOMPARE(yRange(plot), Range(1 - 0.05 * 5.5, 6.5 + 0.05 * 5.5));
        QCOMPARE(yRange(plot, Range{0, 1}),
                 Range(1 - 0.05 * 1, 2 + 0.05 * 1));  // 3.5 is more than the span away
        plot.curves[1].y = {1.5, 2.5, 5, 6.5};
        QCOMPARE(yRange(plot, Range{0, 1}), Range(1 - 0.05 * 1.5, 2.5 + 0.05 * 1.5));
        plot.curves[1].y = {1.5, 2.5, 2.75, 2.9};  // near in value, out of sight
        QCOMPARE(yRange(plot, Range{0, 1}), Range(1 - 0.05 * 1.5, 2.5 + 0.05 * 1.5));
    }

    void referencesPlateausStemsAndBandsCount() {
        Plot plot = plotOf({1, 2});
        plot.references = {{Qt::Horizontal, 7, ""}, {Qt::Vertical, 50, ""}};
        QVERIFY(yRange(plot).second > 7);
        QVERIFY(xRange(plot).second > 50);
        plot.plateaus = {{8, 9, "", {}}};
        QVERIFY(yRange(plot).second > 9);
        plot.bands = {{"", {}, {0}, {-4}, {20}, 0.2}};
        QVERIFY(yRange(plot).first < -4 && yRange(plot).second > 20);
        plot.stems = {{"", {}, {3}, {30}, 0}};
        QVERIFY(yRange(plot).second > 30);
    }

    /// A value counts for the range of an axis exactly where it has a pixel.
    void aScaleHasPlaceForWhatItCanShow() {
        for (const Scale scale : {Scale::Linear, Scale::Log, Scale::Log1p})
            for (const double v : {-kInf, -2.0, -1.0, -0.5, 0.0, 5e-324, 1.0, 1e308, kInf, kNaN}) {
                QCOMPARE(hasPlace(scale, v), std::isfinite(v) && std::isfinite(toEven(scale, v)));
                const AxisMap map{0.25, 16, scale, 10, 90};
                const PixelScale pixels(map);
                const double at = map.toPixel(v), same = pixels(v);
                QVERIFY(at == same || (std::isnan(at) && std::isnan(same)));
                if (hasPlace(scale, v)) QVERIFY(!std::isnan(at));
            }
    }

    void mapGoesThereAndBack() {
        for (const Scale scale : {Scale::Linear, Scale::Log}) {
            const AxisMap map{0.01, 100, scale, 300, 20};
            for (const double v : {0.01, 0.5, 1.0, 99.0})
                QVERIFY(std::abs(map.toValue(map.toPixel(v)) / v - 1) < 1e-9);
        }
        const AxisMap log{0.01, 100, Scale::Log, 0, 4};
        QVERIFY(std::abs(log.toPixel(1) - 2) < 1e-12);
        QVERIFY(std::isnan(log.toPixel(0)) && std::isnan(log.toPixel(-1)));
    }

    /// Even in log₂(1 + x): 0, 1, 3, 7 are equally far apart, and step 0 is on the axis.
    void stepsDoubleAlongTheirAxis() {
        const AxisMap map{0, 7, Scale::Log1p, 10, 310};
        for (const auto& [value, pixel] : {std::pair{0.0, 10.0}, {1.0, 110.0}, {3.0, 210.0}, {7.0, 310.0}}) {
            QVERIFY(std::abs(map.toPixel(value) - pixel) < 1e-9);
            QVERIFY(std::abs(map.toValue(pixel) - value) < 1e-9);
        }
        QVERIFY(std::isnan(map.toPixel(-1)));
        Plot plot;
        plot.x.scale = Scale::Log1p;
        plot.curves.push_back({});
        plot.curves[0].x = {0, 255};
        plot.curves[0].y = {1, 1};
        const Range range = xRange(plot);  // 8 doublings, 5 % more at each end
        QVERIFY(std::abs(range.first - (std::exp2(-0.4) - 1)) < 1e-9);
        QVERIFY(std::abs(range.second - (std::exp2(8.4) - 1)) < 1e-6);
        QVERIFY(isUsable(range, Scale::Log1p) && !isUsable({-1, 3}, Scale::Log1p));
    }
};

NORMSCOPE_TEST(AxisRangeTest)
#include "axis_range_test.moc"
