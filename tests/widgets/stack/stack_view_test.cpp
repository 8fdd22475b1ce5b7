// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_view.h"

#include "tests/widgets/quiet.h"
#include "widgets/plots/colour_map.h"
#include "widgets/stack/factor_popup.h"
#include "widgets/stack/norm_chip.h"

#include <QContextMenuEvent>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
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

    void chipsSayWhatTheSchemeHas() {
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

    void foldsAboveEightLayersAndUnfoldsWhatIsSelected() {
        Bench b;
        QVERIFY(b.view.chip(0, Sublayer::Attention, NormPlace::In));
        QVERIFY(b.view.chip(11, Sublayer::Attention, NormPlace::In));
        QVERIFY(!b.view.chip(6, Sublayer::Attention, NormPlace::In));
        QCOMPARE(b.view.stackLayout().layerRect(6).height(), 6.0);
        QTest::mouseClick(&b.view, Qt::LeftButton, {}, b.middle(6));
        QCOMPARE(b.selected.count(), 1);
        QCOMPARE(b.selected[0][0].toInt(), 6);
        for (int layer : {0, 5, 6, 7, 11}) QVERIFY(b.view.chip(layer, Sublayer::Attention, NormPlace::In));
        QVERIFY(!b.view.chip(4, Sublayer::Attention, NormPlace::In));
        QTest::mouseClick(b.view.chip(7, Sublayer::FeedForward, NormPlace::Out), Qt::LeftButton);
        compareToggle(b.toggled.last(), 7, Sublayer::FeedForward, NormPlace::Out, true, false);
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
        QTest::mouseMove(&b.view, b.middle(6));
        QTRY_COMPARE(b.hovered.count(), 1);
        QCOMPARE(b.hovered[0][0].toInt(), 6);
        const NormChip* chip = b.view.chip(11, Sublayer::Attention, NormPlace::In);
        QTest::mouseMove(const_cast<NormChip*>(chip));
        QTRY_COMPARE(b.hovered.last()[0].toInt(), 11);
        const auto count = b.hovered.count();
        b.view.setHoveredLayer(3);  // another panel's crosshair
        QCOMPARE(b.hovered.count(), count);
    }

    void coloursFollowTheValues() {
        Bench b(3);
        QVERIFY(!b.view.layerColour(0).isValid());
        const int plain = b.view.sizeHint().height();
        b.view.setLayerValues({1, 10, 100}, "RMS");
        QCOMPARE(b.view.layerColour(0), cividis(0));
        QCOMPARE(b.view.layerColour(1), cividis(0.5));  // logarithmic
        QCOMPARE(b.view.layerColour(2), cividis(1));
        QCOMPARE(b.view.sizeHint().height(),
                 plain);  // the space of the key is reserved, so that the knobs do not move
        b.view.setLayerValues({-1, 0, 1}, "change");
        QCOMPARE(b.view.layerColour(1), cividis(0.5));  // linear
        b.view.setLayerValues({1, std::nan(""), std::numeric_limits<double>::infinity()}, "RMS");
        QVERIFY(b.view.layerColour(1) != cividis(0));
        QCOMPARE(b.view.layerColour(2), cividis(1));
        QVERIFY(!b.view.grab().isNull());
        b.view.setLayerValues({std::nan(""), std::nan(""), std::nan("")}, "RMS");
        QVERIFY(!b.view.grab().isNull());
    }

    /// A post norm keeps every layer at 1 up to round-off, which must not show as a pattern.
    void equalTextsHaveEqualColours() {
        Bench b;
        b.view.setLayerValues({1, 1.00001, 0.9999}, "RMS");
        QCOMPARE(b.view.layerColour(0), b.view.layerColour(1));
        QCOMPARE(b.view.layerColour(0), b.view.layerColour(2));
        b.view.setLayerValues({1, 1.02, 1.01}, "RMS");
        QVERIFY(b.view.layerColour(0) != b.view.layerColour(1));
    }

    void aBadLayerShowsAmongManyThinOnes() {
        Bench b(1000);
        std::vector<double> values(1000, 1.0);
        values[500] = std::nan("");
        b.view.setLayerValues(values, "RMS");
        const QColor bad = b.view.layerColour(500);
        const QImage image = b.view.grab().toImage();
        const QRectF row = b.view.stackLayout().layerRect(500);
        bool found = false;
        for (int y = static_cast<int>(row.top()) - 3; y <= static_cast<int>(row.bottom()) + 3; ++y)
            found = found || image.pixelColor(image.width() / 2, y) == bad;
        QVERIFY(found);
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

QTEST_MAIN(StackViewTest)
#include "stack_view_test.moc"
