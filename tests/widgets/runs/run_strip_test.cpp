// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_strip.h"

#include "tests/widgets/paints.h"
#include "tests/widgets/quiet.h"
#include "widgets/plots/glyph.h"
#include "widgets/runs/bar_button.h"
#include "widgets/runs/comparison_title.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSet>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::widgets;

class RunStripTest : public QObject {
    Q_OBJECT

    static std::vector<RunLabel> runs() {
        return {{"a", "Pre-LN", 0, "scheme pre", RunState::Running, ""},
                {"b", "Post-LN", 1, "scheme post", RunState::Diverged, "step 212 · L7 ffn.w2 · inf"}};
    }

    static BarButton* button(const RunStrip& strip, const char* name) {
        return strip.findChild<BarButton*>(QLatin1String(name));
    }
    static void click(const RunStrip& strip, const char* name) {
        QTest::mouseClick(strip.findChild<QAbstractButton*>(QLatin1String(name)), Qt::LeftButton);
    }
    static std::vector<RunLabel> groups(int count, const QString& name) {
        std::vector<RunLabel> many;
        for (int i = 0; i < count; ++i)
            many.push_back({QString::number(i), name, i, "", RunState::Finished, "", "", 3});
        return many;
    }

    struct Bench {
        RunStrip strip;
        QSignalSpy selected{&strip, &RunStrip::runSelected};
        Bench() {
            strip.setRuns(runs());
            strip.resize(1440, RunStrip::kHeight);
            strip.show();
            QVERIFY(QTest::qWaitForWindowActive(&strip));
        }
    };

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void chipsStateNameDifferenceAndOutcome() {
        Bench b;
        QCOMPARE(b.strip.chips().size(), std::size_t(2));
        QCOMPARE(b.strip.chips()[1]->accessibleName(), QStringLiteral("Post-LN, scheme post, diverged"));
        QVERIFY(b.strip.chips()[1]->toolTip().contains(QStringLiteral("L7 ffn.w2")));
        // Two have space for everything.
        QVERIFY2(b.strip.chips()[0]->width() >= 230,
                 qPrintable(QString::number(b.strip.chips()[0]->width())));
        QCOMPARE(b.strip.chips()[0]->height(), RunChip::kHeight);
    }

    /// The number of runs is a part of what a chip is called, and not of its name, which can be edited.
    void aGroupHasItsNumberOfRuns() {
        Bench b;
        b.strip.setRuns(groups(2, "Post-LN"));
        QCOMPARE(b.strip.chips()[0]->run().title(), QStringLiteral("Post-LN ×3"));
        QVERIFY(b.strip.chips()[0]->accessibleName().startsWith("Post-LN ×3, "));
        b.strip.editName("1");
        QCOMPARE(b.strip.findChild<QLineEdit*>("runName")->text(), QStringLiteral("Post-LN"));
    }

    /// The row grows with its chips, also where they change after it was laid out (a font at the first show).
    void theRowFollowsItsChips() {
        Bench b;
        std::vector<RunLabel> four;
        for (int i = 0; i < 4; ++i) four.push_back({QString::number(i), "A", i, "", RunState::Finished, ""});
        b.strip.setRuns(four);
        QTRY_VERIFY(b.strip.chips().back()->isVisible());
        for (RunChip* chip : b.strip.chips()) {
            RunLabel label = chip->run();
            label.name = QStringLiteral("Post-LN · Init");
            chip->setRun(label);
        }
        const QWidget* row = b.strip.chips().front()->parentWidget();
        QTRY_VERIFY(row->width() >= row->minimumSizeHint().width());
        QTRY_COMPARE(row->visibleRegion().boundingRect().width(), row->width());
    }

    /// The left part is as wide as the column below it, and chips begin right of it.
    void chipsBeginAtTheCentre() {
        Bench b;
        for (const int left : {280, 320}) {
            b.strip.setLeftWidth(left);
            QTRY_COMPARE(b.strip.title()->width(), left);
            QTRY_COMPARE(b.strip.chips()[0]->mapTo(&b.strip, QPoint(0, 0)).x(), left + 12);
        }
    }

