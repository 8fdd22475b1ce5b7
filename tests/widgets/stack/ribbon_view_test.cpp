// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/stack/ribbon_view.h"

#include "tests/support/test_main.h"
#include "tests/widgets/quiet.h"
#include "widgets/plots/palette_theme.h"

#include <QImage>
#include <QSignalSpy>
#include <limits>

using namespace normscope::widgets;

class RibbonViewTest : public QObject {
    Q_OBJECT

    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    static Ribbon ribbon(int index, int depth, double gradient) {
        return {QStringLiteral("Run %1").arg(index), index, 1,
                std::vector<double>(static_cast<std::size_t>(2 * depth + 1), gradient), 3};
    }

    struct Bench {
        RibbonView view;
        QSignalSpy asked{&view, &RibbonView::firstAsked};
        QSignalSpy hovered{&view, &RibbonView::layerHovered};
        explicit Bench(int depth = 12, int width = 64) {
            view.setDepth(depth);
            view.setInView(0, std::min(depth, 5) - 1);
            view.resize(width, 322);
            view.show();
            QVERIFY(QTest::qWaitForWindowExposed(&view));
        }
        QPoint at(double layer) const { return {static_cast<int>(view.column(0)), qRound(view.y(layer))}; }
        /// Pixels of a run's hue in a row around a column, faint ones in part.
        double width(std::size_t place, double layer, int index) {
            const QImage image = view.grab().toImage();
            const QColor hue = themeOf(view.palette()).run(index);
            const QColor window = view.palette().color(QPalette::Window);
            double sum = 0;
            for (int x = -9; x <= 9; ++x) {
                const QColor pixel = image.pixelColor(qFloor(view.column(place)) + x, qRound(view.y(layer)));
                // Of the channel in which hue and window differ most, blue under an orange, red under a blue.
                const bool red = std::abs(hue.red() - window.red()) > std::abs(hue.blue() - window.blue());
                const double all = red ? hue.red() - window.red() : hue.blue() - window.blue();
                sum += (red ? pixel.red() - window.red() : pixel.blue() - window.blue()) / all;
            }
            return sum;
        }
    };

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void widthsAreThoseOfTheValues() {
        Bench b;
        Ribbon run = ribbon(0, 12, 0.1);
        for (std::size_t k = 15; k <= 18; ++k) run.gradient[k] = 1e-6;
        for (std::size_t k = 20; k <= 24; ++k) run.gradient[k] = kNone;
        b.view.setRibbons({run, ribbon(1, 12, 0.1)}, 0);
        QVERIFY2(std::abs(b.width(0, 6, 0) - 11.5) < 0.7, qPrintable(QString::number(b.width(0, 6, 0))));
        QVERIFY2(std::abs(b.width(0, 8.5, 0) - 1) < 0.7, qPrintable(QString::number(b.width(0, 8.5, 0))));
        QVERIFY2(std::abs(b.width(0, 11, 0)) < 0.1, qPrintable(QString::number(b.width(0, 11, 0))));
        // The run that is not selected is as wide and lighter.
        const double lighter = b.width(1, 6, 1);
        QVERIFY2(lighter > 0.5 * 11.5 && lighter < 0.7 * 11.5, qPrintable(QString::number(lighter)));
        b.view.setRibbons({run, ribbon(1, 12, 0.1)}, 1);
        QVERIFY(std::abs(b.width(1, 6, 1) - 11.5) < 0.7);
        QVERIFY(b.width(0, 6, 0) < 0.7 * 11.5);
    }

    void withoutASampleAnOutlineIsThere() {
        Bench b;
        b.view.setRibbons({{"Pre-LN", 0, 1, {}, 0}}, 0);
        const QImage image = b.view.grab().toImage();
        const QColor window = b.view.palette().color(QPalette::Window);
        const int y = qRound(b.view.y(9)), x = static_cast<int>(b.view.column(0));
        QCOMPARE(image.pixelColor(x, y), window);  // empty
        int outline = 0;
        for (int dx = -10; dx <= 10; ++dx) {
            const QColor pixel = image.pixelColor(x + dx, y);
            outline += pixel != window;
            QVERIFY(std::abs(pixel.red() - pixel.blue()) < 20);  // without a hue
        }
        QVERIFY(outline >= 2);
    }

    void asManyAsFitTheSelectedAmongThem() {
        Bench b;
        std::vector<Ribbon> six;
        for (int i = 0; i < 6; ++i) six.push_back(ribbon(i, 12, 0.1));
        using Places = std::vector<std::size_t>;
        b.view.setRibbons(six, 0);
        QCOMPARE(b.view.shown(), (Places{0, 1}));
        b.view.setRibbons(six, 3);
        QCOMPARE(b.view.shown(), (Places{0, 3}));
        b.view.resize(104, 322);
        QCOMPARE(b.view.shown(), (Places{0, 1, 2, 3}));
        b.view.setRibbons(six, 5);
        QCOMPARE(b.view.shown(), (Places{0, 1, 2, 5}));
        b.view.setRibbons({}, 0);
        QVERIFY(b.view.shown().empty());
        QVERIFY(!b.view.grab().isNull());
    }

