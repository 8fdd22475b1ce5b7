// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/view_state.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"

#include <QtTest>

using namespace normscope::widgets;

class ViewStateTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void nothingChangesNothing() {
        const Figure figure = samples::gradients();
        const Figure same = applyViewState(figure, {});
        QCOMPARE(same.plots[0].y.scale, figure.plots[0].y.scale);
        QVERIFY(!same.plots[0].y.range);
    }

    void switchesAndZoomsAreApplied() {
        PlotViewState state{{{{Range{2, 5}, std::nullopt}, {std::nullopt, Scale::Linear}}}};
        const Figure shown = applyViewState(samples::gradients(), state);
        QCOMPARE(shown.plots[0].x.range, (std::optional<Range>(Range{2, 5})));
        QCOMPARE(shown.plots[0].y.scale, Scale::Linear);
        QCOMPARE(shown.plots[1].y.scale, Scale::Log);
    }

    void rangesThatALogAxisCannotShowAreDropped() {
        Figure figure = samples::losses();
        figure.plots[0].y.range = Range{-1, 6};
        const PlotViewState state{{{{}, {std::nullopt, Scale::Log}}}};
        QVERIFY(!applyViewState(figure, state).plots[0].y.range);
        const PlotViewState zoomed{{{{}, {Range{-2, 3}, Scale::Log}}}};
        QVERIFY(!applyViewState(figure, zoomed).plots[0].y.range);
    }

    void mapsKeepTheirCells() {
        const PlotViewState state{{{{Range{1, 2}, Scale::Log}, {}}}};
        const Figure shown = applyViewState(samples::theta(), state);
        QVERIFY(!shown.plots[0].x.range);
        QCOMPARE(shown.plots[0].x.scale, Scale::Linear);
    }

    void stackedPlotsOfOneAxisShareIt() {
        QCOMPARE(plotsSharingX(samples::gradients(), 1), (std::vector<std::size_t>{0, 1}));
        QCOMPARE(plotsSharingX(samples::theta(), 1), (std::vector<std::size_t>{1}));
    }
};

NORMSCOPE_TEST(ViewStateTest)
#include "view_state_test.moc"
