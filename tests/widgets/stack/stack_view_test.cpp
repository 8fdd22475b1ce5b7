// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_view.h"

#include "tests/support/test_main.h"
#include "tests/widgets/quiet.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"
#include "widgets/stack/factor_popup.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/ribbon_view.h"

#include <QContextMenuEvent>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QWheelEvent>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;

class StackViewTest : public QObject {
    Q_OBJECT

    struct Bench {
        StackView view;
        QSignalSpy toggled{&view, &StackView::normToggled};
        QSignalSpy hovered{&view, &StackView::layerHovered};
        QSignalSpy selected{&view, &StackView::layerSelected};
        explicit Bench(int depth = 12, Scheme scheme = Scheme::Pre) {
            StackSpec spec;
            spec.depth = depth;
            spec.scheme = scheme;
            view.setSpec(spec);
            view.resize(268, view.sizeHint().height());
            view.show();
            QVERIFY(QTest::qWaitForWindowActive(&view));
            view.setFocus();
        }
        QPoint middle(int layer) { return view.stackLayout().layerRect(layer).center().toPoint(); }
    };

    static void compareToggle(const QList<QVariant>& signal, int layer, Sublayer kind, NormPlace place,
                              bool on, bool all_layers) {
        QCOMPARE(signal[0].toInt(), layer);
        QVERIFY(signal[1].value<Sublayer>() == kind);
        QVERIFY(signal[2].value<NormPlace>() == place);
        QCOMPARE(signal[3].toBool(), on);
        QCOMPARE(signal[4].toBool(), all_layers);
    }

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void chipsStateWhatTheSchemeHas() {
        Bench b(4, Scheme::Peri);
        for (int layer = 0; layer < 4; ++layer)
            for (Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) {
                QVERIFY(b.view.chip(layer, kind, NormPlace::In)->isChecked());
                QVERIFY(b.view.chip(layer, kind, NormPlace::Out)->isChecked());
                QVERIFY(!b.view.chip(layer, kind, NormPlace::Post)->isChecked());
                QVERIFY(!b.view.chip(layer, kind, NormPlace::Post)->isOverridden());
            }
    }

    void aClickAsksForOneLayerShiftForAll() {
        Bench b(4);
        NormChip* post = b.view.chip(2, Sublayer::FeedForward, NormPlace::Post);
        QTest::mouseClick(post, Qt::LeftButton);
        QCOMPARE(b.toggled.count(), 1);
        compareToggle(b.toggled[0], 2, Sublayer::FeedForward, NormPlace::Post, true, false);
        QVERIFY(!post->isChecked());  // only requested
        QTest::mouseClick(b.view.chip(1, Sublayer::Attention, NormPlace::In), Qt::LeftButton,
                          Qt::ShiftModifier);
        QCOMPARE(b.toggled.count(), 2);
        compareToggle(b.toggled[1], 1, Sublayer::Attention, NormPlace::In, false, true);
        QTest::mouseClick(b.view.chip(1, Sublayer::Attention, NormPlace::In), Qt::LeftButton);
        compareToggle(b.toggled[2], 1, Sublayer::Attention, NormPlace::In, false, false);
    }

    void overriddenChipsAreMarked() {
        Bench b(4);
        StackSpec spec;
        spec.depth = 4;
        b.view.setSpec(withNorm(spec, 2, Sublayer::FeedForward, NormPlace::Post, true, false));
        QVERIFY(b.view.chip(2, Sublayer::FeedForward, NormPlace::Post)->isChecked());
        QVERIFY(b.view.chip(2, Sublayer::FeedForward, NormPlace::Post)->isOverridden());
        QVERIFY(!b.view.chip(2, Sublayer::FeedForward, NormPlace::In)->isOverridden());
        QCOMPARE(b.toggled.count(), 0);
    }

  private:
    static Ribbon ribbon(const QString& name, int index, int depth, double gradient, int runs = 1) {
        return {name, index, runs, std::vector<double>(static_cast<std::size_t>(2 * depth + 1), gradient), 7};
    }