    /// A deeper run next to the selected one: one axis, so that every ribbon is at its layers.
    void theAxisIsThatOfTheDeepestRun() {
        Bench b;
        b.view.setRibbons({ribbon(0, 12, 0.1), ribbon(1, 24, 0.1)}, 0);
        QCOMPARE(b.view.depth(), 24);
        QVERIFY(b.width(0, 11.5, 0) > 10);
        QVERIFY(std::abs(b.width(0, 13, 0)) < 0.1);  // the shallower one ends
        QVERIFY(b.width(1, 23, 1) > 5);
        b.view.setRibbons({ribbon(0, 12, 0.1)}, 0);
        QCOMPARE(b.view.depth(), 12);
    }

    void theFrameMarksTheLayersInView() {
        Bench b;
        const double pitch = b.view.y(0) - b.view.y(1);
        QVERIFY(b.view.frame().bottom() > b.view.y(0));  // with the embedding
        QCOMPARE(b.view.frame().top(), b.view.y(5));
        b.view.setInView(3, 7);
        QVERIFY(std::abs(b.view.frame().bottom() - b.view.y(3)) < 1e-6);
        QVERIFY(std::abs(b.view.frame().height() - 5 * pitch) < 1e-6);
        b.view.setInView(7, 11);
        QVERIFY(b.view.frame().top() < b.view.y(12));
        b.view.setDepth(1000);  // stays large enough to be gripped
        QVERIFY(b.view.frame().height() >= 10);
        QVERIFY(b.view.rect().contains(b.view.frame().toRect()));
    }

    void draggingTheFrameScrolls() {
        Bench b;
        QTest::mousePress(&b.view, Qt::LeftButton, {}, b.at(2));
        QCOMPARE(b.asked.count(), 0);  // gripped, not moved
        QTest::mouseMove(&b.view, b.at(5));
        QTRY_VERIFY(b.asked.count() > 0);
        QVERIFY(std::abs(b.asked.last()[0].toDouble() - 3) < 0.1);
        b.view.setInView(3, 7);
        QTest::mouseMove(&b.view, b.at(2.4));
        QTRY_VERIFY(std::abs(b.asked.last()[0].toDouble() - 0.4) < 0.1);
        QTest::mouseRelease(&b.view, Qt::LeftButton, {}, b.at(2.4));
        const auto count = b.asked.count();
        QTest::mouseMove(&b.view, b.at(9));
        QTRY_VERIFY(b.hovered.count() > 0);
        QCOMPARE(b.asked.count(), count);
    }

    void aClickJumps() {
        Bench b;
        QTest::mousePress(&b.view, Qt::LeftButton, {}, b.at(9));
        QCOMPARE(b.asked.count(), 1);
        QVERIFY(std::abs(b.asked[0][0].toDouble() - 6.5) < 0.1);  // layer 9 is in the middle
        QTest::mouseMove(&b.view, b.at(8));                       // and is gripped
        QTRY_VERIFY(std::abs(b.asked.last()[0].toDouble() - 5.5) < 0.1);
        QTest::mouseRelease(&b.view, Qt::LeftButton, {}, b.at(8));
    }

    void hoverNamesTheNearestOutput() {
        Bench b;
        QTest::mouseMove(&b.view, b.at(7.3));
        QTRY_COMPARE(b.hovered.count(), 1);
        QCOMPARE(b.hovered[0][0].toInt(), 6);
        QTest::mouseMove(&b.view, b.at(0.1));  // the embedding
        QTRY_COMPARE(b.hovered.last()[0].toInt(), -1);
    }

    void theHoveredLayerIsADottedLine() {
        Bench b;
        const QImage before = b.view.grab().toImage();
        b.view.setHoveredLayer(6);
        const QImage after = b.view.grab().toImage();
        int rows = 0, dots = 0;
        for (int y = 0; y < after.height(); ++y) {
            int changed = 0;
            for (int x = 0; x < after.width(); ++x) changed += before.pixel(x, y) != after.pixel(x, y);
            rows += changed > 0;
            dots = std::max(dots, changed);
            if (changed) QVERIFY(std::abs(y + 0.5 - b.view.y(7)) <= 2);
        }
        QVERIFY(rows >= 1 && rows <= 3);
        QVERIFY(dots > 8 && dots < 38);  // not a whole line
        b.view.setHoveredLayer(-1);
        QCOMPARE(b.view.grab().toImage(), before);
    }

    void summaryInWords() {
        Bench b;
        b.view.setRibbons({ribbon(0, 12, 0.5), {"Post-LN", 1, 1, {}, 0}}, 0);
        QCOMPARE(b.view.accessibleDescription(),
                 QStringLiteral("Run 0 at step 3: ‖∂L/∂h‖ 0.5 at the embedding, 0.5 after layer 12"));
    }
};

NORMSCOPE_WIDGET_TEST(RibbonViewTest)
#include "ribbon_view_test.moc"
