// SPDX-License-Identifier: GPL-3.0-or-later
// The findings band in the window: what it shows is what was recorded, and nothing of it is cut off.
#include "widgets/findings/findings_band.h"

#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "core/findings/findings.h"
#include "core/findings/why.h"
#include "core/model/gradient_ratio.h"
#include "core/recipe/presets.h"
#include "core/stories/story.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/findings/group_key.h"
#include "widgets/findings/remedy_box.h"
#include "widgets/findings/why_box.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/plots/colour_map.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/runs/bar_button.h"
#include "widgets/story/story_buttons.h"
#include "widgets/story/story_strip.h"
#include "window_bench.h"

#include <QAbstractButton>
#include <QLabel>
#include <QMenu>
#include <QSignalSpy>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

widgets::FindingsBand* bandOf(const WindowBench& b) {
    return b.find<widgets::FindingsBand>("findingsBand");
}

const widgets::ColumnContent& column(const WindowBench& b, std::size_t i) {
    return bandOf(b)->columns().at(i)->content();
}

QString number(const WindowBench& b, std::size_t run, std::size_t i) {
    const auto& numbers = column(b, run).numbers;
    return i < numbers.size() ? numbers[i].value : QString("none");
}

double lossOf(const WindowBench& b, int run, std::int64_t step) {
    return b.run(run).steps.find("loss")->at(static_cast<std::size_t>(step));
}

/// Everything visible in the band lies in it and side by side, as wide as it needs.
QString misplaced(const WindowBench& b) {
    const widgets::FindingsBand& band = *bandOf(b);
    int right = 0;
    for (const QWidget* widget : band.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (!widget->isVisible()) continue;
        if (!band.rect().contains(widget->geometry()))
            return QString("%1 is outside").arg(widget->objectName());
    }
    for (const widgets::FindingsColumn* shown : band.columns()) {
        if (shown->x() < right) return "columns overlap";
        right = shown->x() + shown->width();
        if (shown->width() < widgets::FindingsColumn::widthOf(shown->content(), shown->font()))
            return shown->content().name + " is cut off";
    }
    for (const QWidget* at_right :
         {static_cast<QWidget*>(band.remedies()), static_cast<QWidget*>(band.stories())})
        if (at_right->isVisible() && at_right->x() < right) return "the right part overlaps a column";
    for (const auto* button : band.stories()->findChildren<QAbstractButton*>())
        if (button->isVisible() && button->width() < button->sizeHint().width())
            return button->text() + " is cut off";
    for (const QLabel* label : band.stories()->findChildren<QLabel*>())
        if (label->isVisible() && label->heightForWidth(label->width()) > label->height())
            return label->text() + " is cut off";
    return {};
}

}  // namespace

class FindingsBandTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theFirstWindowHasNumbersAndStories() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        test::settle();
        QCOMPARE(bandOf(b)->columns().size(), 2u);
        for (const int run : {0, 1}) {
            const widgets::ColumnContent& shown = column(b, std::size_t(run));
            QCOMPARE(shown.name, QString::fromStdString(b.run(run).name));
            QCOMPARE(shown.hue, run);
            const double rms = b.run(run).sample_of("growth", 0)->find("rms")->data.back();
            const double ratio = gradient_ratio(b.run(run).sample_of("gradients", 0)->find("hidden")->data);
            const double loss = b.run(run).sample_of("gradients", 0)->find("loss")->data.front();
            QCOMPARE(number(b, std::size_t(run), 0), QString::number(loss, 'f', 2));
            QVERIFY(loss > b.run(run).ln_vocab && loss < b.run(run).ln_vocab + 1);  // nothing is learned yet
            QCOMPARE(shown.numbers[0].caption, QString("held-out loss"));
            QCOMPARE(number(b, std::size_t(run), 1), QString::number(rms, 'f', 1));
            QCOMPARE(number(b, std::size_t(run), 2), QString::number(ratio, 'f', 1));
            QCOMPARE(shown.numbers[2].caption, QString("gradient, layer 1 over 8"));
            // The sentences are in the tooltip and in what is read aloud.
            for (const Finding& finding : findings(b.run(run), 0)) {
                const widgets::FindingsColumn& widget = *bandOf(b)->columns()[std::size_t(run)];
                const QString text = QString::fromStdString(finding.text);
                QVERIFY(widget.tipAt(QPoint(40, 30)).contains(text));
                QVERIFY(widget.accessibleDescription().contains(text));
            }
        }
        const widgets::FindingsColumn& first = *bandOf(b)->columns().front();
        QVERIFY(first.tipAt(QPoint(20, 30)).startsWith("Loss at step 0: "));
        QVERIFY(first.tipAt(QPoint(110, 30)).startsWith("RMS of the hidden state after layer 8 at step 0: "));
        QVERIFY(bandOf(b)->more().isEmpty());
        for (const int width : {1440, 1920}) {
            b.window->resize(width, 900);
            test::settle();
            QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
            b.keepScreenshot(QString("band-first-%1").arg(width));
        }
        b.window->appearance()->setDark(true);
        b.keepScreenshot("band-first-dark");
    }

    void storiesAreStartedFromTheirButtonsAndTheMenu() {
        WindowBench b;
        test::settle();
        widgets::StoryButtons* buttons = bandOf(b)->stories();
        QVERIFY(buttons->isVisible());
        QCOMPARE(buttons->menu()->actions().size(), static_cast<qsizetype>(stories().size()));
        const auto* caption = buttons->findChild<QLabel*>();
        std::size_t fewest = 99, most = 0;
        for (std::size_t i = 0; i < stories().size(); ++i) {
            const Story story = read_story(stories()[i].name, stories()[i].json);
            QCOMPARE(buttons->menu()->actions()[qsizetype(i)]->text(), QString::fromStdString(story.title));
            fewest = std::min(fewest, story.steps.size());
            most = std::max(most, story.steps.size());
            auto* button = b.find<QAbstractButton>(qPrintable(QString("story%1").arg(i + 1)));
            if (i >= 3) continue;
            QVERIFY(button && button->isVisible());
            QCOMPARE(button->text(), QString::fromStdString(story.title));
        }
        // What it promises.
        QVERIFY2(caption->text().contains(QString("%1 to %2 steps").arg(fewest).arg(most)),
                 qPrintable(caption->text()));
        // With the keyboard: Tab reaches them in their order.
        auto* first = b.find<QAbstractButton>("story1");
        first->setFocus(Qt::TabFocusReason);
        for (const char* name : {"story2", "story3", "allStories"}) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            QCOMPARE(QApplication::focusWidget()->objectName(), QString(name));
        }
        first->setFocus(Qt::TabFocusReason);
        QTest::keyClick(first, Qt::Key_Space);
        QVERIFY(b.window->views().story->isVisible());
        QCOMPARE(b.window->views().story->story()->name, std::string(stories()[0].name));
        QVERIFY(b.lab().comparison().exploring());  // Space has not begun a training
        buttons->menu()->actions()[1]->trigger();
        QCOMPARE(b.window->views().story->story()->name, std::string(stories()[1].name));
    }

    void aNarrowBandShowsFewerAndCutsNothing() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        std::set<int> shown;
        for (int width = 1600; width >= 900; width -= 50) {
            b.window->resize(width, 900);
            QTest::qWait(20);
            QVERIFY2(misplaced(b).isEmpty(),
                     qPrintable(misplaced(b) + QString(" at %1").arg(b.window->width())));
            int count = 0;
            for (const auto* button : bandOf(b)->stories()->findChildren<QAbstractButton*>())
                count += button->isVisible();
            shown.insert(count);
        }
        QVERIFY(shown.count(4) && shown.size() > 1);
    }

    void theNumbersFollowTheScrubberAndComeBack() {
        WindowBench b;
        b.makeSmall(12);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        b.lab().view().setStep(2);
        test::settle();
        const auto check = [&] {
            QCOMPARE(bandOf(b)->columns().size(), 2u);
            for (const int run : {0, 1}) {
                const RunData& data = b.run(run);
                QVERIFY(headline(data, 2).title.empty());
                QCOMPARE(number(b, std::size_t(run), 0), QString::number(lossOf(b, run, 2), 'f', 2));
                QCOMPARE(column(b, std::size_t(run)).numbers[0].caption, QString("loss, step 2"));
                QCOMPARE(column(b, std::size_t(run)).numbers[0].note,
                         QString("held-out %1, step 0").arg(held_out_loss(data, 2)->loss, 0, 'f', 2));
                const ProbeResult* growth = data.sample_of("growth", 2);
                const ProbeResult* gradients = data.sample_of("gradients", 2);
                QVERIFY(growth && gradients);
                QVERIFY(column(b, std::size_t(run))
                            .numbers[1]
                            .tip.contains(": " + QString::number(growth->find("rms")->data.back(), 'g', 4)));
                QVERIFY(
                    column(b, std::size_t(run))
                        .numbers[2]
                        .tip.contains(
                            ": " + QString::number(gradient_ratio(gradients->find("hidden")->data), 'g', 4)));
            }
        };
        check();
        QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
        b.keepScreenshot("band-scrubbed");
        const QString path = b.folder.filePath("session.h5");
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        b.window.reset();
        b.open();
        QSignalSpy opened(&b.lab().session(), &LabSession::opened);
        b.window->files()->openSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QCOMPARE(b.lab().view().step(), qint64(2));
        QTRY_COMPARE(column(b, 0).numbers.size(), 3u);
        test::settle();
        check();
    }

    /// From the headline by keyboard: three statements, the plot of each, Esc.
    void aFailedRunHasItsWhyCard() {
        WindowBench b;
        b.makeSmall(60);
        b.lab().runs().remove(0);
        b.lab().knobs().commitKey("optimizer.lr", 1.0);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QTRY_VERIFY(!column(b, 0).headline.title.empty());
        QCOMPARE(column(b, 0).numbers.size(), 3u);  // they stay in sight
        auto* box = b.find<widgets::WhyBox>("whyBox");
        QVERIFY(box->isHidden());
        auto* headline = bandOf(b)->columns()[0]->findChild<QLabel*>("headline");
        headline->setFocus(Qt::TabFocusReason);
        QTest::keyClick(headline, Qt::Key_Tab);
        QTest::keyClick(headline, Qt::Key_Return);
        QVERIFY(box->isVisible());
        QVERIFY(b.window->rect().contains(box->geometry()));
        const WhyCard card = why(b.run(0));
        QVERIFY(card.lines.size() >= 1);
        for (const WhyLine& line : card.lines)
            QVERIFY2(box->text().contains(QString::fromStdString(line.text)), line.text.c_str());
        QVERIFY(box->text().contains("Not measured: "));
        b.keepScreenshot("why-light");
        b.window->appearance()->setDark(true);
        headline->setFocus(Qt::TabFocusReason);
        Q_EMIT headline->linkActivated("why");
        b.keepScreenshot("why-dark");
        // Each number has its plot, at its step.
        for (std::size_t i = 0; i < card.lines.size(); ++i) {
            b.lab().view().setStep(ShownPosition::kNewest);
            QTRY_VERIFY(headline->isVisible());
            Q_EMIT headline->linkActivated("why");
            const auto plots = box->findChildren<widgets::BarButton*>("whyPlot");
            QCOMPARE(plots.size(), qsizetype(card.lines.size()));
            QTest::mouseClick(plots[qsizetype(i)], Qt::LeftButton);
            QVERIFY(box->isHidden());
            QCOMPARE(std::min(b.lab().view().step(), b.lab().comparison().lastStep()),
                     qint64(card.lines[i].evidence.step));
            const auto cells = b.window->views().grid->visibleCells();
            QVERIFY(std::any_of(cells.begin(), cells.end(), [&](const widgets::PanelCell* cell) {
                return cell->panel() == card.lines[i].panel &&
                       (card.lines[i].quantity.empty() ||
                        cell->options().at("quantity") == card.lines[i].quantity);
            }));
        }
        b.lab().view().setStep(ShownPosition::kNewest);
        Q_EMIT headline->linkActivated("why");
        QTest::keyClick(box, Qt::Key_Escape);
        QVERIFY(box->isHidden());
        headline->setFocus(Qt::TabFocusReason);
        Q_EMIT headline->linkActivated("why");
        QTest::keyClick(box, Qt::Key_Escape);
        QVERIFY(headline->hasFocus());  // where it was before
        Q_EMIT headline->linkActivated("why");
        b.lab().session().startOver();
        QVERIFY(box->isHidden());
    }

    void aDivergedRunHasItsHeadlineAndBeforeItNumbers() {
        WindowBench b;
        b.makeSmall(40);
        b.lab().runs().setLinked(false);
        b.lab().runs().select(0);
        b.lab().knobs().commitKey("optimizer.lr", 1e30);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.run(0).outcome.state, RunState::Diverged);
        QTRY_VERIFY(bandOf(b)->texts()[0].contains("\nDiverged at step "));
        QVERIFY(bandOf(b)->remedies()->isVisible() && !bandOf(b)->stories()->isVisible());
        QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
        b.keepScreenshot("band-diverged");
        b.lab().view().setStep(0);
        QTRY_COMPARE(number(b, 0, 0), QString::number(lossOf(b, 0, 0), 'f', 2));
    }

    /// Six groups of three: the median of the members' losses, a glyph a run, and the totals.
    void groupsShowTheMedianOfTheirRuns() {
        WindowBench b;
        b.makeSmall(12);
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (const Scheme scheme : {Scheme::Peri, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns}) {
            recipe.stack.scheme = scheme;
            b.lab().runs().add(recipe);
        }
        b.lab().runs().addSeeds(2);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 60000);
        test::settle();
        const auto& first = b.lab().view().groups().groups[std::size_t(column(b, 0).hue)].members;
        std::vector<double> held_out;
        for (const std::size_t run : first)
            held_out.push_back(
                b.run(static_cast<int>(run)).probes.at("gradients").back().find("loss")->data.at(0));
        std::sort(held_out.begin(), held_out.end());
        QVERIFY(held_out[0] < held_out[1] && held_out[1] < held_out[2]);
        QCOMPARE(number(b, 0, 0), QString::number(held_out[1], 'f', 2));
        QCOMPARE(column(b, 0).numbers[0].caption, QString("held-out loss"));
        QVERIFY(column(b, 0).numbers[0].tip.contains(
            QString("%1 – %2 nat").arg(held_out[0], 0, 'f', 2).arg(held_out[2], 0, 'f', 2)));
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        test::settle();
        const auto check = [&](std::int64_t step) {
            QVERIFY(bandOf(b)->columns().size() > 2);
            for (std::size_t i = 0; i < bandOf(b)->columns().size(); ++i) {
                const widgets::ColumnContent& shown = column(b, i);
                const auto& members = b.lab().view().groups().groups[std::size_t(shown.hue)].members;
                QCOMPARE(members.size(), 3u);
                std::vector<double> losses;
                for (const std::size_t run : members)
                    losses.push_back(lossOf(b, static_cast<int>(run), step));
                std::sort(losses.begin(), losses.end());
                QCOMPARE(shown.numbers[0].value, QString::number(losses[1], 'f', 2));
                QCOMPARE(shown.numbers[0].unit, QString("nat"));
                QCOMPARE(shown.numbers[0].caption,
                         QString("%1 – %2").arg(losses[0], 0, 'f', 2).arg(losses[2], 0, 'f', 2));
                QVERIFY(shown.numbers[0].tip.contains(QString("at step %1").arg(step)));
                std::vector<double> last;
                for (const std::size_t run : members)
                    last.push_back(held_out_loss(b.run(static_cast<int>(run)), step)->loss);
                std::sort(last.begin(), last.end());
                QVERIFY2(shown.numbers[0].tip.contains(QString("Held-out loss: median %1 nat (%2 – %3), each "
                                                               "the mean of 64 held-out sequences")
                                                           .arg(last[1], 0, 'f', 2)
                                                           .arg(last[0], 0, 'f', 2)
                                                           .arg(last[2], 0, 'f', 2)),
                         qPrintable(shown.numbers[0].tip));
                QCOMPARE(shown.outcomes.size(), 3u);
                for (std::size_t m = 0; m < 3; ++m)
                    QCOMPARE(shown.outcomes[m], b.lab().comparison().runs[members[m]].data->outcome.state);
            }
        };
        check(11);
        QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
        b.keepScreenshot("band-groups");
        // The totals are shown where no remedies are: scrubbing does not hide these.
        if (b.lab().remedies().trials()) {
            QVERIFY(!bandOf(b)->key()->isVisible());
        } else {
            QCOMPARE(bandOf(b)->columns().size(), 6u);
            QVERIFY(bandOf(b)->key()->isVisible());
        }
        int failed = 0;
        for (const LabRun& run : b.lab().comparison().runs)
            failed += run.data->outcome.state == RunState::Stalled;
        QCOMPARE(bandOf(b)->key()->lines()[0], QString("18 runs in 6 groups"));
        QCOMPARE(bandOf(b)->key()->lines()[1],
                 failed == 18  ? QString("18 stalled")
                 : failed == 0 ? QString("18 finished")
                               : QString("%1 finished, %2 stalled").arg(18 - failed).arg(failed));
        QCOMPARE(bandOf(b)->key()->lines()[2], QString("median of 3 seeds, band from min to max"));
        b.lab().view().setStep(4);
        test::settle();
        check(4);
    }

    void untrainedGroupsHaveTheKey() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().addSeeds(2);
        test::settle();
        QVERIFY(bandOf(b)->key()->isVisible() && !bandOf(b)->stories()->isVisible());
        QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
        b.keepScreenshot("band-groups-untrained");
    }

    /// Of many runs as many as fit, always the selected one; the others are counted.
    void ofManyRunsTheSelectedOneIsShown() {
        WindowBench b;
        b.makeSmall(4);
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (int i = 0; i < 9; ++i) {
            recipe.train.optimizer.lr = 1e-3 * (i + 2);
            b.lab().runs().add(recipe);
        }
        QCOMPARE(b.lab().comparison().runs.size(), 11u);
        for (const int width : {1000, 1440, 1920})
            for (const int selected : {0, 5, 10}) {
                b.window->resize(width, 900);
                b.lab().runs().select(selected);
                test::settle();
                const auto& columns = bandOf(b)->columns();
                QVERIFY(std::any_of(
                    columns.begin(), columns.end(),
                    [&](const widgets::FindingsColumn* shown) { return shown->content().hue == selected; }));
                QCOMPARE(bandOf(b)->more(), QString("%1 more").arg(11 - columns.size()));
                const QString rest = b.find<QLabel>("moreRuns")->toolTip();  // their names
                QCOMPARE(rest.count('\n') + 1, qsizetype(11 - columns.size()));
                QVERIFY2(misplaced(b).isEmpty(), qPrintable(misplaced(b)));
                QCOMPARE(bandOf(b)->height(), widgets::FindingsBand::kHeight);
            }
        b.keepScreenshot("band-many");
    }

    /// The window can be made narrow again after the band had a lot to show.
    void itDoesNotWidenTheWindow() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const int least = b.window->minimumSizeHint().width();
        b.lab().runs().add(b.lab().comparison().selectedRun().recipe);
        b.lab().runs().addSeeds(2);
        test::settle();
        QCOMPARE(bandOf(b)->minimumSizeHint().width(), 0);
        QVERIFY(b.window->minimumSizeHint().width() <= least + 1);
    }

    void namesAndNumbersHaveContrast() {
        WindowBench b;
        for (const bool dark : {false, true}) {
            b.window->appearance()->setDark(dark);
            widgets::FindingsColumn column(bandOf(b));
            const QColor chrome = column.palette().color(QPalette::Window);
            const widgets::Theme theme = widgets::themeOf(column.palette());
            for (int hue = 0; hue < 8; ++hue) {
                column.setContent({"A", hue});
                QVERIFY2(widgets::contrast(column.nameColour(), chrome) >= 4.5,
                         qPrintable(column.nameColour().name()));
            }
            for (const QColor& text : {theme.text, theme.muted})
                QVERIFY2(widgets::contrast(text, chrome) >= 4.5, qPrintable(text.name()));
        }
    }
};

NORMSCOPE_WIDGET_TEST(FindingsBandTest)
#include "findings_band_test.moc"
