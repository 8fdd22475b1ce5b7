// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/appearance_controller.h"
#include "app/window/runs/story_controller.h"
#include "core/recipe/presets.h"
#include "legibility.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/pulse.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/step_scrubber.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/story/story_strip.h"
#include "window_bench.h"

#include <QAbstractButton>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;
using widgets::KnobSlider;
using widgets::StepScrubber;

namespace {

constexpr int kMin = 24;  // px: 18 pt at 96 dpi

double textHeight(int px, QFont type) {
    type.setPixelSize(px);
    return QFontMetricsF(type).height();
}

/// The part of a widget inside the window is all of it, and none of these parts covers another.
void verifyApart(const QWidget& window, const QList<QWidget*>& parts) {
    for (qsizetype i = 0; i < parts.size(); ++i) {
        const QRect a(parts[i]->mapTo(&window, QPoint()), parts[i]->size());
        QVERIFY2(window.rect().contains(a), qPrintable(parts[i]->objectName()));
        for (qsizetype k = 0; k < i; ++k) {
            const QRect b(parts[k]->mapTo(&window, QPoint()), parts[k]->size());
            QVERIFY2(!a.intersects(b), qPrintable(parts[i]->objectName() + ' ' + parts[k]->objectName()));
        }
    }
}

}  // namespace

class PresentationWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    void onlyLargePartsAreShown_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("dark");
        QTest::newRow("1440 light") << QSize(1440, 900) << false;
        QTest::newRow("1440 dark") << QSize(1440, 900) << true;
        QTest::newRow("1920 light") << QSize(1920, 1080) << false;
    }
    void onlyLargePartsAreShown() {
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        WindowBench b;
        b.window->appearance()->setDark(dark);
        b.window->stories()->tell(QStringLiteral("collapse-of-post-ln"));
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        QVERIFY(b.window->isFullScreen());
        b.window->resize(size);
        test::settle();
        widgets::Presentation* presentation = b.window->views().presentation;
        QVERIFY(presentation->isOn());
        QCOMPARE(b.window->views().grid->visibleCells().size(), 1u);
        widgets::PanelCell* cell = b.window->views().grid->visibleCells()[0];
        QCOMPARE(cell->panel(), std::string("gradients"));
        for (const char* name :
             {"runStrip", "findingsBand", "stackView", "knobPanel", "transportBar", "sideRail"})
            QVERIFY2(!b.find<QWidget>(name)->isVisible(), name);
        auto* number = b.find<QLabel>("presentationStep");
        auto* headline = b.find<QLabel>("presentationHeadline");
        widgets::PresentationFoot* foot = presentation->foot();
        QCOMPARE(number->text(), QString("0"));
        QVERIFY(number->font().pixelSize() >= 96);
        QVERIFY(headline->font().pixelSize() >= 32);
        QVERIFY2(headline->text().startsWith("At step 0, layer 1 of "), qPrintable(headline->text()));
        for (QWidget* part : std::initializer_list<QWidget*>{foot->train(), foot->scrubber()})
            QVERIFY(part->isVisible());
        for (const char* key : {"stack.residual_step", "stack.temperature", "stack.depth", "optimizer.lr"})
            QVERIFY2(foot->slider(key)->isVisible(), key);
        verifyApart(*b.window, {b.window->views().story, presentation->head(), cell, foot});
        verifyApart(*foot, {foot->train(), foot->scrubber(), foot->slider("stack.residual_step"),
                            foot->slider("stack.temperature"), foot->slider("stack.depth")});

        // Every text of labels and buttons has 24 px (18 pt at 96 dpi) and fits.
        int texts = 0;
        for (const QLabel* label : b.window->findChildren<QLabel*>()) {
            if (!label->isVisible() || label->text().isEmpty()) continue;
            ++texts;
            const QFontMetrics metrics(label->font());
            QVERIFY2(label->font().pixelSize() >= kMin, qPrintable(label->text()));
            const QSize wanted =
                label->wordWrap() || label->text().contains('\n')
                    ? metrics
                          .boundingRect(QRect(0, 0, label->width(), 10000), Qt::TextWordWrap, label->text())
                          .size()
                    : QSize(metrics.horizontalAdvance(label->text()),
                            metrics.tightBoundingRect(label->text()).height());
            QVERIFY2(wanted.width() <= label->width() + 1 && wanted.height() <= label->height() + 1,
                     qPrintable(label->text()));
        }
        QVERIFY(texts >= 10);
        for (const QAbstractButton* button : b.window->findChildren<QAbstractButton*>())
            if (button->isVisible() && !button->text().isEmpty())
                QVERIFY2(button->font().pixelSize() >= kMin, qPrintable(button->text()));
        // And every text of the plot; curves of 3 px.
        const double line = textHeight(kMin, b.window->font());
        int drawn = 0;
        for (const widgets::PlotLayout& plot : cell->plot()->figureLayout().plots) {
            for (const widgets::TextShape& text : plot.texts) {
                QVERIFY2(text.rect.height() >= line - 1, qPrintable(text.text));
                ++drawn;
            }
            for (const widgets::TickShape& tick : plot.x_ticks)
                if (!tick.label_rect.isNull()) QVERIFY(tick.label_rect.height() >= line - 1);
        }
        QVERIFY(drawn >= 4);
        QCOMPARE(cell->plot()->figureLayout().plots[0].curves[0].width, 3.0);
        const QStringList faults = test::illegible(*b.window);
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join('\n')));
        b.keepScreenshot(QString("presentation %1 %2").arg(size.width()).arg(dark ? "dark" : "light"));
    }

    void arrowsStepThroughTraining() {
        WindowBench b;
        b.makeSmall(30);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        const StepScrubber* scrubber = b.window->views().presentation->foot()->scrubber();
        QTRY_COMPARE(scrubber->step(), 29);
        auto* number = b.find<QLabel>("presentationStep");
        const auto focused = [&] {
            return QApplication::focusWidget() ? QApplication::focusWidget() : b.window.get();
        };
        // From the plot too, whose own keys move a crosshair.
        b.window->views().grid->visibleCells()[0]->plot()->setFocus();
        const qint64 before = scrubber->measuredNeighbour(29, -1);
        QVERIFY(before < 29);
        QTest::keyClick(focused(), Qt::Key_Left);
        QTRY_COMPARE(scrubber->step(), before);
        QCOMPARE(b.lab().view().step(), before);
        QCOMPARE(number->text(), QString::number(before));
        QTest::keyClick(focused(), Qt::Key_Right);
        QTRY_COMPARE(scrubber->step(), 29);
        QTRY_COMPARE(number->text(), QString("29"));
    }

    void itsKnobsAndTrainButtonActOnTheRuns() {
        WindowBench b;
        b.makeSmall(30);
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        widgets::PresentationFoot* foot = b.window->views().presentation->foot();
        KnobSlider* slider = foot->slider("stack.residual_step");
        const QPoint from = slider->thumb().toPoint();
        QTest::mousePress(slider, Qt::LeftButton, {}, from);
        QTest::mouseMove(slider, from - QPoint(60, 0));
        QTest::mouseRelease(slider, Qt::LeftButton, {}, from - QPoint(60, 0));
        QVERIFY(slider->value() < 1);
        for (const LabRun& run : b.lab().comparison().runs)
            QCOMPARE(run.recipe.stack.residual_step, slider->value());
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        // A slider with the focus keeps its arrows.
        slider->setFocus();
        const double value = slider->value();
        QTest::keyClick(slider, Qt::Key_Right);
        QVERIFY(slider->value() > value);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, slider->value());

        QTest::mouseClick(foot->train(), Qt::LeftButton);
        QVERIFY(b.lab().training().playing());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(0).steps.rows(), 30u);
    }

    void theValueThatAStoryAsksForCatchesTheThumb() {
        WindowBench b;
        b.window->stories()->tell(QStringLiteral("turn-it-down"));
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        KnobSlider* slider = b.window->views().presentation->foot()->slider("stack.residual_step");
        slider->setValue(0.2);
        const QPoint there = slider->thumb().toPoint() - QPoint(3, 0);
        slider->setValue(1);
        const auto drag = [&] {
            QTest::mousePress(slider, Qt::LeftButton, {}, slider->thumb().toPoint());
            QTest::mouseMove(slider, there);
            QTest::mouseRelease(slider, Qt::LeftButton, {}, there);
        };
        drag();
        QVERIFY(slider->value() != 0.2);
        b.lab().runs().undoStack()->undo();
        QTRY_COMPARE(slider->value(), 1.0);
        b.window->views().story->moveTo(2);
        drag();
        QCOMPARE(slider->value(), 0.2);
        QCOMPARE(b.lab().comparison().runs[1].recipe.stack.residual_step, 0.2);
    }

    void leavingRestoresTheWindow() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const auto visible = [&] {
            QSet<const QWidget*> all;
            for (const QWidget* widget : b.window->findChildren<QWidget*>())
                if (widget->isVisible() && widget->objectName() != "tools" &&
                    widget->parentWidget()->objectName() != "tools")  // they follow the mouse
                    all << widget;
            return all;
        };
        widgets::PanelCell* cell = b.cell("training");
        cell->plot()->setFocus();
        const auto before = visible();
        const QSize size = b.window->size();
        const auto tick = [cell] { return cell->plot()->figureLayout().plots[0].y_ticks[0].label_rect; };
        const QRectF text = tick();
        for (const Qt::Key key : {Qt::Key_Escape, Qt::Key_F11}) {
            QTest::keyClick(b.window.get(), Qt::Key_F11);
            QVERIFY(b.window->views().presentation->isOn());
            QCOMPARE(b.window->views().grid->visibleCells(), std::vector<widgets::PanelCell*>{cell});
            test::settle();
            QTest::keyClick(b.window.get(), key);
            QVERIFY(!b.window->views().presentation->isOn());
            QVERIFY(!b.window->isFullScreen());
            QTRY_COMPARE(b.window->size(), size);
            test::settle();
            QCOMPARE(visible(), before);
            QCOMPARE(b.window->views().grid->focusedCell(), -1);
            QCOMPARE(tick(), text);
            QCOMPARE(b.find<QLabel>("storyText")->font().pixelSize(), 12);
            QVERIFY(cell->plot()->hasFocus());
        }
    }

    void noPageOfAStoryIsClipped_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<bool>("presenting");
        QTest::newRow("small window") << 1100 << false;
        QTest::newRow("window") << 1440 << false;
        QTest::newRow("presentation") << 1440 << true;
        QTest::newRow("large presentation") << 1920 << true;
    }
    void noPageOfAStoryIsClipped() {
        QFETCH(int, width);
        QFETCH(bool, presenting);
        WindowBench b;
        if (presenting) QTest::keyClick(b.window.get(), Qt::Key_F11);
        b.window->resize(width, 900);
        for (const Preset& file : stories()) {
            b.window->stories()->tell(QString::fromLatin1(file.name));
            test::settle();
            widgets::StoryStrip* strip = b.window->views().story;
            const int height = strip->height();
            QVERIFY(height < (presenting ? 170 : 90));
            for (std::size_t page = 0; page < strip->story()->steps.size(); ++page) {
                strip->moveTo(page);
                QTest::qWait(20);
                QCOMPARE(strip->height(), height);
                for (const char* name : {"storyTitle", "storyText", "storyExpectation"}) {
                    const auto* label = b.find<QLabel>(name);
                    if (!label->isVisible()) continue;
                    const QRect wanted = QFontMetrics(label->font())
                                             .boundingRect(QRect(0, 0, label->width(), 10000),
                                                           Qt::TextWordWrap, label->text());
                    QVERIFY2(wanted.height() <= label->height() && wanted.width() <= label->width() + 1,
                             qPrintable(label->text()));
                }
            }
        }
    }

    void aStatementThatIsFalseHereIsReportedAsSuch() {
        WindowBench b;
        b.window->stories()->tell(QStringLiteral("collapse-of-post-ln"));
        b.lab().knobs().commitKey("optimizer.lr", 3e-5);  // nothing collapses, and nothing learns
        b.makeSmall(20);
        b.window->views().story->moveTo(1);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QTRY_VERIFY(b.find<QLabel>("storyExpectation")->text().endsWith("Does not hold here."));
        QVERIFY(b.find<QLabel>("storyExpectation")->toolTip().contains("stated < 2.2"));
    }

    /// The words of its act are not cut at their end.
    void theButtonsWordsFit() {
        WindowBench b;
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        const auto* train = b.find<QPushButton>("presentationTrain");
        constexpr int kGlyph = 64;  // what is left of the words
        for (const char* act :
             {"Train", "Start again", "200 more steps", "Start 2 new runs", "Resume 6 runs"})
            QVERIFY2(train->fontMetrics().horizontalAdvance(QString(act)) <= train->width() - kGlyph - 6,
                     act);
    }
};

NORMSCOPE_WIDGET_TEST(PresentationWindowTest)
#include "presentation_window_test.moc"
