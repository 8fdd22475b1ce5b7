// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/theme.h"

#include "tests/support/test_main.h"
#include "widgets/plots/colour_map.h"

#include <QGuiApplication>
#include <QtTest>

using namespace normscope::widgets;

class ThemeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void textReadsInEveryTheme_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("light") << int(Theme::Kind::Light);
        QTest::newRow("dark") << int(Theme::Kind::Dark);
        QTest::newRow("print") << int(Theme::Kind::Print);
    }
    void textReadsInEveryTheme() {
        QFETCH(int, kind);
        const Theme theme = Theme::make(Theme::Kind(kind));
        QVERIFY(contrast(theme.text, theme.background) >= 4.5);
        QVERIFY(contrast(theme.muted, theme.background) >= 4.5);
        for (int run = 0; run < 8; ++run)
            QVERIFY2(contrast(theme.run(run), theme.background) >= 4.5, qPrintable(QString::number(run)));
        for (double p = 0; p <= 1; p += 0.1) {
            const QColor colour = sequentialColour(p, theme.isDark());
            QVERIFY(contrast(readable(colour, theme.background), theme.background) >= 4.5);
        }
    }

    void firstTwoRunsDifferInHueAndDash() {
        const Theme theme = Theme::make(Theme::Kind::Light);
        QVERIFY(theme.run(0).blue() > theme.run(0).red());
        QVERIFY(theme.run(1).red() > theme.run(1).blue());
        QVERIFY(runDash(0).isEmpty());
        QVERIFY(!runDash(1).isEmpty());
        for (int run = 1; run < 6; ++run) QVERIFY(runDash(run) != runDash(run - 1));
        QCOMPARE(theme.run(-3), theme.run(0));
        QCOMPARE(theme.run(8), theme.run(0));
    }

    /// Anchors of the published map (matplotlib's table).
    void cividisMeetsItsAnchors() {
        const auto near = [](const QColor& a, const QColor& b) {
            return std::abs(a.red() - b.red()) < 15 && std::abs(a.green() - b.green()) < 15 &&
                   std::abs(a.blue() - b.blue()) < 15;
        };
        QVERIFY(near(cividis(0), QColor(0, 34, 78)));
        QVERIFY(near(cividis(0.5), QColor(124, 123, 120)));
        QVERIFY(near(cividis(1), QColor(254, 232, 56)));
        double before = -1;
        for (double t = 0; t <= 1; t += 0.02) {
            QVERIFY(luminance(cividis(t)) > before);
            before = luminance(cividis(t));
        }
    }

    void divergingIsGreyInTheMiddle() {
        const QColor middle = divergingColour(0, false);
        QCOMPARE(middle.red(), middle.green());
        QVERIFY(divergingColour(-1, false).blue() > divergingColour(-1, false).red());
        QVERIFY(divergingColour(1, false).red() > divergingColour(1, false).blue());
        QCOMPARE(divergingColour(7, false), divergingColour(1, false));
    }

    void textOnTakesTheBetterOne() {
        QCOMPARE(textOn(Qt::yellow), QColor(Qt::black));
        QCOMPARE(textOn(Qt::darkBlue), QColor(Qt::white));
        QVERIFY(std::abs(contrast(Qt::black, Qt::white) - 21) < 1e-9);
    }
};

NORMSCOPE_WIDGET_TEST(ThemeTest)
#include "theme_test.moc"