    /// Columns of a run's hue on the residual stream in the middle between two sums.
    static int streamWidth(const StackView& view, int state, int index) {
        const QImage image = const_cast<StackView&>(view).grab().toImage();
        const QRgb hue = themeOf(view.palette()).run(index).rgb();
        int width = 0;
        for (int dx = -12; dx <= 12; ++dx)
            width += image.pixel(qFloor(view.stackLayout().residual()) + dx,
                                 qRound(view.stackLayout().y(state))) == hue;
        return width;
    }

    /// The layers with chips, from below.
    static std::vector<int> layersIn(const StackView& view, int depth) {
        std::vector<int> layers;
        for (int layer = 0; layer < depth; ++layer)
            if (view.chip(layer, Sublayer::Attention, NormPlace::In)) layers.push_back(layer);
        return layers;
    }
    using Layers = std::vector<int>;

    static void turnWheel(StackView& view, int angle) {
        const QPointF at(150, 150);
        QWheelEvent event(at, view.mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&view, &event);
    }

  private Q_SLOTS:
    void theWheelScrollsALayerANotch() {
        Bench b;
        QCOMPARE(layersIn(b.view, 12), (Layers{0, 1, 2, 3, 4}));
        turnWheel(b.view, 120);
        QCOMPARE(layersIn(b.view, 12), (Layers{1, 2, 3, 4, 5}));
        for (int i = 0; i < 3; ++i) turnWheel(b.view, 40);  // a finer wheel
        QCOMPARE(layersIn(b.view, 12), (Layers{2, 3, 4, 5, 6}));
        turnWheel(b.view, 120 * 50);
        QCOMPARE(layersIn(b.view, 12), (Layers{7, 8, 9, 10, 11}));
        QVERIFY(b.view.stackLayout().headInView());
        turnWheel(b.view, -120 * 50);
        QVERIFY(b.view.stackLayout().embeddingInView());
        QCOMPARE(b.view.selectedLayer(), 0);
        QCOMPARE(b.selected.count(), 0);  // scrolling selects nothing
    }

    void theFrameOfTheRibbonsScrolls() {
        Bench b;
        RibbonView* ribbons = b.view.ribbonView();
        const auto at = [&](double layer) {
            return QPoint(static_cast<int>(ribbons->column(0)), qRound(ribbons->y(layer)));
        };
        QTest::mouseClick(ribbons, Qt::LeftButton, {}, at(9.5));
        QCOMPARE(layersIn(b.view, 12), (Layers{7, 8, 9, 10, 11}));
        QTest::mousePress(ribbons, Qt::LeftButton, {}, at(9));
        QTest::mouseMove(ribbons, at(5));
        QTRY_COMPARE(layersIn(b.view, 12), (Layers{3, 4, 5, 6, 7}));
        QTest::mouseMove(ribbons, at(-40));
        QTRY_COMPARE(layersIn(b.view, 12), (Layers{0, 1, 2, 3, 4}));
        QTest::mouseMove(ribbons, at(40));
        QTRY_VERIFY(b.view.stackLayout().headInView());
        QTest::mouseRelease(ribbons, Qt::LeftButton, {}, at(40));
        QCOMPARE(b.selected.count(), 0);
    }

