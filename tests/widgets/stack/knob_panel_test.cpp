// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/knob_panel.h"

#include "tests/widgets/stack/quiet.h"
#include "widgets/stack/choice_knob.h"
#include "widgets/stack/glyph.h"
#include "widgets/stack/knob.h"
#include "widgets/stack/knob_slider.h"
#include "widgets/stack/knob_table.h"
#include "widgets/stack/path_knob.h"
#include "widgets/stack/recipe_keys.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::widgets;

class KnobPanelTest : public QObject {
    Q_OBJECT

    struct Bench {
        KnobPanel panel;
        QSignalSpy changing{&panel, &KnobPanel::keyChanging};
        QSignalSpy committed{&panel, &KnobPanel::keyCommitted};
        QSignalSpy started{&panel, &KnobPanel::keyDragStarted};
        Bench() {
            panel.resize(280, 700);
            panel.show();
            QVERIFY(QTest::qWaitForWindowActive(&panel));
        }
        Knob* number(const char* key) { return qobject_cast<Knob*>(panel.row(QString::fromUtf8(key))); }
        ChoiceKnob* choice(const char* key) {
            return qobject_cast<ChoiceKnob*>(panel.row(QString::fromUtf8(key)));
        }
    };

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void showsARecipeWithoutAWord() {
        Bench b;
        Recipe recipe;
        recipe.stack.residual_step = 0.2;
        recipe.stack.scheme = Scheme::Post;
        recipe.train.seed = 7;
        b.panel.setRecipe(recipe, {});
        QCOMPARE(b.number("stack.residual_step")->value(), 0.2);
        QCOMPARE(b.choice("stack.scheme")->box()->currentText(), QStringLiteral("Post-LN"));
        QCOMPARE(b.number("seed")->value(), 7.0);
        QVERIFY(b.panel.row("stack.scheme")->isChanged());
        QVERIFY(!b.panel.row("stack.depth")->isChanged());
        QCOMPARE(b.committed.count() + b.changing.count() + b.started.count(), 0);
    }

    void aRowForEachLineOfTheTable() {
        Bench b;
        for (const KnobSpec& spec : knobTable()) {
            KnobRow* row = b.panel.row(QString::fromUtf8(spec.key));
            QVERIFY2(row, spec.key);
            QVERIFY2(!row->toolTip().isEmpty() && !row->accessibleName().isEmpty(), spec.key);
            if (!spec.folded) QVERIFY2(row->isVisible(), spec.key);
            if (spec.folded) QVERIFY2(!row->isVisible(), spec.key);
        }
        b.panel.setMoreShown(true);
        QVERIFY(b.panel.row("optimizer.clip")->isVisible());
    }