    /// An outcome moves and resizes no chip and no button.
    void anOutcomeMovesNothing() {
        Bench b;
        for (const int width : {900, 1440, 1920})
            for (const int count : {1, 2, 4, 6, 12}) {
                b.strip.resize(width, RunStrip::kHeight);
                auto many = groups(count, "Post-LN");
                b.strip.setRuns(many);
                QCoreApplication::processEvents();
                const auto places = [&] {
                    QCoreApplication::processEvents();
                    QList<QRect> all;
                    for (const QWidget* widget : b.strip.findChildren<QAbstractButton*>())
                        all << QRect(widget->mapTo(&b.strip, QPoint(0, 0)), widget->size());
                    return all;
                };
                const QList<QRect> before = places();
                for (const RunState state : {RunState::Prepared, RunState::Running, RunState::Collapsed}) {
                    for (RunLabel& run : many) {
                        run.state = state;
                        run.counted = state == RunState::Collapsed ? "2 of 3 collapsed" : "";
                    }
                    b.strip.setRuns(many);
                    QCOMPARE(places(), before);
                }
            }
    }

    void searchAndCompareAreGlyphsWhereChipsNeedTheSpace() {
        Bench b;
        const auto compact = [&](int count) {
            b.strip.setRuns(groups(count, "Post-LN"));
            return std::pair(button(b.strip, "searchButton")->isCompact(),
                             button(b.strip, "compareButton")->isCompact());
        };
        QCOMPARE(compact(2), std::pair(false, false));
        QCOMPARE(compact(6), std::pair(true, true));
        QVERIFY(button(b.strip, "compareButton")->text().isEmpty());
        QCOMPARE(button(b.strip, "compareButton")->accessibleName(), QStringLiteral("Compare"));
        QCOMPARE(compact(2), std::pair(false, false));
    }

    /// The first of the texts that fits, never cut; the word of the state changes it not.
    void theNameOfTheComparisonIsTheLongestThatFits() {
        Bench b;
        auto* name = b.strip.findChild<QLabel*>("comparisonName");
        auto* state = b.strip.findChild<QLabel*>("savedState");
        auto* undo = b.strip.findChild<QWidget*>("undoButton");
        const QStringList names{"Pre-LN with a long name | Post-LN with a long name", "2 groups of 3",
                                "6 runs"};
        b.strip.title()->setNames(names);
        QCOMPARE(name->text(), names[1]);
        QVERIFY(name->toolTip().contains(names[0]));
        for (const char* word : {"", "saved", "not saved"}) {
            b.strip.title()->setState(QLatin1String(word));
            QCOMPARE(name->text(), names[1]);
            QCoreApplication::processEvents();
            QVERIFY(name->width() >= name->sizeHint().width());
            QVERIFY(name->geometry().right() < state->geometry().left());
            QVERIFY(state->width() >= state->sizeHint().width());
            QVERIFY(state->geometry().right() < undo->geometry().left());
        }
        b.strip.setLeftWidth(600);
        QTRY_COMPARE(name->text(), names[0]);
    }

