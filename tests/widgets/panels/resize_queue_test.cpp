// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/resize_queue.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/plots/plot_view.h"

#include <QtTest>
#include <array>

using namespace normscope::widgets;

class ResizeQueueTest : public QObject {
    Q_OBJECT
    static constexpr QSize kSize{500, 350}, kSmaller{480, 340};
    normscope::test::WarningsFail warnings_;
    std::unique_ptr<ResizeQueue> queue_;
    std::array<std::unique_ptr<PlotView>, 2> views_;

    const PlotView& view(int i) { return *views_.at(static_cast<std::size_t>(i)); }
    QRectF area(int i) { return view(i).figureLayout().plots.at(0).area; }
    void resize(const QSize& size) {
        for (auto& view : views_) {
            view->resize(size);
            QCoreApplication::sendPostedEvents(view.get());
        }
    }

  private Q_SLOTS:
    void init() {
        queue_ = std::make_unique<ResizeQueue>();
        for (auto& view : views_) {
            view = std::make_unique<PlotView>();
            view->setResizedLater([this, plot = view.get()] { queue_->add(plot); });
            view->setFigure(std::make_shared<const Figure>(samples::losses()));
            view->resize(kSize);
            view->show();
            QVERIFY(QTest::qWaitForWindowExposed(view.get()));
            view->grab();
        }
    }
    void cleanup() {
        for (auto& view : views_) view.reset();
        queue_.reset();
        warnings_.check();
    }

    /// The event of the size lays out nothing; the loop's next turns do, one plot each, and the image
    /// follows.
    void plotsAreLaidOutOneAtATime() {
        const QRectF before = area(0);
        const QImage old = views_[0]->grab().toImage();
        resize(kSmaller);
        QCOMPARE(area(0), before);
        QCOMPARE(area(1), before);
        const QImage meanwhile = views_[0]->grab().toImage();
        QCOMPARE(meanwhile.copy(0, 0, 400, 300), old.copy(0, 0, 400, 300));
        QTRY_VERIFY(area(0) != before);
        QCOMPARE(area(1), before);  // its turn is the next one
        QTRY_VERIFY(area(1) != before);
        QCOMPARE(area(1), area(0));
        PlotView fresh;
        fresh.setFigure(view(0).figure());
        fresh.resize(kSmaller);
        fresh.show();
        QCOMPARE(views_[0]->grab().toImage(), fresh.grab().toImage());
    }

    /// The mouse, a key and a new figure act on the layout of the new size.
    void whatActsOnPlacesLaysOutFirst_data() {
        QTest::addColumn<int>("act");
        for (const auto& [name, act] : {std::pair{"press", 0}, {"move", 1}, {"key", 2}, {"figure", 3}})
            QTest::newRow(name) << act;
    }
    void whatActsOnPlacesLaysOutFirst() {
        QFETCH(int, act);
        const QRectF before = area(0);
        resize(kSmaller);
        QCOMPARE(area(0), before);
        PlotView& view = *views_[0];
        if (act == 0) QTest::mousePress(view.viewport(), Qt::LeftButton, {}, QPoint(200, 150));
        if (act == 1) {
            QMouseEvent move(QEvent::MouseMove, QPointF(200, 150), QPointF(200, 150), Qt::NoButton,
                             Qt::NoButton, {});
            QCoreApplication::sendEvent(view.viewport(), &move);
        }
        if (act == 2) QTest::keyClick(&view, Qt::Key_Right);
        if (act == 3) view.setFigure(std::make_shared<const Figure>(samples::losses()));
        QVERIFY(area(0) != before);
    }

    /// Maximising would show the old image in a corner: it is laid out at once.
    void aLargeChangeIsLaidOutAtOnce() {
        const QRectF before = area(0);
        resize(kSize * 2);
        QVERIFY(area(0) != before);
    }

    void aDeletedPlotAndAHiddenOneHaveNoTurn() {
        const QRectF before = area(1);
        resize(kSmaller);
        views_[0].reset();
        views_[1]->hide();
        QTest::qWait(50);
        QCOMPARE(area(1), before);
        views_[1]->show();
        QVERIFY(area(1) != before);
    }
};

NORMSCOPE_WIDGET_TEST(ResizeQueueTest)
#include "resize_queue_test.moc"
