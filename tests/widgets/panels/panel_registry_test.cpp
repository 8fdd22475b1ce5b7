// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panel_registry.h"

#include "core/stack/error.h"
#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class PanelRegistryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void listsThemInOrder() {
        QStringList ids, titles;
        for (const PanelInfo& panel : panels()) {
            ids << QString::fromStdString(panel.id);
            titles << panel.title;
        }
        QCOMPARE(ids, QStringList({"growth", "gradients", "jacobian", "training", "null_space", "theta",
                                   "attention", "tokens", "spectra", "mismatch", "residual", "updates"}));
        QCOMPARE(titles, QStringList({"Growth", "Gradients by depth", "Jacobian spectra", "Loss",
                                      "Norm sites", "θ", "Attention", "Tokens", "Sequence spectra",
                                      "Low-precision error", "Branch and stream", "Updates"}));
    }

    void unknownIdNamesTheKnownOnes() {
        try {
            buildPanel("entropy", {});
            QFAIL("accepted");
        } catch (const InputError& e) {
            QCOMPARE(QString(e.what()),
                     "panel: unknown id 'entropy', allowed: growth, gradients, jacobian, training, "
                     "null_space, theta, attention, tokens, spectra, mismatch, residual, updates");
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
                    QCOMPARE(f.title, panel.title);
                    QVERIFY(!f.quantity.isEmpty() && !f.formula.isEmpty() && !f.summary.isEmpty());
                    QVERIFY(!f.plots.empty() || !f.empty_text.isEmpty());
                    QVERIFY(f.x_names.size() == qsizetype(f.x_name_at.size()));
                }
    }

    void optionsResolveToDefaults() {
        const PanelOptions options = resolveOptions(panelInfo("growth"), {{"bound", "off"}});
        QCOMPARE(options.size(), 6u);
        QCOMPARE(options.at("quantity"), "rms");
        QCOMPARE(options.at("bound"), "off");
    }
};

QTEST_GUILESS_MAIN(PanelRegistryTest)
#include "panel_registry_test.moc"
