// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_panel.h"

#include "knob_panel_bench.h"
#include "tests/support/test_main.h"
#include "tests/widgets/paints.h"
#include "tests/widgets/quiet.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/diff_list.h"
#include "widgets/knobs/fold_title.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/knobs/number_field.h"
#include "widgets/knobs/path_knob.h"
#include "widgets/plots/glyph.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>

using namespace normscope;
using namespace normscope::widgets;

using Bench = normscope::test::KnobPanelBench;
using namespace normscope::test;

class KnobPanelTest : public QObject {
    Q_OBJECT
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
            KnobRow* row = b.panel.row(QString::fromStdString(spec.key->name));
            QVERIFY2(row, spec.key->name.c_str());
            QVERIFY2(!row->toolTip().isEmpty() && !row->accessibleName().isEmpty(), spec.key->name.c_str());
            const bool applies = !spec.applies || spec.applies(Recipe{});
            QVERIFY2(row->isVisible() == (spec.section == KnobSection::InSight), spec.key->name.c_str());
            QVERIFY2(row->isEnabled() == applies, spec.key->name.c_str());
            QCOMPARE(row->height(), KnobRow::kHeight);
        }
        b.panel.setSectionShown(KnobSection::Training, true);
        QVERIFY(b.panel.row("optimizer.clip")->isVisible());
        QVERIFY(!b.panel.row("stack.heads")->isVisible());
        b.panel.setAllShown(true);
        QVERIFY(b.panel.row("stack.heads")->isVisible());
    }

    void theSchemeMenuListsAllTenWithTooltips() {
        Bench b;
        const QComboBox* box = b.choice("stack.scheme")->box();
        QStringList titles;
        for (int i = 0; i < box->count(); ++i) {
            titles << box->itemText(i);
            QVERIFY2(!box->itemData(i, Qt::ToolTipRole).toString().isEmpty(), qPrintable(titles.last()));
        }
        QCOMPARE(titles, QStringList({"No norm", "Post-LN", "Pre-LN", "Peri-LN", "Sandwich-LN", "DeepNorm",
                                      "Mix-LN", "LNS", "Output-LN", "Custom"}));
        const auto tip = [&](const char* word) {
            return box->itemData(box->findData(word), Qt::ToolTipRole).toString();
        };
        QVERIFY(tip("post").contains("N_post(x + "));
        QVERIFY(tip("peri").contains("The same norms as Sandwich-LN"));
        QVERIFY(tip("sandwich").contains("The same norms as Peri-LN"));
        for (const char* word : {"pre", "post", "deepnorm", "mix", "lns", "output", "none", "custom"})
            QVERIFY2(!tip(word).contains("same norms"), word);
    }

    void aKnobIsGreyedOutWhereItsKeyDoesNothing() {
        Bench b;
        b.panel.setAllShown(true);
        const auto enabledWith = [&](const char* key, KeyRef other, const FieldValue& value) {
            Recipe recipe;
            other->set(recipe, value);
            b.panel.setRecipe(recipe, {});
            return b.panel.row(key)->isEnabled();
        };
        QVERIFY(!enabledWith("stack.mix_post_fraction", "stack.scheme", "lns"));
        QVERIFY(enabledWith("stack.mix_post_fraction", "stack.scheme", "mix"));
        QVERIFY(enabledWith("stack.lns_form", "stack.scheme", "lns"));
        QVERIFY(!enabledWith("stack.rope_base", "stack.position", "none"));
        QVERIFY(enabledWith("stack.rope_base", "stack.block", "llama"));
        QVERIFY(!enabledWith("stack.branch_scale_init", "stack.branch_scale", "none"));
        QVERIFY(enabledWith("stack.branch_scale_init", "stack.branch_scale", "channel"));
        QVERIFY(!enabledWith("stack.gpas.site", "stack.gpas.enabled", false));
        QVERIFY(enabledWith("stack.gpas.site", "stack.gpas.enabled", true));
        QVERIFY(enabledWith("stack.gpas.clip", "stack.gpas.enabled", true));
        QVERIFY(!enabledWith("stack.init.std", "stack.init.rule", "lab"));
        QVERIFY(enabledWith("stack.init.std", "stack.init.rule", "plain"));
        QVERIFY(!enabledWith("stack.init.path_maps", "stack.init.rule", "plain"));
        QVERIFY(enabledWith("stack.init.path_maps", "stack.init.rule", "path_length"));
    }

    void aFoldTitleCountsHiddenChanges() {
        Bench b;
        Recipe recipe, other;
        complete(recipe.stack, 27);
        Recipe defaults = recipe;
        recipe.stack.qk_norm = QkNorm::Head;
        recipe.stack.tied_head = true;
        b.panel.setRecipe(recipe, defaults);
        b.panel.setCompared(sideBySide({recipe, defaults}));
        QStringList titles;
        for (const QToolButton* button : b.panel.findChildren<QToolButton*>()) titles << button->text();
        QVERIFY2(titles.contains("Sizes and block (2 changed)  ≠"), qPrintable(titles.join(',')));
        QVERIFY(titles.contains("Gates"));
    }

    void noticesAreShownInOneLineAndInFull() {
        Bench b;
        NoticeStrip* strip = b.panel.notices();
        QVERIFY(!strip->isVisible());
        const QString rejection = "stack.heads: 5 does not divide d_model 64, allowed: divisors of d_model";
        strip->setNotices(rejection, {"init gpt2 with lns: the outputs are scaled twice (LNS README)"});
        QTRY_VERIFY(strip->isVisible() && strip->height() > 0);
        QVERIFY(strip->toolTip().startsWith(rejection));
        const int folded = strip->height();
        QTest::mouseClick(strip, Qt::LeftButton);
        QTRY_VERIFY(strip->height() > folded);
        strip->setNotices({}, {});
        QVERIFY(!strip->isVisible());
    }

    /// Every gate of a stack may have a warning: the strip is limited to its share of the panel.
    void manyNoticesAreCounted() {
        Bench b;
        NoticeStrip* strip = b.panel.notices();
        QStringList many;
        for (int l = 0; l < 24; ++l)
            many << QString(
                        "layer %1: the gate is 3, its forward scale 1 − act(g) is -2, which flips the sign")
                        .arg(l);
        strip->setNotices({}, many);
        QTRY_VERIFY(strip->isVisible() && strip->height() > 0);
        QVERIFY(strip->height() < 80);
        QCOMPARE(strip->shownLines().last(), QString("… and 22 more"));
        QTest::mouseClick(strip, Qt::LeftButton);
        QTRY_VERIFY(strip->height() > 80);
        QVERIFY(strip->height() < b.panel.height() / 2);
        QVERIFY(strip->toolTip().contains("layer 23"));
    }

    void whatDiffersFromThePreset() {
        Bench b;
        Recipe pre, post;
        complete(pre.stack, 27);
        post = pre;
        post.stack.scheme = Scheme::Post;
        DiffList* list = b.panel.differences();
        list->setPresets({{"post-ln", "Post-LN", post}, {"pre-ln", "Pre-LN", pre}});
        Recipe now = pre;
        now.stack.residual_step = 0.2;
        b.panel.setRecipe(now, pre);
        QCOMPARE(list->base(), 1);  // the nearest
        QCOMPARE(list->differences(),
                 std::vector<KeyDifference>({{"stack.residual_step", "Δt", "1", "0.2"}}));
        QCOMPARE(b.panel.findChild<QToolButton*>("diffTitle")->text(), "Differs from preset Pre-LN (1)");
        QTest::mouseClick(b.panel.findChild<QToolButton*>("diffTitle"), Qt::LeftButton);
        QSignalSpy reset(list, &DiffList::keyResetRequested);
        auto* row = list->findChild<QPushButton*>("stack.residual_step");
        QVERIFY(row->isVisible());
        QTest::mouseClick(row, Qt::LeftButton);
        QTRY_COMPARE(reset.count(), 1);
        QCOMPARE(keyOf(reset[0][0])->name, "stack.residual_step");
        list->setBase("post-ln");
        QCOMPARE(list->differences().size(), 2u);
        b.panel.setRecipe(pre, pre);
        list->setBase({});
        QVERIFY(list->differences().empty());
        // A preset's long name must not widen the column.
        list->setPresets({{"long", "A preset with a name that is longer than the column is wide", pre}});
        QCoreApplication::processEvents();
        QVERIFY(list->width() < b.panel.width());
        QVERIFY(b.panel.findChild<QToolButton*>("diffTitle")->text().contains(QStringLiteral("…")));
    }

    void aDragUsesKeys() {
        Bench b;
        KnobSlider* slider = b.number("stack.depth")->slider();
        const QPoint to(slider->width() - 6, 9);
        QTest::mousePress(slider, Qt::LeftButton, {}, slider->thumb().toPoint());
        QMouseEvent move(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(slider, &move);
        QTest::mouseRelease(slider, Qt::LeftButton, {}, to);
        QCOMPARE(b.started.count(), 1);
        QCOMPARE(b.changing.count(), 1);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(keyOf(b.committed[0][0])->name, "stack.depth");
        QCOMPARE(valueOf(b.committed[0][1]), FieldValue(std::uint64_t{12}));
        QCOMPARE(valueOf(b.committed[0][2]), FieldValue(std::uint64_t{48}));
        Recipe recipe;
        keyOf(b.committed[0][0])->set(recipe, valueOf(b.committed[0][2]));
        QCOMPARE(recipe.stack.depth, 48);
    }

    void resetAsksForTheDefault() {
        Bench b;
        Recipe recipe;
        recipe.train.optimizer.lr = 0.01;
        b.panel.setRecipe(recipe, {});
        QTest::mouseClick(b.panel.row("optimizer.lr")->findChild<GlyphButton*>(), Qt::LeftButton);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(valueOf(b.committed[0][1]), FieldValue(0.01));
        QCOMPARE(valueOf(b.committed[0][2]), FieldValue(0.003));
    }

    void switchesAreBool() {
        Bench b;
        b.panel.setAllShown(true);
        QComboBox* box = b.choice("stack.gpas.enabled")->box();
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(valueOf(b.committed[0][2]), FieldValue(true));
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
        for (const auto& signal : b.committed) QCOMPARE(std::get<std::uint64_t>(valueOf(signal[2])) % 6, 0u);
    }

    /// From the window's tokens, in the column of 280 and of 320.
    void theRowsLieOnTheirGrid() {
        Bench b;
        constexpr int kPadding = 12;  // of the window's left column
        for (const auto& [more, height] : std::vector<std::pair<int, int>>{{0, 700}, {40, 700}, {0, 200}}) {
            b.panel.resize(268 + more, height);  // the last with a scroll bar
            QCoreApplication::processEvents();
            Recipe recipe;
            recipe.stack.residual_step = 0.2;
            b.panel.setRecipe(recipe, {});
            Knob* row = b.number("stack.residual_step");
            const auto left = [&](const QWidget* part) {
                return part->mapTo(&b.panel, QPoint(0, 0)).x() + kPadding;
            };
            QCOMPARE(left(row->findChild<QLabel*>()), 20);
            QCOMPARE(left(row->slider()), 104);
            QCOMPARE(row->slider()->width(), 92 + more);
            QCOMPARE(left(row->field()), 204 + more);
            QCOMPARE(row->field()->height(), 21);
            auto* reset = row->findChild<GlyphButton*>();
            QVERIFY(reset->isVisible());
            QCOMPARE(left(reset), 254 + more);
        }
    }

    /// No number is cut off: fewer digits, and the whole in the tooltip.
    void aLongNumberHasFewerDigits() {
        Bench b;
        Recipe recipe;
        recipe.train.optimizer.lr = 0.0005623;
        b.panel.setRecipe(recipe, {});
        const NumberField* field = b.number("optimizer.lr")->field();
        QVERIFY2(field->text() != "0.0005623", qPrintable(field->text()));
        QVERIFY2(std::abs(field->text().toDouble() / 0.0005623 - 1) < 0.02, qPrintable(field->text()));
        const QMargins margins = field->textMargins();
        QVERIFY(field->fontMetrics().horizontalAdvance(field->text()) <=
                field->width() - margins.left() - margins.right() - 4);
        QCOMPARE(field->toolTip(), QStringLiteral("0.0005623"));
    }

    /// With a run's sample at the left and the reset button at the right there is little space.
    void aSmallNumberIsWrittenWithItsExponent() {
        Bench b;
        Recipe recipe;
        recipe.train.optimizer.lr = 1e-4;
        b.panel.setRecipe(recipe, {});
        Knob* row = b.number("optimizer.lr");
        NumberField* field = row->field();
        field->setRun(2);
        field->setCovered(18);
        const QMargins margins = field->textMargins();
        const int space = field->width() - margins.left() - margins.right() - 4;
        QVERIFY(field->fontMetrics().horizontalAdvance("0.0001") > space);
        QCOMPARE(field->text(), QStringLiteral("1e-4"));
        QCOMPARE(field->toolTip(), QStringLiteral("0.0001"));
    }

    void theHeaderNamesTheRunsOfTheKnobs() {
        Bench b;
        const auto shown = [&](const QString& text) {
            for (const QLabel* label : b.panel.findChildren<QLabel*>())
                if (label->text() == text) return label->isVisible();
            return false;
        };
        b.panel.setScope("linked, both runs", "brief");
        QVERIFY(shown("linked, both runs"));
        b.panel.setScope("a name that is longer than the header of the knobs is wide only", "one run alone");
        QVERIFY(shown("one run alone"));
    }

    void foldsStateWhatTheyHold() {
        Bench b;
        QHash<QString, QString> summaries;
        for (const FoldTitle* title : b.panel.findChildren<FoldTitle*>())
            summaries[title->text()] = title->summary();
        QCOMPARE(summaries.value("Sizes and block"), QStringLiteral("64 tokens · 4 heads"));
        QCOMPARE(summaries.value("Norms and residual"), QStringLiteral("LayerNorm"));
        QCOMPARE(summaries.value("Gates"), QStringLiteral("off"));
        QCOMPARE(summaries.value("Optimiser and schedule"), QStringLiteral("AdamW · cosine"));
        QCOMPARE(summaries.value("Data and precision"), QStringLiteral("Markov · FP32"));
    }

    void theChain() {
        Bench b;
        QSignalSpy toggled(&b.panel, &KnobPanel::linkToggled);
        QVERIFY(b.panel.isLinked());
        b.panel.setLinked(false);
        QCOMPARE(toggled.count(), 0);
        auto* chain = b.panel.findChild<GlyphButton*>("linkButton");
        QVERIFY(chain && chain->glyph() == Glyph::Unlinked);
        QTest::mouseClick(chain, Qt::LeftButton);
        QCOMPARE(toggled.count(), 1);
        QCOMPARE(toggled[0][0].toBool(), true);
        QVERIFY(chain->glyph() == Glyph::Linked);
    }

    void onlyATextHasAFile() {
        Bench b;
        b.panel.setAllShown(true);
        QVERIFY(!b.panel.row("data.path")->isEnabled());
        Recipe recipe;
        recipe.train.data.source = DataSource::Text;
        recipe.train.data.path = "/books/moby-dick.txt";
        b.panel.setRecipe(recipe, {});
        QVERIFY(b.panel.row("data.path")->isEnabled());
        QCOMPARE(qobject_cast<PathKnob*>(b.panel.row("data.path"))->value(),
                 QStringLiteral("/books/moby-dick.txt"));
    }

    void theNarrowColumnClipsNoLabel() {
        Bench b;
        b.panel.setAllShown(true);
        Recipe other;
        other.stack.init.rule = InitRule::PathLength;
        other.stack.scheme = Scheme::Sandwich;
        other.train.data.source = DataSource::Text;
        other.stack.scheme = Scheme::Mix;
        other.stack.position = Position::Rope;
        other.stack.branch_scale = BranchScale::Channel;
        other.stack.gpas.enabled = true;
        other.train.precision = Precision::Bf16;
        b.panel.setRecipe(other, {});
        b.panel.setCompared(sideBySide({Recipe{}, other}, 1));
        QCoreApplication::processEvents();
        for (const KnobSpec& spec : knobTable()) {
            KnobRow* row = b.panel.row(QString::fromStdString(spec.key->name));
            QVERIFY2(row->mapTo(&b.panel, QPoint(row->width(), 0)).x() <= b.panel.width(),
                     spec.key->name.c_str());
            constexpr int kMark = 14;  // ⟳ and the gap before it
            const auto* name = row->findChild<QLabel*>();
            QVERIFY2(name->geometry().right() + (row->toolTip().contains("new run") ? kMark : 0) < 92,
                     qPrintable(row->label()));
            for (const QLabel* label : row->findChildren<QLabel*>())
                QVERIFY2(!label->isVisible() || label->width() >= label->sizeHint().width() ||
                             label->text().size() < 2,
                         qPrintable(row->label() + u' ' + label->text()));
        }
    }

    /// The whole header of a fold opens it, not its text alone.
    void aFoldOpensOnItsWholeHeader() {
        Bench b;
        KnobRow* row = b.panel.row("stack.heads");
        QVERIFY(!row->isVisible());
        for (QToolButton* button : b.panel.findChildren<QToolButton*>()) {
            if (!button->text().startsWith("Sizes")) continue;
            QVERIFY(button->width() > b.panel.width() - 40);
            QTest::mouseClick(button, Qt::LeftButton, {}, QPoint(button->width() - 4, button->height() / 2));
        }
        QVERIFY(row->isVisible());
    }

    /// Marks, warnings and what does not apply move no row.
    void rowsKeepTheirPlace() {
        Bench b;
        b.panel.setAllShown(true);
        QCoreApplication::processEvents();
        const auto places = [&](const auto& counts) {
            QCoreApplication::processEvents();
            std::vector<QRect> all;
            for (const KnobSpec& spec : knobTable()) {
                KnobRow* row = b.panel.row(QString::fromStdString(spec.key->name));
                all.push_back({row->mapTo(&b.panel, QPoint(0, 0)), row->size()});
                for (QWidget* part : row->findChildren<QWidget*>())
                    if (part->isVisible() && counts(part))
                        all.push_back({part->mapTo(&b.panel, QPoint(0, 0)), part->size()});
            }
            return all;
        };
        const auto editors = [](const QWidget* part) {
            return part->focusPolicy() != Qt::NoFocus && !part->inherits("QToolButton");
        };
        const auto sliders = [](const QWidget* part) {
            return part->inherits("normscope::widgets::KnobSlider") || part->inherits("QLabel");
        };
        const auto before = places(editors), sliders_before = places(sliders);
        Recipe other;
        other.stack.scheme = Scheme::Mix;
        other.stack.residual_step = 0.2;
        other.stack.gpas.enabled = true;
        other.stack.init.rule = InitRule::PathLength;
        b.panel.setRecipe(other, {});
        b.panel.notices()->setNotices("stack.heads: 5 does not divide 64", {"a warning"});
        QVERIFY(places(editors) == before);
        // A second field, in the place of one.
        b.panel.setCompared(sideBySide({Recipe{}, other}, 1));
        QVERIFY(places(sliders) == sliders_before);
    }

    void aKnobShownAlreadyIsNotPaintedAgain() {
        Bench b;
        Recipe recipe;
        b.panel.setRecipe(recipe, recipe);
        test::Paints paints(&b.panel);
        b.panel.setRecipe(recipe, recipe);
        b.panel.setLinked(b.panel.isLinked());
        QCOMPARE(paints.painted().join(u' '), QString());
        recipe.stack.residual_step = 0.5;
        b.panel.setRecipe(recipe, {});
        QCOMPARE(paints.painted().count(QStringLiteral("normscope::widgets::KnobSlider")), 1);
    }
};

NORMSCOPE_WIDGET_TEST(KnobPanelTest)
#include "knob_panel_test.moc"
