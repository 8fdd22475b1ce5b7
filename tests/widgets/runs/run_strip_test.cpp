// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_strip.h"

#include "tests/widgets/quiet.h"
#include "widgets/plots/glyph.h"

#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
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

    static QMenu* menuOf(const RunStrip& strip, const QString& title) {
        for (const QPushButton* button : strip.findChildren<QPushButton*>())
            if (button->text() == title) return button->menu();
        return nullptr;
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

    void chipsSayNameDifferenceAndOutcome() {
        Bench b;
        QCOMPARE(b.strip.chips().size(), std::size_t(2));
        QCOMPARE(b.strip.chips()[1]->accessibleName(), QStringLiteral("Post-LN, scheme post, diverged"));
        QVERIFY(b.strip.chips()[1]->toolTip().contains(QStringLiteral("L7 ffn.w2")));
        QVERIFY(b.strip.chips()[0]->width() >= b.strip.chips()[0]->sizeHint().width());
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
        QTest::mouseClick(b.strip.findChildren<QPushButton*>()[0], Qt::LeftButton);
        QCOMPARE(compare.count(), 1);
        QTest::keyClick(&b.strip, Qt::Key_K, Qt::ControlModifier);
        QCOMPARE(search.count(), 1);
        for (auto* button : b.strip.findChildren<GlyphButton*>()) QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(search.count(), 2);
        QCOMPARE(theme.count(), 1);
        b.strip.setPresets({"pre-ln", "peri-ln"}, {"Pre-LN", "Peri-LN"});
        b.strip.setStories({"ladder", "step-size", "warmup"}, {"The ladder", "The step size", "Warm-up"});
        const QMenu* stories = menuOf(b.strip, "Stories");
        const QMenu* presets = menuOf(b.strip, "Presets");
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
};

QTEST_MAIN(RunStripTest)
#include "run_strip_test.moc"
