// SPDX-License-Identifier: GPL-3.0-or-later
// Panels of runs whose probes measured selected places alone: gaps, the places in the subtitle, and no
// statement that NaN is a value.
#include "core/run/complete_run.h"
#include "core/run/probes_preset.h"
#include "tests/support/test_main.h"
#include "widgets/figures/groups/grouped_figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/figure_layout.h"
#include "widgets/plots/hover.h"
#include "widgets/plots/theme.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;

namespace {

RunData run_of(const std::string& only) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 2, "steps": 6,
        "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12, "scheme": "post",
                  "gpas": {"enabled": true}}})",
                                 "test");
    complete_and_validate(recipe);
    recipe.probes.clear();
    for (const ProbeInfo& probe : probe_registry()) recipe.probes.push_back({probe.id, 5});
    select_places(recipe.probes, PlaceSelection::parse(only, "only"));
    ThreadPool pool(1);
    return complete_run(recipe, "Post-LN", pool);
}

/// Every text of a figure, the summary for screen readers too.
QStringList texts_of(const Figure& figure) {
    QStringList texts{figure.title, figure.subtitle, figure.summary, figure.empty_text};
    for (const Plot& plot : figure.plots) {
        texts << plot.heading;
        for (const Chip& chip : plot.chips) texts << chip.text;
        for (const Curve& curve : plot.curves) texts << curve.name;
        for (const HeatMap& map : plot.maps) texts << map.text;
    }
    return texts;
}

/// Every setting of a panel with one option changed.
std::vector<PanelOptions> settings_of(const PanelInfo& panel) {
    std::vector<PanelOptions> all{{}};
    for (const PanelOption& option : panel.options)
        for (const std::string& value : option.values) all.push_back({{option.key, value}});
    return all;
}

bool whole(const std::string& panel) {
    return panel == "growth" || panel == "paths" || panel == "ranges" || panel == "training";
}

}  // namespace

class SelectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void panelsNameTheMeasuredPlaces_data() {
        QTest::addColumn<QString>("panel");
        for (const PanelInfo& panel : panels())
            QTest::newRow(panel.id.c_str()) << QString::fromStdString(panel.id);
    }
    void panelsNameTheMeasuredPlaces() {
        QFETCH(QString, panel);
        static const RunData block = run_of("blocks.1"), norm = run_of("final_norm"), all = run_of("");
        const PanelInfo& info = panelInfo(panel.toStdString());
        for (const PanelOptions& options : settings_of(info)) {
            const QByteArray at =
                options.empty() ? QByteArray("default") : QByteArray::fromStdString(options.begin()->second);
            for (const RunData* run : {&block, &norm}) {
                PanelInput input;
                input.runs = {run};
                input.options = options;
                const Figure figure = buildPanel(info.id, input);
                const QString text = run == &block ? "only blocks.1" : "only final_norm";
                const QStringList texts = texts_of(figure);
                const QString joined = texts.join("\n");
                QCOMPARE(joined.contains(text), !whole(info.id));
                for (const QString& t : texts) {
                    QVERIFY2(!t.contains("NaN"), qPrintable(at + ": " + t));
                    if (run->outcome.state != RunState::Diverged)
                        QVERIFY2(!t.contains("not finite"), qPrintable(at + ": " + t));
                }
                QVERIFY2(!figure.plots.empty() || !figure.empty_text.isEmpty(), at);
            }
            PanelInput input;
            input.runs = {&all};
            input.options = options;
            QVERIFY(!texts_of(buildPanel(info.id, input)).join("\n").contains("only blocks"));
        }
    }

    /// Curves have the values of the selected places, and gaps elsewhere.
    void curvesHaveGaps() {
        const RunData run = run_of("blocks.1");
        PanelInput input;
        input.runs = {&run};
        input.options = {{"quantity", "branch_ratio"}};
        const Figure figure = buildPanel("residual", input);
        const Curve& curve = figure.plots.at(0).curves.at(0);
        QCOMPARE(curve.y.size(), std::size_t{6});
        for (std::size_t k = 0; k < 6; ++k) QCOMPARE(std::isnan(curve.y[k]), k / 2 != 1);
        // Without the mark of a value that is not a number; the card is at measured places alone.
        const RenderStyle style = paperStyle(Theme::make(Theme::Kind::Print), 8);
        const FigureLayout layout = layoutFigure(figure, {600, 400}, style);
        for (const PlotLayout& plot : layout.plots) QVERIFY(plot.gaps.empty());
        const QRectF area = layout.plots.at(0).area;
        for (double x = area.left() + 1; x < area.right(); x += 5) {
            const auto point = hoverAt(figure, layout, {x, area.center().y()});
            QVERIFY(point && (point->x == curve.x[2] || point->x == curve.x[3]));
        }
    }

    /// A group's median has the same gaps, and its figure the places.
    void groupsHaveGaps() {
        const RunData one = run_of("blocks.1"), two = run_of("blocks.1");
        PanelInput input;
        input.runs = {&one, &two};
        const RunGroups groups = groupRuns(input.runs, "scheme");
        const Figure figure = groupedFigure(panelInfo("residual"), input, groups, {});
        QVERIFY(figure.subtitle.contains("only blocks.1"));
        int values = 0;
        for (const Curve& curve : figure.plots.at(0).curves)
            for (std::size_t i = 0; i < curve.y.size(); ++i) {
                QCOMPARE(std::isnan(curve.x[i]), std::isnan(curve.y[i]));
                values += std::isfinite(curve.y[i]);
            }
        QVERIFY(values > 0);
    }

    void nothingSelectedIsAnEmptyPanelWithItsReason() {
        const RunData run = run_of("final_norm");
        PanelInput input;
        input.runs = {&run};
        const Figure figure = buildPanel("attention", input);
        QVERIFY(figure.plots.empty());
        QVERIFY2(figure.empty_text.contains("Post-LN: only final_norm"), qPrintable(figure.empty_text));
    }
};

NORMSCOPE_WIDGET_TEST(SelectionTest)
#include "selection_test.moc"