    /// A click on a row that is in view moves nothing; the keyboard brings the selected layer into view.
    void onlyTheKeyboardScrollsToTheSelection() {
        Bench b;
        const auto place = [&](int layer) {
            const NormChip* chip = b.view.chip(layer, Sublayer::Attention, NormPlace::In);
            return chip ? chip->geometry() : QRect();
        };
        b.view.scrollTo(3);
        for (const int layer : {7, 3, 5}) {
            const QRect before = place(5);
            QTest::mouseClick(&b.view, Qt::LeftButton, {}, b.middle(layer));
            QCOMPARE(b.view.selectedLayer(), layer);
            QCOMPARE(place(5), before);
        }
        QCOMPARE(b.selected.count(), 3);
        b.view.scrollTo(7);
        QTest::mouseClick(&b.view, Qt::LeftButton, {}, b.middle(11));  // not to the head
        QCOMPARE(b.view.stackLayout().scroll, 7);
        QTest::keyClick(&b.view, Qt::Key_Home);
        QCOMPARE(layersIn(b.view, 12), (Layers{0, 1, 2, 3, 4}));
        for (int i = 0; i < 4; ++i) QTest::keyClick(&b.view, Qt::Key_PageUp);
        QCOMPARE(layersIn(b.view, 12), (Layers{0, 1, 2, 3, 4}));
        QTest::keyClick(&b.view, Qt::Key_PageUp);
        QCOMPARE(layersIn(b.view, 12), (Layers{1, 2, 3, 4, 5}));
        QTest::keyClick(&b.view, Qt::Key_End);
        QVERIFY(b.view.stackLayout().headInView());
        QTest::keyClick(&b.view, Qt::Key_Down);
        QTest::keyClick(&b.view, Qt::Key_Down);
        QVERIFY(b.view.stackLayout().headInView());  // is in view: nothing moves
        // A key that acts on a layer out of view shows it.
        b.view.scrollTo(0);
        QTest::keyClick(&b.view, Qt::Key_O);
        QCOMPARE(layersIn(b.view, 12), (Layers{6, 7, 8, 9, 10}));
        // A layer selected elsewhere is shown, too.
        b.view.select(2, Sublayer::Attention);
        QCOMPARE(layersIn(b.view, 12), (Layers{2, 3, 4, 5, 6}));
    }

    void aChipInViewTogglesItsLayer() {
        Bench b;
        b.view.scrollTo(5);
        QVERIFY(!b.view.chip(4, Sublayer::Attention, NormPlace::In));
        QTest::mouseClick(b.view.chip(7, Sublayer::FeedForward, NormPlace::Out), Qt::LeftButton);
        compareToggle(b.toggled.last(), 7, Sublayer::FeedForward, NormPlace::Out, true, false);
        QCOMPARE(b.selected.last()[0].toInt(), 7);
        QCOMPARE(b.view.stackLayout().scroll, 5);
    }

    void nothingMovesWithTheDepth() {
        Bench b;
        const QRect ribbons = b.view.ribbonView()->geometry();
        auto* menu = b.view.findChild<GlyphButton*>("stackMenuButton");
        const QRect button = menu->geometry();
        const QRect chip = b.view.chip(0, Sublayer::Attention, NormPlace::Post)->geometry();
        for (const int depth : {5, 1, 4, 96, 4096, 12}) {
            StackSpec spec;
            spec.depth = depth;
            b.view.setSpec(spec);
            QCOMPARE(b.view.sizeHint().height(), 376);
            QCOMPARE(b.view.ribbonView()->geometry(), ribbons);
            QCOMPARE(menu->geometry(), button);
            QCOMPARE(b.view.chip(0, Sublayer::Attention, NormPlace::Post)->geometry(), chip);
            QVERIFY(!b.view.grab().isNull());
        }
    }

    void keys() {
        Bench b(4, Scheme::Post);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QVERIFY(b.view.selectedLayer() == 0 && b.view.selectedSublayer() == Sublayer::FeedForward);
        QCOMPARE(b.selected.count(), 0);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QVERIFY(b.view.selectedLayer() == 1 && b.view.selectedSublayer() == Sublayer::Attention);
        QCOMPARE(b.selected.count(), 1);
        QTest::keyClick(&b.view, Qt::Key_I);
        compareToggle(b.toggled[0], 1, Sublayer::Attention, NormPlace::In, true, false);
        QTest::keyClick(&b.view, Qt::Key_P, Qt::ShiftModifier);
        compareToggle(b.toggled[1], 1, Sublayer::Attention, NormPlace::Post, false, true);
        QTest::keyClick(&b.view, Qt::Key_End);
        QCOMPARE(b.view.selectedLayer(), 3);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QTest::keyClick(&b.view, Qt::Key_O);
        compareToggle(b.toggled[2], 3, Sublayer::FeedForward, NormPlace::Out, true, false);
        QTest::keyClick(&b.view, Qt::Key_Home);
        QTest::keyClick(&b.view, Qt::Key_Down);
        QVERIFY(b.view.selectedLayer() == 0 && b.view.selectedSublayer() == Sublayer::Attention);
        QTest::keyClick(&b.view, Qt::Key_O, Qt::ControlModifier);  // not a shortcut of the stack
        QCOMPARE(b.toggled.count(), 3);
    }

