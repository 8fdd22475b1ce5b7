// SPDX-License-Identifier: GPL-3.0-or-later
// The panel's knobs of several runs: fields and boxes of each, stops of many.
#include "knob_panel_bench.h"
#include "tests/widgets/quiet.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/number_field.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

using namespace normscope;
using namespace normscope::widgets;
using namespace normscope::test;
using Bench = normscope::test::KnobPanelBench;

class ComparedKnobsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() { failOnWarnings(); }

    /// Two runs that differ have a box each, in their order; each changes its own run.
    void twoRunsThatDifferInAWordHaveABoxEach() {
        Bench b;
        QSignalSpy of_run(&b.panel, &KnobPanel::runKeyCommitted);
        Recipe pre, post;
        post.stack.scheme = Scheme::Post;
        for (const int selected : {0, 1}) {
            b.panel.setRecipe(selected == 0 ? pre : post, {});
            b.panel.setCompared(sideBySide({pre, post}, selected));
            ChoiceKnob* scheme = b.choice("stack.scheme");
            const auto [first, second] = scheme->boxes();
            QVERIFY(first->isVisible() && second->isVisible());
            QCOMPARE(first->currentText(), QStringLiteral("Pre-LN"));
            QCOMPARE(second->currentText(), QStringLiteral("Post-LN"));
            QVERIFY(first->geometry().right() < second->geometry().left());
            QVERIFY(scheme->box() == scheme->boxes()[std::size_t(selected)]);
            QCOMPARE(second->accessibleName(), QStringLiteral("scheme of B"));
        }
        QVERIFY(!b.panel.row("stack.depth")->comparison().differs);
        QComboBox* second = b.choice("stack.scheme")->boxes()[1];
        second->setFocus();
        QTest::keyClick(second, Qt::Key_Up);
        QCOMPARE(of_run.count(), 1);
        QCOMPARE(of_run[0][0].toInt(), 1);
        QCOMPARE(keyOf(of_run[0][1])->name, "stack.scheme");
        QCOMPARE(keyText(valueOf(of_run[0][2])), QStringLiteral("post"));
        QCOMPARE(keyText(valueOf(of_run[0][3])), QStringLiteral("none"));
        QCOMPARE(b.committed.count(), 0);
        // Keys that pass the other run's word keep their box; it goes when they are done.
        b.panel.setRecipe(pre, {});
        b.panel.setCompared(sideBySide({pre, pre}, 1));
        QVERIFY(second->isVisible() && second->hasFocus());
        b.number("stack.depth")->field()->setFocus();
        b.panel.setCompared(sideBySide({pre, pre}, 1));
        QVERIFY(!second->isVisible());
        // One box for both stays one, whatever has the focus.
        b.choice("stack.scheme")->boxes()[0]->setFocus();
        b.panel.setCompared(sideBySide({pre, pre}, 1));
        QVERIFY(!second->isVisible());
        b.panel.setCompared({});
        QVERIFY(!b.panel.row("stack.scheme")->comparison().differs);
    }

    /// The slider keeps its place, and is the shown run's.
    void twoRunsThatDifferInANumberHaveAFieldEach() {
        Bench b;
        QSignalSpy of_run(&b.panel, &KnobPanel::runKeyCommitted);
        Recipe one, other;
        other.stack.residual_step = 0.2;
        b.panel.setRecipe(one, {});
        Knob* step = b.number("stack.residual_step");
        const QRect slider = step->slider()->geometry();
        b.panel.setCompared(sideBySide({one, other}));
        const auto [first, second] = step->fields();
        QVERIFY(first->isVisible() && second->isVisible());
        QCOMPARE(first->text(), QStringLiteral("1"));
        QCOMPARE(second->text(), QStringLiteral("0.2"));
        QVERIFY(!first->geometry().intersects(second->geometry()));
        QVERIFY(step->rect().contains(first->geometry() | second->geometry()));
        QCOMPARE(step->slider()->geometry(), slider);
        QCOMPARE(step->slider()->stops(), std::vector<double>({0.2, 1}));
        second->setFocus();
        second->selectAll();
        QTest::keyClicks(second, "0.5");
        QTest::keyClick(second, Qt::Key_Return);
        QCOMPARE(of_run.count(), 1);
        QCOMPARE(of_run[0][0].toInt(), 1);
        QCOMPARE(valueOf(of_run[0][3]), FieldValue(0.5));
        QCOMPARE(b.committed.count(), 0);
        // A reference is not changed.
        auto runs = sideBySide({one, other});
        runs[1].fixed = true;
        b.panel.setCompared(runs);
        QVERIFY(first->isEnabled() && !second->isEnabled());
    }

    void ofMoreRunsTheShownOneHasItsField() {
        Bench b;
        Recipe pre, post, peri;
        post.stack.scheme = Scheme::Post;
        peri.stack.scheme = Scheme::Peri;
        b.panel.setRecipe(post, {});
        b.panel.setCompared(sideBySide({pre, post, peri}, 1));
        ChoiceKnob* scheme = b.choice("stack.scheme");
        QVERIFY(scheme->boxes()[0]->isVisible() && !scheme->boxes()[1]->isVisible());
        QCOMPARE(scheme->box()->currentText(), QStringLiteral("Post-LN"));
        QCOMPARE(scheme->comparison().fields.size(), 1u);
        QCOMPARE(scheme->comparison().fields[0].run, 1);
    }

    /// Seeds of one group, or a rate a run: stops on the track, all of them in the field.
    void severalNumbersAreStops() {
        Bench b;
        QSignalSpy of_run(&b.panel, &KnobPanel::runKeyCommitted);
        std::vector<ComparedRun> groups;
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post}) {
            Recipe recipe;
            recipe.stack.scheme = scheme;
            ComparedRun group{0, int(groups.size()), "a group"};
            group.selected = groups.empty();
            for (const std::uint64_t seed : {42, 43, 44}) {
                recipe.train.seed = seed;
                group.recipes.push_back(recipe);
            }
            groups.push_back(group);
        }
        b.panel.setCompared(groups);
        Knob* seed = b.number("seed");
        QCOMPARE(seed->slider()->stops(), std::vector<double>({42, 43, 44}));
        QCOMPARE(seed->field()->text(), QStringLiteral("42 – 44"));
        QVERIFY(!seed->fields()[1]->isVisible());
        // An edit is of the shown run's value.
        seed->field()->setFocus();
        QCOMPARE(seed->field()->text(), QStringLiteral("42"));
        seed->field()->selectAll();
        QTest::keyClicks(seed->field(), "7");
        QTest::keyClick(seed->field(), Qt::Key_Return);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(valueOf(b.committed[0][2]), FieldValue(std::uint64_t{7}));
        QCOMPARE(of_run.count(), 0);

        std::vector<Recipe> rates(6);
        for (std::size_t i = 0; i < rates.size(); ++i) rates[i].train.optimizer.lr = 1e-4 * double(i + 1);
        b.panel.setCompared(sideBySide(rates));
        QCOMPARE(b.number("optimizer.lr")->field()->text(), QStringLiteral("6 values"));
        b.panel.setCompared(sideBySide({Recipe{}}));
        QVERIFY(b.number("optimizer.lr")->slider()->stops().empty());
        QCOMPARE(b.number("optimizer.lr")->field()->text(), QStringLiteral("0.003"));
    }
};

NORMSCOPE_WIDGET_TEST(ComparedKnobsTest)
#include "compared_knobs_test.moc"
