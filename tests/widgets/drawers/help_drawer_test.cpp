// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/help_drawer.h"

#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/figures/figure.h"

#include <QTest>
#include <QTextBrowser>

using namespace normscope::widgets;

class HelpDrawerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// From what to look for to what is shown; formulas have lowered and raised letters, and are copied as
    /// typed.
    void panelsAreExplainedInOneOrder() {
        QWidget window;
        window.resize(900, 600);
        QWidget over(&window);
        over.resize(900, 600);
        HelpDrawer drawer(&over, &window);
        window.show();
        Figure figure;
        figure.panel = QStringLiteral("gradients");
        figure.title = QStringLiteral("Gradients by depth");
        figure.quantity = QStringLiteral("‖∂L/∂h‖");
        figure.formula = QStringLiteral("‖∂L/∂h_k‖_F, u = 2^-11 & x < 1");
        figure.source = QStringLiteral("Emadi");
        figure.summary = QStringLiteral("at step 0");
        drawer.explain(figure);
        const QStringList lines = drawer.text().split(u'\n');
        QStringList headings;
        for (const QString& line : lines)
            if (QStringList{"Look for", "Means", "Quantity", "Formula", "Source", "Erratum", "Shown now"}
                    .contains(line))
                headings << line;
        QCOMPARE(headings, (QStringList{"Look for", "Means", "Quantity", "Formula", "Source", "Shown now"}));
        QVERIFY(lines.contains(figure.formula));
        auto* shown = drawer.findChild<QTextBrowser*>(QStringLiteral("helpText"));
        const QString html = shown->toHtml();
        QVERIFY2(html.contains("vertical-align:sub;\">k<") && html.contains("vertical-align:sub;\">F<"),
                 qPrintable(html));
        QVERIFY2(html.contains("vertical-align:super;\">-11<"), qPrintable(html));
        QVERIFY(shown->toPlainText().contains("‖∂L/∂hk‖F, u = 2-11 & x < 1"));

        // A figure that is no panel has no reading.
        figure.panel.clear();
        drawer.explain(figure);
        QVERIFY(!drawer.text().contains("Look for"));
    }
};

NORMSCOPE_WIDGET_TEST(HelpDrawerTest)
#include "help_drawer_test.moc"