    /// The action of the open menu whose text holds a word.
    static QAction* entry(const StackView& view, const char* word) {
        const auto* menu = view.findChild<QMenu*>("stackMenu");
        if (!menu) return nullptr;
        for (QAction* action : menu->actions())
            if (action->text().contains(QLatin1String(word))) return action;
        return nullptr;
    }

    void theMenuResetsAndApplies() {
        Bench b(4);
        StackSpec spec;
        spec.depth = 4;
        spec = withNorm(spec, 2, Sublayer::FeedForward, NormPlace::Post, true, false);
        spec = withNorm(spec, 0, Sublayer::Attention, NormPlace::Out, true, false);
        b.view.setSpec(spec);
        std::vector<LayerOverride> layers;
        QStringList edits;
        connect(&b.view, &StackView::layersEdited, this,
                [&](const std::vector<LayerOverride>& l, const QString& what) {
                    layers = l;
                    edits << what;
                });
        const auto open = [&](int layer) {
            delete b.view.findChild<QMenu*>("stackMenu");
            QContextMenuEvent event(QContextMenuEvent::Mouse, b.middle(layer),
                                    b.view.mapToGlobal(b.middle(layer)));
            QCoreApplication::sendEvent(&b.view, &event);
        };
        open(1);
        QVERIFY(entry(b.view, "Reset layer 2") && !entry(b.view, "Reset layer 2")->isEnabled());
        open(2);
        QVERIFY(entry(b.view, "Reset layer 3")->isEnabled());
        entry(b.view, "Reset layer 3")->trigger();
        QCOMPARE(layers.size(), std::size_t(1));
        QCOMPARE(layers[0].index, 0);
        entry(b.view, "Apply layer 3")->trigger();
        QCOMPARE(layers.size(), std::size_t(4));
        QVERIFY(layers[0].attn.empty() && layers[3].ffn.post == true);
        entry(b.view, "Reset all")->trigger();
        QVERIFY(layers.empty());
        QCOMPARE(edits,
                 QStringList({"reset layer 3", "layer 3 applied to all layers", "reset all overrides"}));
        delete b.view.findChild<QMenu*>("stackMenu");
    }

    void keysResetAndTheFactorsHaveAWindow() {
        Bench b(4);
        StackSpec spec;
        spec.depth = 4;
        spec = withNorm(spec, 0, Sublayer::Attention, NormPlace::Out, true, false);
        b.view.setSpec(spec);
        int count = 0;
        std::vector<LayerOverride> layers = spec.layers;
        connect(&b.view, &StackView::layersEdited, this, [&](const std::vector<LayerOverride>& l) {
            layers = l;
            ++count;
            StackSpec next = spec;
            next.layers = l;
            b.view.setSpec(next);
        });
        QTest::keyClick(&b.view, Qt::Key_A);
        auto* popup = b.view.findChild<FactorPopup*>("factorPopup");
        QVERIFY(popup);
        QCOMPARE(popup->fieldA()->placeholderText(), "1");
        popup->fieldB()->setText("many");
        QTest::keyClick(popup->fieldB(), Qt::Key_Return);
        QCOMPARE(count, 0);  // rejected, still open
        popup->fieldB()->setText("0,5");
        QTest::keyClick(popup->fieldB(), Qt::Key_Return);
        QCOMPARE(count, 1);
        QCOMPARE(layers.size(), std::size_t(1));
        QVERIFY(layers[0].attn.b == 0.5 && !layers[0].attn.a && layers[0].attn.out == true);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QTest::keyClick(&b.view, Qt::Key_Delete);  // layer 2 has nothing to reset
        QCOMPARE(count, 1);
        QTest::keyClick(&b.view, Qt::Key_Delete, Qt::ShiftModifier);
        QCOMPARE(count, 2);
        QVERIFY(layers.empty());
    }

