// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/stack_layout.h"

#include "tests/support/test_main.h"

#include <QTest>

using namespace normscope;
using namespace normscope::widgets;

class StackLayoutTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A depth that is dragged, or another part in view, moves nothing around the layers.
    void everyStackHasOneFrame() {
        for (const double width : {268.0, 308.0}) {
            const StackLayout first = layoutStack(1, 0, width);
            QCOMPARE(first.header().top(), 0.0);
            QCOMPARE(first.legend().bottom(), StackLayout::kHeight);
            QVERIFY(first.header().bottom() <= first.view().top());
            QVERIFY(first.view().bottom() <= first.legend().top());
            QVERIFY(first.ribbons().bottom() <= first.legend().top());
            QCOMPARE(first.ribbons().right(), first.view().left());
            QVERIFY(first.view().right() < width);
            for (const int depth : {2, 5, 6, 12, 96, 4096})
                for (const int scroll : {0, depth / 2, depth}) {
                    const StackLayout layout = layoutStack(depth, scroll, width);
                    QCOMPARE(layout.header(), first.header());
                    QCOMPARE(layout.ribbons(), first.ribbons());
                    QCOMPARE(layout.view(), first.view());
                    QCOMPARE(layout.legend(), first.legend());
                    QCOMPARE(layout.residual(), first.residual());
                }
        }
        // What the window is wider is the ribbons'.
        QCOMPARE(layoutStack(12, 0, 308).view().width(), layoutStack(12, 0, 268).view().width());
    }

    void fiveLayersAreInView_data() {
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("scroll");
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("last");
        QTest::addColumn<bool>("embedding");
        QTest::addColumn<bool>("head");
        QTest::newRow("bottom") << 12 << 0 << 0 << 4 << true << false;
        QTest::newRow("one up") << 12 << 1 << 1 << 5 << false << false;
        QTest::newRow("one below the top") << 12 << 7 << 7 << 11 << false << false;
        QTest::newRow("top") << 12 << 8 << 7 << 11 << false << true;
        QTest::newRow("beyond") << 12 << 99 << 7 << 11 << false << true;
        QTest::newRow("below") << 12 << -3 << 0 << 4 << true << false;
        QTest::newRow("five") << 5 << 0 << 0 << 4 << true << false;
        QTest::newRow("five, top") << 5 << 1 << 0 << 4 << false << true;
        QTest::newRow("four") << 4 << 3 << 0 << 3 << true << true;
        QTest::newRow("one") << 1 << 0 << 0 << 0 << true << true;
        QTest::newRow("deep") << 96 << 40 << 40 << 44 << false << false;
    }
    void fiveLayersAreInView() {
        QFETCH(int, depth);
        QFETCH(int, scroll);
        QFETCH(bool, embedding);
        QFETCH(bool, head);
        const StackLayout layout = layoutStack(depth, scroll, 268);
        QTEST(layout.firstInView(), "first");
        QTEST(layout.lastInView(), "last");
        QCOMPARE(layout.embeddingInView(), embedding);
        QCOMPARE(layout.headInView(), head);
        const QRectF view = layout.view();
        double y = view.bottom();
        if (embedding) {
            QVERIFY(view.contains(layout.embedding()));
            y = layout.embedding().top();
        }
        for (int layer = 0; layer < depth; ++layer) {
            const QRectF rect = layout.layerRect(layer);
            QCOMPARE(rect.height(), 60.0);
            QCOMPARE(rect.bottom(), layout.y(2 * layer));
            QCOMPARE(rect.top(), layout.y(2 * layer + 2));
            QCOMPARE(layout.inView(layer), view.top() <= rect.top() && rect.bottom() <= view.bottom());
            if (!layout.inView(layer)) continue;
            QVERIFY(rect.bottom() <= y);  // deeper layers are above
            y = rect.top();
            QCOMPARE(layout.layerAt(rect.center().y()), layer);
        }
        if (head) QVERIFY(layout.head().bottom() <= y && view.contains(layout.head()));
        QCOMPARE(layout.layerAt(layout.header().center().y()), -1);
        QCOMPARE(layout.layerAt(layout.legend().center().y()), -1);
        // The embedding, or the space that it leaves until the head is in view.
        QCOMPARE(layout.layerAt(view.bottom() - 1), embedding || !head ? -1 : layout.firstInView());
    }

    void aLayerIsScrolledIntoView() {
        for (const int depth : {1, 4, 5, 6, 12, 96})
            for (int scroll = 0; scroll <= StackLayout::lastScroll(depth); ++scroll)
                for (int layer = 0; layer < depth; ++layer) {
                    const StackLayout layout = layoutStack(depth, scroll, 268);
                    const int to = layout.scrollTo(layer);
                    if (layout.inView(layer)) QCOMPARE(to, scroll);
                    const StackLayout after = layoutStack(depth, to, 268);
                    QCOMPARE(after.scroll, to);
                    QVERIFY(after.inView(layer));
                    QVERIFY(layout.inView(layer) || after.firstInView() == layer ||
                            after.lastInView() == layer);
                }
    }

    void partsAreInOrderInsideTheRow() {
        for (const double width : {268.0, 308.0}) {
            const StackLayout layout = layoutStack(12, 3, width);
            const QRectF row = sublayerRect(layout.layerRect(4), Sublayer::Attention);
            const SublayerBoxes b = sublayerBoxes(row);
            const QRectF parts[] = {b.number, b.in, b.map, b.out, b.scale, b.sum, b.post};
            for (std::size_t i = 1; i < std::size(parts); ++i) {
                QVERIFY(parts[i - 1].right() < parts[i].left());
                QVERIFY(row.contains(parts[i]));
            }
            QVERIFY(row.contains(b.number) && b.number.width() >= 16);  // two digits
            QCOMPARE(b.post.right(), row.right());
            QCOMPARE(b.sum.center().x(), layout.residual());
        }
    }

    void attentionComesBeforeFeedForward() {
        const QRectF layer = layoutStack(2, 0, 268).layerRect(0);
        QCOMPARE(sublayerRect(layer, Sublayer::Attention).height(), StackLayout::kRow);
        QVERIFY(sublayerRect(layer, Sublayer::Attention).top() >
                sublayerRect(layer, Sublayer::FeedForward).top());
    }

    void theStreamEntersTheFinalNormOrTheHead() {
        const StackLayout layout = layoutStack(12, 8, 268);
        const auto above = [&](const QRectF& box) {
            return box.left() < layout.residual() && layout.residual() < box.right();
        };
        const HeadBoxes both = headBoxes(layout.head(), true);
        QVERIFY(above(both.norm) && !above(both.head));
        QVERIFY(both.head.right() < both.norm.left());
        const HeadBoxes alone = headBoxes(layout.head(), false);
        QVERIFY(alone.norm.isNull() && above(alone.head));
    }
};

NORMSCOPE_TEST(StackLayoutTest)
#include "stack_layout_test.moc"
