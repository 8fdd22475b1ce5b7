// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/panel_registry.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/panels/panel_reading.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class PanelRegistryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Menus list them in this order. A new panel is a row of the registry and nothing here.
    void idsAndTitlesAreTheirOwn() {
        QSet<QString> ids, titles;
        for (const PanelInfo& panel : panels()) {
            ids << QString::fromStdString(panel.id);
            titles << panel.title;
            QVERIFY(!panel.id.empty() && !panel.title.isEmpty() && panel.build);
            const PanelReading reading = panelReading(panel.id);
            QVERIFY2(reading.look_for.endsWith('.') && reading.means.endsWith('.'), panel.id.c_str());
            QVERIFY(reading.look_for != reading.means);
        }
        QCOMPARE(ids.size(), static_cast<qsizetype>(panels().size()));
        QCOMPARE(titles.size(), static_cast<qsizetype>(panels().size()));
        QCOMPARE(panels().front().id, "growth");
        QCOMPARE(panelInfo("null_space").title, "Norm sites");
    }

    /// Each panel is listed under one question, with the cost of its most expensive probe.
    void panelsAreGroupedByQuestion() {
        QSet<QString> questions;
        std::map<PanelQuestion, int> count;
        for (const PanelQuestion question : kPanelQuestions) {
            QVERIFY(questionText(question).endsWith('?'));
            questions << questionText(question);
        }
        for (const PanelInfo& panel : panels()) ++count[panelReading(panel.id).question];
        QCOMPARE(questions.size(), qsizetype(std::size(kPanelQuestions)));
        for (const PanelQuestion question : kPanelQuestions) QVERIFY(count[question] >= 2);
        QCOMPARE(costText(panelInfo("training").probes), QString());
        QCOMPARE(costText(panelInfo("growth").probes), QString("cheap"));
        QCOMPARE(costText(panelInfo("jacobian").probes), QString("expensive"));
        QVERIFY(costText(panelInfo("shift").probes).endsWith(", on request"));
    }

    /// Many to many: a panel may draw several probes, and a probe belongs to several panels.
    void panelsNameTheProbesTheyDraw() {
        std::map<std::string, int> drawn;
        for (const PanelInfo& panel : panels()) {
            QVERIFY2(!panel.probes.empty() || panel.draws_steps, panel.id.c_str());
            for (const std::string& probe : panel.probes) {
                QVERIFY2(find_probe(probe), probe.c_str());
                ++drawn[probe];
            }
        }
        for (const ProbeInfo& probe : probe_registry()) QVERIFY2(drawn[probe.id] > 0, probe.id);
        QCOMPARE(drawn["residual"], 2);
        QVERIFY(drawsAny(panelInfo("gradients"), {"residual"}));
        QVERIFY(drawsAny(panelInfo("gradients"), {"theta", "gradients"}));
        QVERIFY(!drawsAny(panelInfo("gradients"), {"training", "theta"}));
        QVERIFY(drawsAny(panelInfo("training"), {"training"}));
        QVERIFY(!drawsAny(panelInfo("training"), {"growth"}));
        QVERIFY(!drawsAny(panelInfo("growth"), {}));
    }

    void unknownIdNamesTheKnownOnes() {
        try {
            buildPanel("entropy", {});
            QFAIL("accepted");
        } catch (const InputError& e) {
            QString known;
            for (const PanelInfo& panel : panels())
                known += (known.isEmpty() ? "" : ", ") + QString::fromStdString(panel.id);
            QVERIFY(known.startsWith("growth, gradients, jacobian, training"));
            QCOMPARE(QString(e.what()), "panel: unknown id 'entropy', allowed: " + known);
        }
    }

    void everyOptionValueBuildsAndExplainsItself() {
        const RunData bare = synthetic::run("Bare");
        PanelInput input;
        input.runs = {&bare};
        for (const PanelInfo& panel : panels())
            for (const PanelOption& option : panel.options)
                for (const std::string& value : option.values) {
                    input.options = {{option.key, value}};
                    const Figure f = buildPanel(panel.id, input);
                    QCOMPARE(f.panel.toStdString(), panel.id);
                    if (panel.id != "training")
                        QCOMPARE(f.title, panel.title);  // the title names its quantity
                    QVERIFY(!f.quantity.isEmpty() && !f.formula.isEmpty() && !f.summary.isEmpty());
                    QVERIFY(!f.plots.empty() || !f.empty_text.isEmpty());
                    QVERIFY(f.x_names.size() == qsizetype(f.x_name_at.size()));
                }
    }

    /// A menu shows titles, not keys: none with an underscore, and no two values of an option alike.
    void everyOptionValueHasWords() {
        for (const PanelInfo& panel : panels())
            for (const PanelOption& option : panel.options) {
                QSet<QString> words;
                for (const std::string& value : option.values) words << optionTitle(value);
                QCOMPARE(words.size(), static_cast<qsizetype>(option.values.size()));
            }
        QCOMPARE(optionTitle("relative_below_099"), QString("share of rows with θ < 0.99 · uniform"));
        QCOMPARE(optionTitle("end_to_end"), QString("end to end"));
    }

    void optionsResolveToDefaults() {
        const PanelOptions options = resolveOptions(panelInfo("growth"), {{"bound", "off"}});
        QCOMPARE(options.size(), 7u);
        QCOMPARE(options.at("axes"), "whole_run");
        QCOMPARE(options.at("quantity"), "rms");
        QCOMPARE(options.at("bound"), "off");
    }
};

NORMSCOPE_TEST(PanelRegistryTest)
#include "panel_registry_test.moc"
