// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/appearance_controller.h"
#include "app/window/files/figure_controller.h"
#include "app/window/search_controller.h"
#include "core/recipe/presets.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/command_search.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/drawers/help_drawer.h"
#include "widgets/figures/number_text.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/diff_list.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/ribbon_view.h"
#include "widgets/stack/stack_view.h"
#include "window_bench.h"

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

const widgets::Curve& curve(const widgets::PanelCell* cell, const QString& name) {
    for (const auto& c : cell->plot()->figure()->plots.at(0).curves)
        if (c.name == name && c.kind != widgets::LineKind::Ghost) return c;
    throw std::runtime_error("no curve " + name.toStdString());
}

widgets::KnobSlider* slider(const WindowBench& b, const char* key) {
    auto* knob =
        qobject_cast<widgets::Knob*>(b.find<widgets::KnobPanel>("knobPanel")->row(QLatin1String(key)));
    return knob->slider();
}

/// Counts the notifications of unsaved changes.
struct ModifiedChanges : QObject {
    int count = 0;
    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::ModifiedChange;
        return false;
    }
};

/// Presses the thumb, drags it by a number of pixels in steps, and releases it.
void drag(
    widgets::KnobSlider* slider, int by, const std::function<void()>& before_release = [] {}) {
    const QPoint from = slider->thumb().toPoint();
    QTest::mousePress(slider, Qt::LeftButton, {}, from);
    for (int i = 1; i <= 8; ++i) {
        QMouseEvent move(QEvent::MouseMove, from + QPoint(by * i / 8, 0),
                         slider->mapToGlobal(from + QPoint(by * i / 8, 0)), Qt::NoButton, Qt::LeftButton,
                         Qt::ShiftModifier);
        QCoreApplication::sendEvent(slider, &move);
        QTest::qWait(5);
    }
    before_release();
    QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, from + QPoint(by, 0));
}

}  // namespace

class WindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void everyPrecisionCanBeChosen() {
        WindowBench b;
        auto* knob =
            qobject_cast<widgets::ChoiceKnob*>(b.find<widgets::KnobPanel>("knobPanel")->row("precision"));
        for (int i = 0; i < knob->box()->count(); ++i) {
            const bool enabled =
                knob->box()->model()->flags(knob->box()->model()->index(i, 0)) & Qt::ItemIsEnabled;
            QVERIFY2(enabled, qPrintable(knob->box()->itemData(i).toString()));
        }
    }

    void aFigureIsRebuiltOnlyWhereItsInputsHaveChanged() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY(b.measured());
        Q_EMIT b.lab().viewChanged();  // the last measurement was for other panels
        const widgets::PanelCell* cell = b.cell("growth");
        const auto figure = cell->plot()->figure();
        b.lab().runs().select(1);  // the knobs show another run, the figures show all
        Q_EMIT b.lab().viewChanged();
        Q_EMIT b.lab().dataChanged({"growth"});
        QCOMPARE(cell->plot()->figure(), figure);
        b.lab().view().selectLayer(1);
        QVERIFY(cell->plot()->figure() != figure);
        const auto selected = cell->plot()->figure();
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QTRY_VERIFY(b.measured() && cell->plot()->figure() != selected);
    }

    void opensWithTheDefaultComparisonDrawnAtStepZero() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
        QCOMPARE(b.run(1).name, std::string("Post-LN"));
        QCOMPARE(b.window->views().grid->visibleCells().size(), 4u);
        for (const char* panel : {"growth", "gradients", "jacobian", "training"}) {
            const widgets::PanelCell* cell = b.cell(panel);
            QVERIFY2(cell->isVisible(), panel);
            const widgets::Figure& figure = *cell->plot()->figure();
            QVERIFY2(figure.empty_text.isEmpty(), panel);
            QString subtitle = QStringLiteral("at step 0");
            if (std::string(panel) == "jacobian")  // of one token, which it names
                subtitle += QStringLiteral(" · last token, sequence 1 of 8");
            subtitle.prepend(figure.plots[0].y.text() + QStringLiteral(" · "));  // not in the plot
            if (std::string(panel) == "gradients") subtitle += QStringLiteral(" · held-out batch");
            QCOMPARE(cell->findChild<QLabel*>("subtitle")->text(), subtitle);
            const widgets::PlotLayout& drawn = cell->plot()->figureLayout().plots.at(0);
            if (std::string(panel) == "training") {
                QCOMPARE(figure.plots[0].references.size(), 5u);
                QVERIFY(figure.plots[0].chips.at(0).text.contains("Press Space to train both runs"));
            } else {
                QVERIFY2(drawn.curves.size() >= 2, panel);
                for (const auto& c : drawn.curves)
                    if (!figure.plots[0].curves[c.curve].name.contains("bound"))
                        QVERIFY2(!c.pieces.empty(), panel);
            }
            QVERIFY2(!cell->plot()->accessibleDescription().isEmpty(), panel);
        }
        QCOMPARE(curve(b.cell("growth"), "Pre-LN").y.size(), 17u);
        QVERIFY(b.window->views().banner->message().isEmpty());
    }

    void draggingTheStepMovesTheGrowthCurveAndIsOneUndoEntry() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const auto before = curve(b.cell("growth"), "Pre-LN").y;
        bool ghost = false;
        drag(slider(b, "stack.residual_step"), -60, [&] {
            QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
            for (const auto& c : b.cell("growth")->plot()->figure()->plots[0].curves)
                ghost |= c.kind == widgets::LineKind::Ghost && c.y == before;
            b.keepScreenshot("drag");
        });
        QVERIFY(ghost);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(
            b.measured() && b.lab().comparison().runs[0].recipe.stack.residual_step < 0.9, 20000);
        const auto after = curve(b.cell("growth"), QString::fromStdString(b.run(0).name)).y;
        QVERIFY(after.back() < before.back());
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && b.lab().comparison().runs[0].recipe.stack.residual_step == 1,
                                 20000);
        QTRY_COMPARE(curve(b.cell("growth"), "Pre-LN").y, before);
        QCOMPARE(slider(b, "stack.residual_step")->value(), 1.0);
    }

    void aClickOnANormChipChangesTheFigures() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const auto before = curve(b.cell("growth"), "Pre-LN").y;
        auto* chip = b.window->views().stack->chip(0, Sublayer::Attention, widgets::NormPlace::Out);
        QVERIFY(chip);
        QTest::mouseClick(chip, Qt::LeftButton);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        // Exactly this override, in this run alone, and its mark.
        LayerOverride manual;
        manual.attn.out = true;
        Recipe expected = load_recipe(kDefaultComparison[0]);
        expected.stack.layers = {manual};
        QCOMPARE(recipe_json(b.lab().comparison().runs[0].recipe), recipe_json(expected));
        QCOMPARE(recipe_json(b.lab().comparison().runs[1].recipe),
                 recipe_json(load_recipe(kDefaultComparison[1])));
        QVERIFY(
            b.window->views().stack->chip(0, Sublayer::Attention, widgets::NormPlace::Out)->isOverridden());
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && curve(b.cell("growth"), "Pre-LN").y != before, 20000);
        b.keepScreenshot("override");
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(b.lab().comparison().runs[0].recipe.stack.layers.empty());
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && curve(b.cell("growth"), "Pre-LN").y == before, 20000);
    }

    /// Next to the layers, the gradients that the panel of gradients draws; at one place in both sizes.
    void theStackShowsTheGradientsOfAllRuns() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && b.run(1).probes.count("gradients"), 20000);
        widgets::StackView* stack = b.window->views().stack;
        const auto firstOf = [&](int run) {
            const ProbeResult* sample = b.run(run).sample_of("gradients", 0);
            return widgets::numberText(sample->find("hidden")->data.front());
        };
        const auto shown_text = [&](int run, const char* name) {
            return stack->ribbonView()->accessibleDescription().contains(
                QStringLiteral("%1 at step 0: ‖∂L/∂h‖ %2 at the embedding").arg(name, firstOf(run)));
        };
        QTRY_VERIFY(shown_text(0, "Pre-LN") && shown_text(1, "Post-LN"));
        QCOMPARE(stack->subtitle(), QString("Pre-LN, 8 layers"));
        // Also where no panel draws them.
        b.cell("gradients")->setPanel("tokens");
        const QString before = firstOf(0);
        b.lab().knobs().commitKey("stack.residual_step", 0.1);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact() && firstOf(0) != before, 20000);
        QTRY_VERIFY(shown_text(0, "Pre-LN") && shown_text(1, "Post-LN"));
        b.lab().runs().select(1);
        QCOMPARE(stack->subtitle(), QString("Post-LN, 8 layers"));
        for (const QSize size : {QSize(1440, 900), QSize(1920, 1080)}) {
            b.window->resize(size);
            QTRY_COMPARE(stack->width(), size.width() < 1700 ? 268 : 308);
            QCOMPARE(stack->mapTo(b.window.get(), QPoint(0, 0)).x(), 12);
            QCOMPARE(stack->height(), 376);
        }
    }

    void everySchemeOfTheMenuIsDrawn() {
        WindowBench b;
        b.makeSmall(4);
        auto* knob =
            qobject_cast<widgets::ChoiceKnob*>(b.find<widgets::KnobPanel>("knobPanel")->row("stack.scheme"));
        QComboBox* box = knob->box();
        QCOMPARE(box->count(), 10);
        box->setFocus();
        while (box->currentIndex() > 0) QTest::keyClick(box, Qt::Key_Up);
        for (int i = 0; i < box->count(); ++i) {
            if (i > 0) QTest::keyClick(box, Qt::Key_Down);
            const LabRun& run = b.lab().comparison().runs[0];
            QCOMPARE(int(run.recipe.stack.scheme), i);
            QTRY_VERIFY_WITH_TIMEOUT(
                b.measured() && run.data->recipe.value("test").stack.scheme == run.recipe.stack.scheme,
                20000);
            QVERIFY2(run.rejection.empty(), run.rejection.c_str());
            QVERIFY(curve(b.cell("growth"), QString::fromStdString(run.data->name)).y.size() == 7u);
        }
    }

    /// A panel that draws two probes has both measured, also where no other panel shows the second.
    void everyProbeOfAPanelIsMeasured() {
        WindowBench b;
        b.makeSmall(4);
        QVERIFY(b.cell("gradients"));
        if (widgets::PanelCell* residual = b.cell("residual")) residual->setPanel("tokens");
        QTRY_VERIFY_WITH_TIMEOUT(
            b.lab().view().exact() && b.run(0).probes.count("gradients") && b.run(0).probes.count("residual"),
            20000);
    }

    void theOtherPanelsAreMeasuredWhenTheyAreChosen() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QVERIFY(!b.cell("spectra") && !b.cell("mismatch"));  // the first window has its six
        QVERIFY(!b.run(0).probes.count("spectra"));
        widgets::PanelCell* left = b.cell("growth");
        widgets::PanelCell* right = b.cell("gradients");
        left->setPanel("spectra");
        QVERIFY(left->plot()->figure()->empty_text.contains("being measured"));
        right->setPanel("mismatch");
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact() && b.run(1).probes.count("mismatch"), 20000);
        for (const widgets::PanelCell* cell : {left, right}) {
            const widgets::Figure& figure = *cell->plot()->figure();
            if (!find_probe(cell->panel())) {  // an engine without it
                QVERIFY(figure.empty_text.contains("not measured yet"));
                continue;
            }
            QVERIFY2(figure.empty_text.isEmpty(), qPrintable(figure.empty_text));
            QCOMPARE(figure.plots[0].y.scale, widgets::Scale::Log);
            QCOMPARE(curve(cell, "Pre-LN").y.size(), cell == left ? 3u : 7u);
            QVERIFY(!curve(cell, "Post-LN").y.empty());
            QVERIFY(cell->csv().contains("Post-LN"));
        }
        b.keepScreenshot("panels");
        left->setOptions({{"view", "end_to_end"}});
        right->setOptions({{"format", "fp16"}});
        QVERIFY(!curve(right, "Pre-LN").y.empty());
        b.keepScreenshot("panels-end-to-end");
        // Training does not run this probe: earlier samples are kept, at step 0.
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        QVERIFY(b.run(0).probes.at("growth").size() > 1);
        if (!find_probe("spectra")) return;
        QCOMPARE(b.run(0).probes.at("spectra").size(), 1u);
        QCOMPARE(left->plot()->figure()->subtitle, QString("at step 0"));
    }

    void whatDiffersFromThePresetIsListedAndReset() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        widgets::DiffList* list = b.find<widgets::KnobPanel>("knobPanel")->differences();
        QVERIFY(list->differences().empty());
        b.lab().knobs().commitKey("stack.temperature", 2.0);
        b.lab().knobs().commitKey("stack.qk_norm", "head");
        b.lab().knobs().setNorm(0, Sublayer::Attention, widgets::NormPlace::Out, true, false);
        QStringList lines;
        for (const auto& d : list->differences()) lines << d.label + ' ' + d.base + " > " + d.now;
        QCOMPARE(lines, QStringList({"QK-norm Off > Per head", "τ 1 > 2", "Overrides none > layer 1"}));
        list->setListShown(true);
        b.keepScreenshot("differences");
        const bool dark = b.window->appearance()->isDark();
        b.window->appearance()->setDark(!dark);
        b.keepScreenshot("differences-other-theme");
        b.window->appearance()->setDark(dark);
        QTest::mouseClick(list->findChild<QPushButton*>("stack.qk_norm"), Qt::LeftButton);
        QTRY_COMPARE(list->differences().size(), 2u);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.qk_norm, QkNorm::Off);
        QCOMPARE(b.lab().comparison().runs[1].recipe.stack.qk_norm, QkNorm::Off);  // linked
        QTest::mouseClick(list->findChild<QPushButton*>("stack.layers"), Qt::LeftButton);
        QTRY_VERIFY(b.lab().comparison().runs[0].recipe.stack.layers.empty());
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.layers.size(), 1u);
    }

    void warningsAndRejectionsAreShownBelowTheKnobs() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const widgets::NoticeStrip* strip = b.find<widgets::KnobPanel>("knobPanel")->notices();
        QVERIFY(!strip->isVisible());
        b.lab().runs().setLinked(false);
        b.lab().knobs().commitKey("stack.scheme", "lns");
        b.lab().knobs().commitKey("stack.init.rule", "gpt2");
        QVERIFY(strip->isVisible() && strip->rejection().isEmpty());
        QCOMPARE(strip->warnings().size(), 1);
        QVERIFY(strip->warnings()[0].contains("lns"));
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().knobs().commitKey("stack.heads", 5);
        QTRY_VERIFY(strip->rejection().contains("stack.heads"));
        QCOMPARE(b.find<widgets::RunStrip>("runStrip")->chips().at(0)->run().state, RunState::Failed);
        QVERIFY(b.cell("growth")->plot()->figure()->empty_text.isEmpty());
        b.keepScreenshot("rejected");
        b.lab().knobs().commitKey("stack.heads", 4);
        QTRY_VERIFY(strip->rejection().isEmpty());
        b.lab().knobs().commitKey("stack.init.rule", "lab");
        QVERIFY(!strip->isVisible());
    }

    void spaceTrainsAndTheScrubberShowsEveryPanelAtItsStep() {
        WindowBench b;
        b.makeSmall(8);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QTest::keyClick(b.window.get(), Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(1).steps.rows(), 8u);
        QTRY_COMPARE(curve(b.cell("training"), "Pre-LN").y.size(), 8u);
        QTRY_COMPARE(b.find<widgets::TransportBar>("transportBar")->scrubber()->recorded(), qint64(7));
        QTRY_VERIFY(b.cell("growth")->findChild<QLabel*>("subtitle")->text().contains("step 7"));
        const auto last = curve(b.cell("growth"), "Pre-LN").y;
        Q_EMIT b.find<widgets::TransportBar>("transportBar")->scrubbed(0);
        QCOMPARE(b.cell("growth")->findChild<QLabel*>("subtitle")->text(),
                 QStringLiteral("RMS of the hidden state · at step 0 · whole-run axes"));
        QVERIFY(curve(b.cell("growth"), "Pre-LN").y != last);
        QTest::keyClick(b.window.get(), Qt::Key_End);
        QCOMPARE(curve(b.cell("growth"), "Pre-LN").y, last);
    }

    void theHoverCardShowsTheMeasuredValue() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        widgets::PlotView* plot = b.cell("growth")->plot();
        const widgets::PlotLayout& drawn = plot->figureLayout().plots[0];
        const QPoint at(int(drawn.x.toPixel(6)), int(drawn.area.center().y()));
        QTest::mouseMove(plot->viewport(), at);
        QTRY_VERIFY(!plot->hoverText().isEmpty());
        for (int i : {0, 1}) {
            const double rms = b.run(i).probes.at("growth").back().find("rms")->data[12];
            QVERIFY2(plot->hoverText().contains(widgets::numberText(rms)), qPrintable(plot->hoverText()));
        }
        QVERIFY(plot->hoverText().contains("layer 6"));
        b.keepScreenshot("hover");
    }

    void aHoveredLayerIsSharedBetweenStackAndPanels() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QSignalSpy hovered(b.window->views().grid, &widgets::PanelGrid::layerHovered);
        widgets::PlotView* plot = b.cell("gradients")->plot();
        const widgets::PlotLayout& drawn = plot->figureLayout().plots[0];
        QTest::mouseMove(plot->viewport(), QPoint(int(drawn.x.toPixel(3)), int(drawn.area.center().y())));
        QTRY_VERIFY(!hovered.isEmpty());
        QCOMPARE(hovered.last()[0].toInt(), 2);
    }

    void aPanelFillsTheCentreAndEscapeReturns() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QTest::mouseDClick(b.cell("gradients")->findChild<QWidget*>("header"), Qt::LeftButton);
        QCOMPARE(b.window->views().grid->visibleCells().size(), 1u);
        QCOMPARE(b.window->views().grid->visibleCells()[0], b.cell("gradients"));
        QTest::keyClick(b.window.get(), Qt::Key_Escape);
        QCOMPARE(b.window->views().grid->visibleCells().size(), 4u);
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        QCOMPARE(b.window->views().grid->visibleCells().size(), 1u);
        QVERIFY(!b.find<widgets::RunStrip>("runStrip")->isVisible());
        b.keepScreenshot("presentation");
        QTest::keyClick(b.window.get(), Qt::Key_Escape);
        QVERIFY(b.find<widgets::RunStrip>("runStrip")->isVisible());
    }

    void theWideWindowShowsSixPanelsAndTheRail() {
        WindowBench b;
        b.window->resize(1920, 1080);
        QTRY_COMPARE(b.window->views().grid->visibleCells().size(), 6u);
        QTRY_VERIFY_WITH_TIMEOUT(
            b.measured() && b.run(0).probes.count("theta") && b.run(0).probes.count("null_space"), 20000);
        for (const widgets::PanelCell* cell : b.window->views().grid->cells())
            QVERIFY2(cell->plot()->figure()->empty_text.isEmpty(), cell->panel().c_str());
        QVERIFY(b.find<QWidget>("sideRail")->isVisible());
    }

    void commandsAreFoundByTyping() {
        WindowBench b;
        b.window->search()->open();
        auto* search = b.find<widgets::CommandSearch>("commandSearch");
        QVERIFY(search);
        QTest::keyClicks(search->findChild<QLineEdit*>("commandInput"), "light dark");
        QCOMPARE(search->findChild<QListWidget*>("commandList")->count(), 1);
        b.keepScreenshot("search", search);
        const bool dark = b.window->appearance()->isDark();
        auto* list = search->findChild<QListWidget*>("commandList");
        QTest::keyClicks(search->findChild<QLineEdit*>("commandInput"), " zzz");
        QCOMPARE(list->item(0)->text(), QString("Nothing found with these words"));
        QTest::keyClick(search->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);  // does nothing
        QVERIFY(search->isVisible());
        search->findChild<QLineEdit*>("commandInput")->setText("light dark");
        QTest::keyClick(search->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);
        QTRY_COMPARE(b.window->appearance()->isDark(), !dark);
    }

    void theExportDialogShowsWhatItWillWrite() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.window->figures()->exportCurrent();
        auto* dialog = b.find<widgets::ExportDialog>("exportDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->options().size_mm, QSizeF(85, 60));
        QVERIFY(!dialog->options().metadata.isEmpty());
        b.keepScreenshot("export", dialog);
        auto* colours = dialog->findChild<QComboBox*>("exportColours");
        QVERIFY(colours);
        for (const auto kind :
             {widgets::Theme::Kind::Print, widgets::Theme::Kind::Light, widgets::Theme::Kind::Dark}) {
            colours->setCurrentIndex(colours->findData(static_cast<int>(kind)));
            QCOMPARE(dialog->options().theme, kind);
        }
        dialog->reject();
    }

    /// Name, outcome and differences of a chip are of one run, also while its knobs differ from the run.
    void aChipDescribesTheRunThatIsDrawn() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const auto chip = [&] {
            const widgets::RunLabel& run = b.find<widgets::RunStrip>("runStrip")->chips().at(0)->run();
            return run.name + QStringLiteral(" | ") + run.differs;
        };
        // The scheme is in the name, and not stated twice.
        QTRY_COMPARE(chip(), QStringLiteral("Pre-LN | "));
        b.lab().knobs().commitKey("stack.scheme", "sandwich");
        b.lab().runs().setLinked(false);
        b.lab().knobs().commitKey("optimizer.weight_decay", 0.05);
        QVERIFY(b.lab().comparison().changesPending());
        QCOMPARE(chip(), QStringLiteral("Pre-LN | "));
        b.lab().training().replaceRuns();
        QTRY_COMPARE(chip(), QStringLiteral("Sandwich-LN | decay 0.05"));
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
    }

    /// The menu above a panel acts on that panel, for any focus and mouse position.
    void aPanelsOwnMenuActsOnThatPanel() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.cell("growth")->plot()->setFocus();
        Q_EMIT b.cell("training")->exportRequested();
        auto* dialog = b.find<widgets::ExportDialog>("exportDialog");
        QVERIFY(dialog);
        QCOMPARE(dialog->windowTitle(), QStringLiteral("Export Loss"));
        dialog->reject();
        Q_EMIT b.cell("training")->copyRequested();
        QVERIFY(QGuiApplication::clipboard()->mimeData()->data("image/svg+xml").contains("<title>Loss"));
        Q_EMIT b.cell("training")->helpRequested();
        QVERIFY2(b.window->views().help->text().startsWith("Loss"),
                 qPrintable(b.window->views().help->text()));
        b.window->appearance()->resetFocus();  // Esc
        QVERIFY(!b.window->views().help->isVisible());
    }

    void spaceTrainsAlsoWithANumberJustTyped() {
        WindowBench b;
        b.makeSmall(8);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* row = b.find<widgets::KnobPanel>("knobPanel")->row("optimizer.lr");
        auto* field = row->findChild<QLineEdit*>();
        QTest::mouseClick(field, Qt::LeftButton);
        field->selectAll();
        QTest::keyClicks(field, "0.01");
        QTest::keyClick(field, Qt::Key_Space);  // without Enter: the typed value is used
        QCOMPARE(field->text(), QStringLiteral("0.01"));
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(0).recipe.value("test").train.optimizer.lr, 0.01);
    }

    /// A warning is visible also where its knob is scrolled out of view.
    void warningsDoNotScrollAway() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        b.lab().knobs().commitKey("stack.scheme", "lns");
        b.lab().knobs().commitKey("stack.init.rule", "gpt2");
        knobs->setAllShown(true);
        auto* scroll = knobs->findChild<QScrollArea*>();
        QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 200);
        scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
        QVERIFY(scroll->verticalScrollBar()->value() > 200);
        QVERIFY(!knobs->notices()->visibleRegion().isEmpty());
        b.keepScreenshot("warned");
    }

    void aDivergedRunEndsWithItsMarkAndTheOtherContinues() {
        WindowBench b;
        b.makeSmall(60);
        b.lab().runs().setLinked(false);
        for (const auto& [key, value] :
             std::vector<std::pair<const char*, FieldValue>>{{"stack.scheme", "none"},
                                                             {"stack.final_norm", "off"},
                                                             {"optimizer.lr", 30.0},
                                                             {"optimizer.clip", 0.0}})
            b.lab().knobs().commitKey(key, value);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        QCOMPARE(b.run(0).outcome.state, RunState::Diverged);
        QVERIFY(b.run(0).steps.rows() < 60u);
        QCOMPARE(b.run(1).steps.rows(), 60u);
        QCOMPARE(b.find<widgets::RunStrip>("runStrip")->chips().at(0)->run().state, RunState::Diverged);
        QTRY_COMPARE(curve(b.cell("training"), QString::fromStdString(b.run(0).name)).end.kind,
                     widgets::EndMark::Kind::Diverged);
        for (const widgets::PanelCell* cell : b.window->views().grid->visibleCells())
            QVERIFY2(cell->plot()->figure()->empty_text.isEmpty(), cell->panel().c_str());
        b.keepScreenshot("diverged");
        b.lab().knobs().commitKey("stack.depth", 5);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact() && b.lab().comparison().runs[0].preview, 20000);
        b.keepScreenshot("pending");
        b.window->figures()->explainCurrent();
        b.keepScreenshot("explain");
    }

    /// The lab is destroyed after its window, and a destroyed undo stack signals that there is nothing to
    /// save.
    void aDestroyedWindowGetsNoSignals() {
        WindowBench b;
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QVERIFY(b.window->isWindowModified());
        ModifiedChanges changes;
        b.window->installEventFilter(&changes);
        b.window.reset();
        QCOMPARE(changes.count, 0);
    }

    void aRejectedKnobIsShownInTheBanner() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().knobs().commitKey("stack.heads", 5);
        QTRY_VERIFY(b.window->views().banner->message().contains("heads"));
    }
};

NORMSCOPE_WIDGET_TEST(WindowTest)
#include "window_test.moc"