    void aParallelLayerShowsOnePostNorm() {
        Bench b(3, Scheme::Post);
        StackSpec spec;
        spec.depth = 3;
        spec.scheme = Scheme::Post;
        spec.layout = Layout::Parallel;
        b.view.setSpec(spec);
        QVERIFY(!b.view.chip(1, Sublayer::Attention, NormPlace::Post));
        QVERIFY(b.view.chip(1, Sublayer::FeedForward, NormPlace::Post));
        QTest::keyClick(&b.view, Qt::Key_P);  // attention of layer 1 is selected
        QCOMPARE(b.toggled.count(), 0);
        spec.layout = Layout::Serial;
        b.view.setSpec(spec);
        QVERIFY(b.view.chip(1, Sublayer::Attention, NormPlace::Post));
    }

    void hover() {
        Bench b;
        QTest::mouseMove(&b.view, b.middle(3));
        QTRY_COMPARE(b.hovered.count(), 1);
        QCOMPARE(b.hovered[0][0].toInt(), 3);
        const NormChip* chip = b.view.chip(4, Sublayer::Attention, NormPlace::In);
        QTest::mouseMove(const_cast<NormChip*>(chip));
        QTRY_COMPARE(b.hovered.last()[0].toInt(), 4);
        RibbonView* ribbons = b.view.ribbonView();
        QTest::mouseMove(ribbons, QPoint(40, qRound(ribbons->y(9))));
        QTRY_COMPARE(b.hovered.last()[0].toInt(), 8);
        const auto count = b.hovered.count();
        b.view.setHoveredLayer(3);  // another panel's crosshair
        QCOMPARE(b.hovered.count(), count);
    }

    void theStreamIsAsWideAsTheGradient() {
        Bench b(12, Scheme::None);
        QCOMPARE(streamWidth(b.view, 3, 0), 0);  // no sample
        Ribbon run = ribbon("Pre-LN", 0, 12, 1);
        run.gradient[5] = std::nan("");
        run.gradient[7] = 1e-2;
        b.view.setRibbons({run, ribbon("Post-LN", 1, 12, 1e-2)}, 0);
        QVERIFY(std::abs(streamWidth(b.view, 3, 0) - 12) <= 1);
        QCOMPARE(streamWidth(b.view, 5, 0), 0);  // not measured
        QVERIFY(std::abs(streamWidth(b.view, 7, 0) - 6.5) <= 1.5);
        b.view.setRibbons({run, ribbon("Post-LN", 1, 12, 1e-2)}, 1);
        QCOMPARE(streamWidth(b.view, 3, 0), 0);
        QVERIFY(std::abs(streamWidth(b.view, 3, 1) - 6.5) <= 1.5);
        b.view.setRibbons({ribbon("Pre-LN", 0, 6, 1)}, 0);  // measured in another stack
        QCOMPARE(streamWidth(b.view, 3, 0), 0);
    }

    void theSubtitleNamesTheRunOrGroup() {
        Bench b;
        QCOMPARE(b.view.subtitle(), QString("12 layers"));
        b.view.setRibbons({ribbon("Pre-LN", 0, 12, 1), ribbon("DeepNorm ×3", 1, 12, 1, 3)}, 0);
        QCOMPARE(b.view.subtitle(), QString("Pre-LN, 12 layers"));
        b.view.setRibbons({ribbon("Pre-LN", 0, 12, 1), ribbon("DeepNorm ×3", 1, 12, 1, 3)}, 1);
        QCOMPARE(b.view.subtitle(), QString("DeepNorm ×3, median"));
        // What does not fit is omitted, not cut.
        b.view.setRibbons({ribbon("Post-LN, Δt 0.2, lr 0.003", 0, 12, 1)}, 0);
        QCOMPARE(b.view.subtitle(), QString("Post-LN, Δt 0.2, lr 0.003"));
        b.view.setRibbons({ribbon(QString(80, u'x'), 0, 12, 1)}, 0);
        QCOMPARE(b.view.subtitle(), QString("12 layers"));
    }

