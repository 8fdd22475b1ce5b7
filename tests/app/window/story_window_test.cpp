// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/story_controller.h"
#include "core/recipe/presets.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/pulse.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/findings/findings_band.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_row.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/runs/run_strip.h"
#include "widgets/story/story_strip.h"
#include "window_bench.h"

#include <QLabel>
#include <QMenu>
#include <QTextDocument>
#include <QToolButton>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class StoryWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyPageNamesAPanelThatExists() {
        int pages = 0;
        for (const Preset& file : stories())
            for (const StoryStep& step : read_story(file.name, file.json).steps) {
                if (step.panel.empty()) continue;
                ++pages;
                const auto& all = widgets::panels();
                const auto panel =
                    std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.id == step.panel; });
                QVERIFY2(panel != all.end(), step.panel.c_str());
                for (const auto& [name, value] : step.options) {
                    const auto option = std::find_if(panel->options.begin(), panel->options.end(),
                                                     [&](const auto& o) { return o.key == name; });
                    QVERIFY2(option != panel->options.end(), name.c_str());
                    QVERIFY2(std::count(option->values.begin(), option->values.end(), value) == 1,
                             value.c_str());
                }
            }
        QVERIFY(pages > 40);
    }

    void aStoryPutsItsRunsSideBySideAndIsUndone() {
        WindowBench b;
        const Story shown = read_story(stories()[1].name, stories()[1].json);
        const std::string before = b.lab().comparison().runs[0].id;
        Q_EMIT b.find<widgets::RunStrip>("runStrip")->storyChosen(QString::fromLatin1(stories()[1].name));
        QCOMPARE(b.lab().comparison().runs.size(), shown.runs.size());
        for (std::size_t i = 0; i < shown.runs.size(); ++i)
            QCOMPARE(recipe_json(b.lab().comparison().runs[i].recipe, -1),
                     recipe_json(shown.runs[i].recipe, -1));
        widgets::StoryStrip* strip = b.window->views().story;
        QVERIFY(strip->isVisible());
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().comparison().runs[0].id, before);
    }

    void itsSentencesAreReadBackAndForth() {
        WindowBench b;
        b.window->stories()->tell(QString::fromLatin1(stories()[0].name));
        widgets::StoryStrip* strip = b.window->views().story;
        const auto text = [strip] { return strip->findChild<QLabel*>("storyText")->text(); };
        const Story& story = *strip->story();
        QCOMPARE(text(), QString::fromStdString(story.steps[0].text));
        QVERIFY(!strip->findChild<QToolButton*>("storyBack")->isEnabled());
        for (std::size_t i = 1; i < story.steps.size(); ++i) {
            QTest::mouseClick(strip->findChild<QToolButton*>("storyNext"), Qt::LeftButton);
            QCOMPARE(text(), QString::fromStdString(story.steps[i].text));
        }
        QVERIFY(!strip->findChild<QToolButton*>("storyNext")->isEnabled());
        strip->previous();
        QCOMPARE(strip->at(), story.steps.size() - 2);
        QTest::mouseClick(strip->findChild<QToolButton*>("storyClose"), Qt::LeftButton);
        QVERIFY(!strip->isVisible());
        QCOMPARE(b.lab().comparison().runs.size(), story.runs.size());  // the runs are kept
    }

    void theControlThatIsAskedForPulses() {
        WindowBench b;
        const auto* pulse = b.find<widgets::Pulse>("storyPulse");
        b.window->stories()->tell(QStringLiteral("collapse-of-post-ln"));
        QVERIFY(!pulse->isVisible());  // a page to read
        QTest::keyClick(b.window.get(), Qt::Key_Right, Qt::AltModifier);
        QVERIFY(pulse->isVisible());
        QCOMPARE(pulse->target(), b.find<QWidget>("transportBar")->findChild<QWidget*>("playButton"));
        const QRect rings(pulse->mapTo(b.window.get(), QPoint()), pulse->size());
        QVERIFY((rings.center() - pulse->target()->mapTo(b.window.get(), pulse->target()->rect().center()))
                    .manhattanLength() <= 4);
        QCOMPARE(b.window->childAt(rings.center()), pulse->target());  // a click goes to the control
        b.window->views().story->moveTo(4);
        const auto* row = b.find<widgets::KnobPanel>("knobPanel")->row("stack.residual_step");
        QCOMPARE(pulse->target(), static_cast<QWidget*>(row->findChild<widgets::KnobSlider*>()));
        b.lab().knobs().commitKey("stack.residual_step", 0.2);
        QTRY_COMPARE(pulse->target(), b.find<QWidget>("transportBar")->findChild<QWidget*>("playButton"));
        b.window->views().story->end();
        QVERIFY(!pulse->isVisible());
    }

    /// A reader who turns the page while it trains: the training still pauses where the page before asks for
    /// it.
    void turningThePageKeepsThePauseOfATraining() {
        WindowBench b;
        b.window->stories()->tell(QStringLiteral("turn-it-down"));
        widgets::StoryStrip* strip = b.window->views().story;
        const Story& story = *strip->story();
        std::size_t page = 0;
        std::optional<std::int64_t> until;
        for (std::size_t i = 0; i + 1 < story.steps.size() && !until; ++i)
            for (const StoryAction& action : story.steps[i].actions)
                if (action.kind == StoryAction::Kind::Train && action.until) {
                    page = i;
                    until = action.until;
                }
        QVERIFY(until);
        strip->moveTo(page);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().lastStep() >= 0, 60000);
        QVERIFY(b.lab().comparison().lastStep() < *until);
        strip->moveTo(page + 1);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().training().playing(), 60000);
        QVERIFY(b.lab().comparison().anyTraining());
        QVERIFY(b.lab().comparison().lastStep() < *until + 20);
    }

    /// A failed run has the longest text, and three runs the narrowest columns: no text is clipped.
    void nothingOfTheBandIsCutOff() {
        WindowBench b;
        b.lab().knobs().commitKey("optimizer.lr", 3.0);  // a rate at which nothing learns
        b.makeSmall(40);
        auto* band = b.find<widgets::FindingsBand>("findingsBand");
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QTRY_VERIFY(!band->columns()[0]->content().headline.title.empty());
        for (const int width : {1000, 1440, 1920}) {
            b.window->resize(width, 900);
            test::settle();
            b.keepScreenshot(QStringLiteral("band-failed-%1").arg(width));
            for (const widgets::FindingsColumn* column : band->columns()) {
                const auto* label = column->findChild<QLabel*>();
                QVERIFY(label->isVisible());  // both have failed
                QTextDocument page;
                page.setDefaultFont(label->font());
                page.setDocumentMargin(0);
                page.setTextWidth(label->width());
                page.setHtml(label->text());
                QVERIFY2(page.size().height() <= label->height(), qPrintable(page.toPlainText()));
                QVERIFY(!page.toPlainText().isEmpty());
            }
        }
    }

    void theBandDescribesEachRunAndKeepsItsHeight() {
        WindowBench b;
        auto* band = b.find<widgets::FindingsBand>("findingsBand");
        QTRY_COMPARE(band->texts().size(), static_cast<qsizetype>(b.lab().comparison().runs.size()));
        QTRY_VERIFY(band->texts()[0].contains("gradient, layer 1"));
        QCOMPARE(band->height(), widgets::FindingsBand::kHeight);
        b.makeSmall(30);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        // Thirty steps are too few for the small stack: a headline over the numbers.
        const RunData& run = *b.lab().comparison().runs[0].data;
        QCOMPARE(run.outcome.state, RunState::Stalled);
        const QString name = QString::fromStdString(run.name);
        QTRY_VERIFY_WITH_TIMEOUT(band->texts()[0].contains("\nStalled "), 20000);
        QCOMPARE(band->texts()[0].count(name), 1);
        QCOMPARE(band->height(), widgets::FindingsBand::kHeight);
    }
};

NORMSCOPE_WIDGET_TEST(StoryWindowTest)
#include "story_window_test.moc"
