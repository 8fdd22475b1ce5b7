// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/drawers/help_drawer.h"

#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/drawers/example_image.h"
#include "widgets/figures/figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/palette_theme.h"

#include <QTest>
#include <QTextBrowser>
#include <QTextDocument>
#include <algorithm>
#include <set>

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

        // With an example of a run that learned and one that stalled, as an image and in words.
        const QString words = drawer.text();
        QVERIFY(words.contains("Example\nPre-LN, learned: "));
        QVERIFY(words.indexOf("Example") > words.indexOf("Means"));
        const auto image =
            shown->document()->resource(QTextDocument::ImageResource, QUrl("example")).value<QImage>();
        QVERIFY(image.width() > 200);
        std::set<int> colours;  // of both runs
        const Theme theme = themeOf(drawer.palette());
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                for (const int run : {0, 1})
                    if (image.pixelColor(x, y) == theme.run(run)) colours.insert(run);
        QCOMPARE(colours.size(), std::size_t(2));

        // A figure that is no panel has no reading.
        figure.panel.clear();
        drawer.explain(figure);
        QVERIFY(!drawer.text().contains("Look for"));
        QVERIFY(!drawer.text().contains("Example"));
    }

    /// Every panel has one, but for maps over steps, and gates, which the two runs do not have.
    void panelsHaveExamples() {
        for (const PanelInfo& panel : panels()) {
            const auto example = panelExample(panel.id);
            const bool none = panel.id == "gradient_map" || panel.id == "gates";
            QVERIFY2(example.has_value() != none, panel.id.c_str());
            if (!example) continue;
            QVERIFY(example->learned.size() >= 8 && example->stalled.size() >= 8);
            QVERIFY(std::is_sorted(example->learned.begin(), example->learned.end(),
                                   [](const auto& a, const auto& b) { return a.first < b.first; }));
            QVERIFY2(exampleText(*example).count(" to ") == 2, qPrintable(exampleText(*example)));
        }
        // As the ledger has it: the stalled run's first layer gets next to no gradient.
        const auto gradients = panelExample("gradients");
        QVERIFY(gradients->stalled.front().second < 1e-4 * gradients->stalled.back().second);
        QVERIFY(gradients->learned.front().second > 0.5 * gradients->learned.back().second);
    }
};

NORMSCOPE_WIDGET_TEST(HelpDrawerTest)
#include "help_drawer_test.moc"