    void theDescriptionHasFormulaAndGradient() {
        Bench b;
        QVERIFY(b.view.accessibleDescription().startsWith("Layer 1, attention\nx' = "));
        Ribbon run = ribbon("Pre-LN", 0, 12, 0.25);
        run.gradient[2] = 0.125;
        b.view.setRibbons({run}, 0);
        QTest::keyClick(&b.view, Qt::Key_Up);
        QVERIFY2(b.view.accessibleDescription().endsWith(
                     QStringLiteral("‖∂L/∂h‖ of Pre-LN, step 7: 0.25 before, 0.125 after")),
                 qPrintable(b.view.accessibleDescription()));
    }

    void theButtonOpensTheMenu() {
        Bench b;
        QTest::keyClick(&b.view, Qt::Key_End);
        b.view.scrollTo(0);
        QTest::mouseClick(b.view.findChild<GlyphButton*>("stackMenuButton"), Qt::LeftButton);
        QVERIFY(entry(b.view, "Reset layer 12"));
        QVERIFY(b.view.stackLayout().inView(11));
        delete b.view.findChild<QMenu*>("stackMenu");
    }

    /// A post norm is also a bar across the stream, a gate a diamond where the scheme's rule has it.
    void barsAndGatesFollowTheRules() {
        Bench b(4, Scheme::Post);
        const auto solid = [&](double x, double y) {
            const QColor pixel = b.view.grab().toImage().pixelColor(qRound(x), qRound(y));
            return pixel == b.view.palette().color(QPalette::Highlight);
        };
        const StackLayout& layout = b.view.stackLayout();
        const auto row = [&](Sublayer kind) { return sublayerRect(layout.layerRect(2), kind); };
        const double x = layout.residual();
        const double bar = sublayerBoxes(row(Sublayer::Attention)).sum.top() - 4;
        QVERIFY(solid(x + 8, bar));
        StackSpec spec;
        spec.depth = 4;
        b.view.setSpec(spec);
        QVERIFY(!solid(x + 8, bar));
        const double output = row(Sublayer::Attention).top();
        QVERIFY(!solid(x, output));
        spec.gpas.enabled = true;
        spec.gpas.site = GateSite::Output;
        b.view.setSpec(spec);
        QVERIFY(solid(x, output));
        spec.gpas.site = GateSite::Shortcut;
        b.view.setSpec(spec);
        QVERIFY(!solid(x, output));
        QVERIFY(solid(x, sublayerBoxes(row(Sublayer::Attention)).sum.bottom() + 4));
        spec.branch_scale = BranchScale::Channel;
        const SublayerBoxes boxes = sublayerBoxes(row(Sublayer::FeedForward));
        QVERIFY(!solid(boxes.scale.left() + 2, boxes.scale.center().y()));
        b.view.setSpec(spec);
        QVERIFY(solid(boxes.scale.left() + 2, boxes.scale.center().y()));
    }

    void aShallowerStackKeepsTheSelectionInside() {
        Bench b;
        b.view.select(11, Sublayer::Attention);
        StackSpec spec;
        spec.depth = 2;
        b.view.setSpec(spec);
        QCOMPARE(b.view.selectedLayer(), 1);
        QVERIFY(!b.view.grab().isNull());
        spec.depth = 40;
        b.view.setSpec(spec);
        QVERIFY(b.view.chip(1, Sublayer::Attention, NormPlace::In));
        QCOMPARE(b.selected.count(), 0);
    }

    void named() {
        Bench b(4);
        QCOMPARE(b.view.chip(2, Sublayer::FeedForward, NormPlace::Post)->accessibleName(),
                 QStringLiteral("Post norm, layer 3 feed-forward"));
        QVERIFY(b.view.accessibleName().contains(QStringLiteral("4")));
    }
};

NORMSCOPE_WIDGET_TEST(StackViewTest)
#include "stack_view_test.moc"