    void aDragSpeaksInKeys() {
        Bench b;
        KnobSlider* slider = b.number("stack.depth")->slider();
        const QPoint to(slider->width() - 8, 9);
        QTest::mousePress(slider, Qt::LeftButton, {}, slider->thumb().toPoint());
        QMouseEvent move(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(slider, &move);
        QTest::mouseRelease(slider, Qt::LeftButton, {}, to);
        QCOMPARE(b.started.count(), 1);
        QCOMPARE(b.changing.count(), 1);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(b.committed[0][0].toString(), QStringLiteral("stack.depth"));
        QCOMPARE(b.committed[0][1], QVariant::fromValue(qlonglong(12)));
        QCOMPARE(b.committed[0][2], QVariant::fromValue(qlonglong(48)));
        Recipe recipe;
        setRecipeKey(recipe, b.committed[0][0].toString(), b.committed[0][2]);
        QCOMPARE(recipe.stack.depth, 48);
    }

    void resetAsksForTheDefault() {
        Bench b;
        Recipe recipe;
        recipe.train.optimizer.lr = 0.01;
        b.panel.setRecipe(recipe, {});
        QTest::mouseClick(b.panel.row("optimizer.lr")->findChild<GlyphButton*>(), Qt::LeftButton);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(b.committed[0][1], QVariant(0.01));
        QCOMPARE(b.committed[0][2], QVariant(0.003));
    }

    void switchesAreBool() {
        Bench b;
        b.panel.setMoreShown(true);
        QComboBox* box = b.choice("stack.gpas.enabled")->box();
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(b.committed[0][2], QVariant(true));
    }

    void theWidthKeepsItsHeads() {
        Bench b;
        Recipe recipe;
        recipe.stack.heads = 6;
        recipe.stack.d_model = 96;
        b.panel.setRecipe(recipe, {});
        Knob* width = b.number("stack.d_model");
        width->slider()->setFocus();
        for (int i = 0; i < 5; ++i) QTest::keyClick(width->slider(), Qt::Key_Left);
        QVERIFY(b.committed.count() == 5);
        for (const auto& signal : b.committed) QCOMPARE(signal[2].toLongLong() % 6, 0);
    }

    void comparedRunsThatDiffer() {
        Bench b;
        Recipe pre, post;
        post.stack.scheme = Scheme::Post;
        b.panel.setCompared({pre, post});
        QVERIFY(b.panel.row("stack.scheme")->isDiffering());
        QVERIFY(!b.panel.row("stack.depth")->isDiffering());
        b.panel.setCompared({pre});
        QVERIFY(!b.panel.row("stack.scheme")->isDiffering());
        b.panel.setCompared({});
        QVERIFY(!b.panel.row("stack.scheme")->isDiffering());
    }

    void theChain() {
        Bench b;
        QSignalSpy toggled(&b.panel, &KnobPanel::linkToggled);
        QVERIFY(b.panel.isLinked());
        b.panel.setLinked(false);
        QCOMPARE(toggled.count(), 0);
        auto* chain = b.panel.findChild<GlyphButton*>(QString(), Qt::FindDirectChildrenOnly);
        QVERIFY(chain && chain->glyph() == Glyph::Unlinked);
        QTest::mouseClick(chain, Qt::LeftButton);
        QCOMPARE(toggled.count(), 1);
        QCOMPARE(toggled[0][0].toBool(), true);
        QVERIFY(chain->glyph() == Glyph::Linked);
    }

    void onlyATextHasAFile() {
        Bench b;
        b.panel.setMoreShown(true);
        QVERIFY(!b.panel.row("data.path")->isVisible());
        Recipe recipe;
        recipe.train.data.source = DataSource::Text;
        recipe.train.data.path = "/books/moby-dick.txt";
        b.panel.setRecipe(recipe, {});
        QVERIFY(b.panel.row("data.path")->isVisible());
        QCOMPARE(qobject_cast<PathKnob*>(b.panel.row("data.path"))->value(),
                 QStringLiteral("/books/moby-dick.txt"));
    }

    void theNarrowColumnClipsNoLabel() {
        Bench b;
        b.panel.setMoreShown(true);
        Recipe other;
        other.stack.init.rule = InitRule::PathLength;
        other.stack.scheme = Scheme::Sandwich;
        other.train.data.source = DataSource::Text;
        b.panel.setRecipe(other, {});
        b.panel.setCompared({Recipe{}, other});
        QCoreApplication::processEvents();
        for (const KnobSpec& spec : knobTable()) {
            KnobRow* row = b.panel.row(QString::fromUtf8(spec.key));
            QVERIFY2(row->mapTo(&b.panel, QPoint(row->width(), 0)).x() <= b.panel.width(), spec.key);
            for (const QLabel* label : row->findChildren<QLabel*>())
                QVERIFY2(!label->isVisible() || label->width() >= label->sizeHint().width() ||
                             label->text().size() < 2,
                         qPrintable(row->label() + u' ' + label->text()));
        }
    }
};

QTEST_MAIN(KnobPanelTest)
#include "knob_panel_test.moc"
