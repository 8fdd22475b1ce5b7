// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_view.h"

#include "tests/support/test_main.h"
#include "tests/widgets/paints.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"

#include <QClipboard>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest>

using namespace normscope::widgets;
using normscope::test::Paints;

class PlotViewTest : public QObject {
    Q_OBJECT
    normscope::test::WarningsFail warnings_;
    std::unique_ptr<PlotView> view_;

    void show(Figure figure) { view_->setFigure(std::make_shared<const Figure>(std::move(figure))); }
    const PlotLayout& plot(std::size_t i = 0) const { return view_->figureLayout().plots.at(i); }
    QPoint at(double x, double y, std::size_t i = 0) const {
        return QPointF(plot(i).x.toPixel(x), plot(i).y.toPixel(y)).toPoint();
    }
    void drag(const QPoint& from, const QPoint& to) {
        QTest::mousePress(view_->viewport(), Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, QPointF(to), view_->viewport()->mapToGlobal(QPointF(to)),
                         Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(view_->viewport(), &move);
        QTest::mouseRelease(view_->viewport(), Qt::LeftButton, {}, to);
    }
    void hover(const QPoint& to) {
        QMouseEvent move(QEvent::MouseMove, QPointF(to), view_->viewport()->mapToGlobal(QPointF(to)),
                         Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(view_->viewport(), &move);
    }

  private Q_SLOTS:
    void init() {
        view_ = std::make_unique<PlotView>();
        view_->resize(500, 350);
        show(samples::losses());
        view_->show();
        QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    }
    void cleanup() {
        view_.reset();
        warnings_.check();
    }

    /// Longer names at the line ends make the plot area narrower while all ranges stay: the frame goes with
    /// it.
    void theFrameMovesWithThePlotArea() {
        Figure figure = samples::gradients();
        show(figure);
        view_->grab();
        const double before = plot().area.right();
        for (Curve& curve : figure.plots[0].curves) curve.name += " (seed 42)";
        show(figure);
        const QPoint corner = plot().area.bottomRight().toPoint();
        QVERIFY(corner.x() < before - 20);
        const QImage image = view_->grab().toImage();
        const auto onAxis = [&](int x) {
            bool line = false;
            for (int y = corner.y() - 1; y <= corner.y() + 1; ++y)
                line = line || image.pixelColor(x, y).lightness() < 200;
            return line;
        };
        QVERIFY(onAxis(corner.x() - 6));
        QVERIFY(!onAxis(corner.x() + 6));
    }

    /// Every kind of figure, in every theme: an image with more than one colour, frames where the layout
    /// places them.
    void paintsEveryFigure() {
        for (const auto kind : {Theme::Kind::Light, Theme::Kind::Dark, Theme::Kind::Print}) {
            view_->setTheme(Theme::make(kind));
            for (const Figure& f :
                 {samples::gradients(), samples::losses(), samples::spectra(), samples::theta(),
                  samples::sites(), samples::layersOverSteps(), Figure()}) {
                show(f);
                const QImage image = view_->grab().toImage();
                QCOMPARE(image.size(), QSize(500, 350));
                if (f.plots.empty()) continue;
                QSet<QRgb> colours;
                for (int y = 0; y < image.height(); y += 2) {
                    for (int x = 0; x < image.width(); x += 2) colours.insert(image.pixel(x, y));
                }
                QVERIFY(colours.size() > 10);
                if (!f.plots[0].maps.empty()) continue;
                // The axis line of the first plot, drawn by Qt Charts, at the left of our plot area.
                const QPoint corner = plot().area.bottomLeft().toPoint();
                bool line = true;
                for (int y = corner.y() - 20; y < corner.y() - 5; ++y) {
                    bool here = false;
                    for (int x = corner.x() - 1; x <= corner.x() + 1; ++x)
                        here = here || image.pixel(x, y) != Theme::make(kind).background.rgb();
                    line = line && here;
                }
                QVERIFY2(line, qPrintable(f.panel));
            }
        }
    }

    void namesItselfForScreenReaders() {
        Figure f = samples::gradients();
        show(f);
        QCOMPARE(view_->accessibleName(), f.title);
        QCOMPARE(view_->accessibleDescription(), f.summary);
    }

    void yTogglesLogAndBack() {
        const QSignalSpy changed(view_.get(), &PlotView::viewStateChanged);
        QCOMPARE(plot().y.scale, Scale::Linear);
        QTest::keyClick(view_.get(), Qt::Key_Y);
        QCOMPARE(plot().y.scale, Scale::Log);
        QCOMPARE(view_->viewState().plots.at(0).y.scale, std::optional(Scale::Log));
        QTest::keyClick(view_.get(), Qt::Key_Y);
        QCOMPARE(plot().y.scale, Scale::Linear);
        QCOMPARE(changed.count(), 2);
    }

    void xTogglesLogForAllThatShareIt() {
        show(samples::gradients());
        QTest::keyClick(view_.get(), Qt::Key_X);
        QCOMPARE(plot(0).x.scale, Scale::Log);
        QCOMPARE(plot(1).x.scale, Scale::Log);
        QVERIFY(plot(0).curves[0].dots.size() <
                qsizetype(samples::gradients().plots[0].curves[0].x.size()));  // x = 0 is not shown
    }

    void boxZoomStaysWhenDataComeAndResets() {
        drag(at(50, 4), at(150, 2));
        const Range x = *view_->viewState().plots.at(0).x.range, y = *view_->viewState().plots.at(0).y.range;
        QVERIFY(std::abs(x.first - 50) < 1 && std::abs(x.second - 150) < 1);
        QVERIFY(std::abs(y.first - 2) < 0.05 && std::abs(y.second - 4) < 0.05);
        Figure more = samples::losses();
        more.plots[0].curves[0].y[5] = 1000;
        show(more);
        QCOMPARE(plot().y.high, y.second);
        QTest::mouseDClick(view_->viewport(), Qt::LeftButton, {}, plot().area.center().toPoint());
        QVERIFY(view_->viewState() == PlotViewState());
        QVERIFY(plot().y.high > 1000);
    }

    void aFlatDragZoomsOneAxis() {
        const QPoint from = at(50, 3);
        drag(from, QPoint(at(150, 3).x(), from.y() + 3));
        QVERIFY(view_->viewState().plots.at(0).x.range);
        QVERIFY(!view_->viewState().plots.at(0).y.range);
    }

    void aClickZoomsNothing() {
        QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, plot().area.center().toPoint());
        QVERIFY(view_->viewState() == PlotViewState());
    }

    void wheelZoomsOnlyWithControl() {
        const QPointF where = plot().area.center();
        const auto wheel = [&](Qt::KeyboardModifiers modifiers) {
            QWheelEvent event(where, view_->viewport()->mapToGlobal(where), {}, {0, 120}, Qt::NoButton,
                              modifiers, Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(view_->viewport(), &event);
            return event.isAccepted();
        };
        QVERIFY(!wheel(Qt::NoModifier));
        QVERIFY(view_->viewState() == PlotViewState());
        const double width = plot().x.high - plot().x.low, fixed = plot().x.toValue(where.x());
        QVERIFY(wheel(Qt::ControlModifier));
        QVERIFY(std::abs((plot().x.high - plot().x.low) / (width / 1.25) - 1) < 1e-9);
        QVERIFY(std::abs(plot().x.toValue(where.x()) - fixed) < 1e-6);
        for (int i = 0; i < 300; ++i) wheel(Qt::ControlModifier);  // zooming in is limited
        view_->grab();
    }

    void frozenAxesStayAndFollowAtRelease() {
        const double high = plot().y.high;
        view_->setAxesFrozen(true);
        Figure tall = samples::losses();
        tall.plots[0].curves[0].y[3] = 500;
        show(tall);
        QCOMPARE(plot().y.high, high);
        view_->setAxesFrozen(false);
        QVERIFY(plot().y.high > 500);
    }

    void hoverShowsLeavesAndCopies() {
        const QSignalSpy hovered(view_.get(), &PlotView::hovered), left(view_.get(), &PlotView::left);
        hover(at(100, 3));
        QCOMPARE(hovered.count(), 1);
        QCOMPARE(hovered[0][0].value<HoverPoint>().x, 100.0);
        QVERIFY(view_->hoverText().startsWith("step 100"));
        QTest::keyClick(view_.get(), Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), view_->hoverText());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(view_->viewport(), &leave);
        QCOMPARE(left.count(), 1);
        QVERIFY(view_->hoverText().isEmpty());
    }

    void theCardLivesWhileTheMouseRests() {
        hover(at(100, 3));
        Figure next = samples::losses();
        next.plots[0].curves[0].y[100] = 2.71828;
        show(next);
        QVERIFY2(view_->hoverText().contains("Pre-LN  2.718 nat"), qPrintable(view_->hoverText()));
    }

    void aPlaceThatIsGoneIsLeft() {
        show(samples::gradients());
        const QSignalSpy left(view_.get(), &PlotView::left);
        hover(plot(1).area.center().toPoint());
        show(samples::losses());  // one plot only; the mouse may now be over it or next to it
        QTest::keyClick(view_.get(), Qt::Key_Y);
        show(Figure());
        QCOMPARE(left.count(), 1);
        QVERIFY(view_->hoverText().isEmpty());
        QTest::keyClick(view_.get(), Qt::Key_X);
        QTest::keyClick(view_.get(), Qt::Key_Right);
    }

    void arrowKeysMoveTheCrosshair() {
        QTest::keyClick(view_.get(), Qt::Key_Right);
        QVERIFY(view_->hoverText().startsWith("step 0"));
        QTest::keyClick(view_.get(), Qt::Key_Right);
        QVERIFY(view_->hoverText().startsWith("step 1"));
        QTest::keyClick(view_.get(), Qt::Key_Left);
        QVERIFY(view_->hoverText().startsWith("step 0"));
    }

    void linkedCrosshairIsDrawn() {
        const QImage before = view_->grab().toImage();
        view_->setCrosshair(100);
        const QImage with = view_->grab().toImage();
        const int x = static_cast<int>(plot().x.toPixel(100));
        int changed = 0;
        for (int y = 0; y < with.height(); ++y)
            changed +=
                with.pixel(x, y) != before.pixel(x, y) || with.pixel(x - 1, y) != before.pixel(x - 1, y);
        QVERIFY(changed > plot().area.height() / 2);
        view_->setCrosshair(std::nullopt);
        QCOMPARE(view_->grab().toImage(), before);
    }

    void theCrosshairIsPaintedOverTheKeptFigure() {
        const QImage before = view_->grab().toImage();
        view_->setCrosshair(50);
        const QImage with = view_->grab().toImage();
        QVERIFY(with != before);
        view_->setCrosshair(60);
        QVERIFY(view_->grab().toImage() != with);
        view_->setCrosshair(std::nullopt);
        QCOMPARE(view_->grab().toImage(), before);
        show(samples::gradients());
        QVERIFY(view_->grab().toImage() != before);
    }

    /// A choice freezes the axes for the moment of the edit: no reason to lay out and paint a figure.
    void axesFrozenForNothingChangeNothing() {
        Paints paints(view_->viewport(), false);
        view_->setAxesFrozen(true);
        view_->setAxesFrozen(false);
        QCOMPARE(paints.painted().join(u' '), QString());
    }

    void cellsAreClicked() {
        show(samples::theta());
        const QSignalSpy clicked(view_.get(), &PlotView::cellClicked);
        QTest::mouseClick(view_->viewport(), Qt::LeftButton, {}, at(2.5, 7.5, 1));
        QCOMPARE(clicked.count(), 1);
        QCOMPARE(clicked[0], QList<QVariant>({7, 2, 1}));
    }

    void asksForHelpAndFocus() {
        const QSignalSpy help(view_.get(), &PlotView::helpRequested),
            focus(view_.get(), &PlotView::focusRequested);
        QTest::keyClick(view_.get(), Qt::Key_Question, Qt::ShiftModifier);
        QCOMPARE(help.count(), 1);
        QTest::mouseDClick(view_->viewport(), Qt::LeftButton, {}, QPoint(30, 8));
        QTest::keyClick(view_.get(), Qt::Key_F);
        QCOMPARE(focus.count(), 2);
    }

    void otherKeysAreLeftToTheWindow() {
        QKeyEvent space(QEvent::KeyPress, Qt::Key_Space, Qt::NoModifier, " ");
        space.accept();
        QCoreApplication::sendEvent(view_.get(), &space);
        QVERIFY(!space.isAccepted());
    }

    void aStateOfASessionComesBack() {
        const PlotViewState state{{{{Range{20, 80}, std::nullopt}, {std::nullopt, Scale::Log}}}};
        view_->setViewState(state);
        QCOMPARE(plot().x.low, 20.0);
        QCOMPARE(plot().x.high, 80.0);
        QCOMPARE(plot().y.scale, Scale::Log);
    }

    void aHiddenViewWaitsUntilItIsShown() {
        view_->hide();
        show(samples::gradients());
        QCOMPARE(view_->figureLayout().plots.size(), std::size_t(1));
        view_->show();
        QCOMPARE(view_->figureLayout().plots.size(), std::size_t(2));
    }
};

NORMSCOPE_WIDGET_TEST(PlotViewTest)
#include "plot_view_test.moc"