    void undoAndRedoFollowTheirActions() {
        Bench b;
        QAction undo("Undo Δt 0.2"), redo("Redo");
        undo.setShortcut(QKeySequence("Ctrl+Z"));
        undo.setEnabled(true);
        redo.setEnabled(false);
        QSignalSpy undone(&undo, &QAction::triggered);
        b.strip.title()->setUndoActions(&undo, &redo);
        auto* button = b.strip.findChild<GlyphButton*>("undoButton");
        QCOMPARE(button->toolTip(), QStringLiteral("Undo Δt 0.2 (Ctrl+Z)"));
        QVERIFY(!b.strip.findChild<QWidget*>("redoButton")->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(undone.count(), 1);
        undo.setText("Undo");
        undo.setEnabled(false);
        QVERIFY(!button->isEnabled());
        QCOMPARE(button->toolTip(), QStringLiteral("Undo (Ctrl+Z)"));
    }

    void theMenuOpensBelowItsButton() {
        Bench b;
        b.strip.title()->menu()->addAction("Quit");
        click(b.strip, "windowMenuButton");
        QVERIFY(b.strip.title()->menu()->isVisible());
        b.strip.title()->menu()->close();
    }

    void anUpdateKeepsTheChips() {
        Bench b;
        const auto before = b.strip.chips();
        auto later = runs();
        later[0].state = RunState::Finished;
        b.strip.setRuns(later);
        QVERIFY(b.strip.chips() == before);
        QVERIFY(b.strip.chips()[0]->accessibleName().endsWith(QStringLiteral("finished")));
        b.strip.setRuns({later[1]});
        QCOMPARE(b.strip.chips().size(), std::size_t(1));
        QCOMPARE(b.strip.chips()[0]->run().id, QStringLiteral("b"));
    }

    void aClickSelects() {
        Bench b;
        b.strip.setSelected("a");
        QCOMPARE(b.selected.count(), 0);
        QVERIFY(b.strip.chips()[0]->isChecked());
        QTest::mouseClick(b.strip.chips()[1], Qt::LeftButton);
        QCOMPARE(b.selected.count(), 1);
        QCOMPARE(b.selected[0][0].toString(), QStringLiteral("b"));
        QVERIFY(b.strip.chips()[1]->isChecked() && !b.strip.chips()[0]->isChecked());
        QTest::mouseClick(b.strip.chips()[1], Qt::LeftButton);  // a second click does not unselect
        QVERIFY(b.strip.chips()[1]->isChecked());
    }

    void buttons() {
        Bench b;
        QSignalSpy compare(&b.strip, &RunStrip::compareRequested),
            search(&b.strip, &RunStrip::commandSearchRequested), theme(&b.strip, &RunStrip::themeToggled),
            preset(&b.strip, &RunStrip::presetChosen), story(&b.strip, &RunStrip::storyChosen),
            menu(&b.strip, &RunStrip::runMenuRequested);
        QSignalSpy recordings(&b.strip, &RunStrip::recordingsRequested);
        click(b.strip, "compareButton");
        QCOMPARE(compare.count(), 1);
        QTest::keyClick(&b.strip, Qt::Key_K, Qt::ControlModifier);
        QCOMPARE(search.count(), 1);
        click(b.strip, "searchButton");
        QCOMPARE(search.count(), 2);
        click(b.strip, "themeButton");
        QCOMPARE(theme.count(), 1);
        click(b.strip, "runsButton");
        QCOMPARE(recordings.count(), 1);
        b.strip.setPresets({"pre-ln", "peri-ln"}, {"Pre-LN", "Peri-LN"});
        b.strip.setStories({"ladder", "step-size", "warmup"}, {"The ladder", "The step size", "Warm-up"});
        const QMenu* stories = button(b.strip, "storiesButton")->menu();
        const QMenu* presets = button(b.strip, "presetsButton")->menu();
        QVERIFY(stories && presets);
        QCOMPARE(presets->actions().size(), 2);
        QCOMPARE(presets->actions().at(1)->text(), QStringLiteral("Peri-LN"));
        presets->actions().at(1)->trigger();
        QCOMPARE(preset.count(), 1);
        QCOMPARE(preset[0][0].toString(), QStringLiteral("peri-ln"));
        QCOMPARE(story.count(), 0);
        QCOMPARE(stories->actions().size(), 3);
        QCOMPARE(stories->actions().at(2)->text(), QStringLiteral("Warm-up"));
        stories->actions().at(2)->trigger();
        QCOMPARE(story.count(), 1);
        QCOMPARE(story[0][0].toString(), QStringLiteral("warmup"));
        QCOMPARE(preset.count(), 1);
        Q_EMIT b.strip.chips()[0]->customContextMenuRequested({1, 1});
        QCOMPARE(menu[0][0].toString(), QStringLiteral("a"));
    }

    void everyOutcomeHasItsOwnGlyphAndWord() {
        QSet<int> glyphs;
        QSet<QString> words;
        const RunState states[] = {RunState::Running,   RunState::Finished, RunState::Diverged,
                                   RunState::Collapsed, RunState::Stalled,  RunState::Interrupted,
                                   RunState::Failed};
        for (RunState state : states) {
            glyphs << static_cast<int>(outcomeGlyph(state));
            words << outcomeWord(state);
        }
        QCOMPARE(glyphs.size(), 7);
        QCOMPARE(words.size(), 7);
        QCOMPARE(outcomeWord(RunState::Collapsed), "collapsed");
    }

    void aNameIsEditedInItsChip() {
        Bench b;
        QSignalSpy renamed(&b.strip, &RunStrip::runRenamed);
        const auto field = [&] { return b.strip.findChild<QLineEdit*>("runName"); };
        b.strip.editName("b");
        QVERIFY(field());
        QCOMPARE(field()->text(), QStringLiteral("Post-LN"));
        QTest::keyClicks(field(), "a b");
        QTest::keyClick(field(), Qt::Key_Escape);
        QTRY_VERIFY(!field());
        QCOMPARE(renamed.count(), 0);
        b.strip.editName("b");
        QTest::keyClicks(field(), "a b");
        QTest::keyClick(field(), Qt::Key_Return);
        QTRY_VERIFY(!field());
        QCOMPARE(renamed.count(), 1);
        QCOMPARE(renamed[0], QList<QVariant>({"b", "a b"}));
    }

    /// Five runs and more keep their names: they scroll.
    void everyChipHasSpaceForItsName() {
        Bench b;
        std::vector<RunLabel> many;
        for (int i = 0; i < 9; ++i)
            many.push_back(
                {QString::number(i), "Post-LN", i, "seed 4" + QString::number(i), RunState::Finished, ""});
        b.strip.setRuns(many);
        b.strip.resize(900, RunStrip::kHeight);
        QCoreApplication::processEvents();
        for (const RunChip* chip : b.strip.chips())
            QVERIFY2(chip->width() >= 120, qPrintable(chip->run().id));
        const auto shown = [&](int i) {
            return !b.strip.chips()[static_cast<std::size_t>(i)]->visibleRegion().isEmpty();
        };
        QVERIFY(shown(0) && !shown(8));
        b.strip.setSelected("8");
        QVERIFY(shown(8));
        b.strip.setSelected("0");
        QVERIFY(shown(0));
    }

    void manyRunsInANarrowWindowStayInside() {
        Bench b;
        std::vector<RunLabel> many;
        for (int i = 0; i < 6; ++i)
            many.push_back({QString::number(i), "Post-LN with a long name", i, "Δt 0.2, depth 24",
                            RunState::Running, ""});
        b.strip.setRuns(many);
        b.strip.resize(1000, RunStrip::kHeight);
        QTRY_COMPARE(b.strip.width(), 1000);
        QCoreApplication::processEvents();
        for (const QWidget* child : b.strip.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
            if (child->isVisible()) QVERIFY(child->geometry().right() < 1000);
        QVERIFY(!b.strip.grab().isNull());
    }

    void chipsShownAlreadyAreNotPaintedAgain() {
        Bench b;
        test::Paints paints(&b.strip);
        b.strip.setRuns(runs());
        QCOMPARE(paints.painted().join(u' '), QString());
        auto changed = runs();
        changed[1].state = RunState::Finished;
        b.strip.setRuns(changed);
        QCOMPARE(paints.painted().count(QStringLiteral("normscope::widgets::RunChip")), 1);
    }
};

NORMSCOPE_WIDGET_TEST(RunStripTest)
#include "run_strip_test.moc"
#include "tests/support/test_main.h"
#include "widgets/figures/outcome_word.h"
