// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_layout.h"

#include <QTest>

using namespace normscope;
using namespace normscope::widgets;

class StackLayoutTest : public QObject {
    Q_OBJECT

    using Kind = StackLayout::Part::Kind;

    static std::vector<int> fullLayers(const StackLayout& layout) {
        std::vector<int> layers;
        for (const auto& part : layout.parts)
            if (part.kind == Kind::Layer) layers.push_back(part.first);
        return layers;
    }

  private Q_SLOTS:
    void sixLayersInFull() {
        const StackLayout layout = layoutStack(6, 3, 256, true);
        QCOMPARE(fullLayers(layout), (std::vector<int>{5, 4, 3, 2, 1, 0}));
        QVERIFY(layout.parts.front().kind == Kind::Head);
        QVERIFY(layout.parts[1].kind == Kind::FinalNorm);
        QVERIFY(layout.parts.back().kind == Kind::Embedding);
    }

    void aboveSixFold() {
        const StackLayout layout = layoutStack(12, 5, 256, false);
        QCOMPARE(fullLayers(layout), (std::vector<int>{11, 6, 5, 4, 0}));
        QCOMPARE(layout.thin, 6.0);
        QCOMPARE(layout.layerRect(8).height(), 6.0);
        QCOMPARE(layout.layerRect(5).height(), 2 * StackLayout::kLine);
        QVERIFY(layout.parts[1].kind == Kind::Layer);  // no final norm
        QCOMPARE(fullLayers(layoutStack(48, 20, 256, false)), (std::vector<int>{21, 20, 19}));
        QCOMPARE(fullLayers(layoutStack(48, 47, 256, false)), (std::vector<int>{47, 46, 45}));
    }

    /// A depth that is dragged, or another selected layer, moves nothing below the stack.
    void everyStackHasOneHeight() {
        for (const bool final_norm : {false, true})
            for (int depth : {1, 2, 6, 7, 12, 13, 24, 48, 300, 4096})
                for (int selected : {0, depth / 2, depth - 1}) {
                    const StackLayout layout = layoutStack(depth, selected, 256, final_norm);
                    QCOMPARE(layout.height, StackLayout::kHeight);
                    QVERIFY(layout.parts.front().rect.top() >= 0);
                    QCOMPARE(layout.parts.back().rect.bottom(), StackLayout::kHeight);
                    for (std::size_t i = 1; i < layout.parts.size(); ++i)
                        QVERIFY(layout.parts[i].rect.top() > layout.parts[i - 1].rect.bottom());
                }
    }

    void everyLayerOnceAndFoundAgain_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("selected");
        for (int depth : {1, 2, 8, 9, 12, 48, 300, 4096})
            for (int selected : {0, depth / 2, depth - 1})
                QTest::addRow("%d/%d", depth, selected) << depth << selected;
    }
    void everyLayerOnceAndFoundAgain() {
        QFETCH(int, depth);
        QFETCH(int, selected);
        const StackLayout layout = layoutStack(depth, selected, 256, true);
        double y = layout.height + 1;
        for (int layer = 0; layer < depth; ++layer) {
            const QRectF rect = layout.layerRect(layer);
            QVERIFY(rect.bottom() <= y + 1e-6);  // deeper layers are above
            y = rect.top();
            QCOMPARE(layout.layerAt(rect.center().y()), layer);
        }
        QCOMPARE(layout.layerAt(layout.parts.front().rect.center().y()), -1);
        QCOMPARE(layout.layerAt(layout.parts.back().rect.center().y()), -1);
        QCOMPARE(layout.layerAt(-5), -1);
    }

    void boxesAreInOrderInsideTheLine() {
        for (double width : {240.0, 256.0, 400.0}) {
            const QRectF line =
                sublayerRect(layoutStack(4, 0, width, true).layerRect(2), Sublayer::Attention);
            const SublayerBoxes b = sublayerBoxes(line);
            QVERIFY(b.in.right() < b.map.left() && b.map.right() < b.out.left() &&
                    b.out.right() < b.sum.left() && b.sum.right() < b.post.left());
            QVERIFY(line.contains(b.in) && line.contains(b.post));
        }
    }

    void attentionComesBeforeFeedForward() {
        const QRectF layer = layoutStack(2, 0, 256, true).layerRect(0);
        QVERIFY(sublayerRect(layer, Sublayer::Attention).top() >
                sublayerRect(layer, Sublayer::FeedForward).top());
    }
};

QTEST_GUILESS_MAIN(StackLayoutTest)
#include "stack_layout_test.moc"
