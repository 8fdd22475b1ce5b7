// SPDX-License-Identifier: GPL-3.0-or-later
// The values of the hover card in Growth, Norm sites, θ and Jacobian are those that `normscope-cli probe`
// writes for the recipe, to the printed digits.
#include "core/run/experiment.h"
#include "core/session/named_arrays.h"
#include "tests/app/window/small_recipe.h"
#include "tests/support/test_main.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/hover.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

using namespace normscope;
using namespace normscope::widgets;

class HoverProbeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        Recipe recipe = test::smallRecipe(Scheme::Post);
        recipe.train.batch = 8;  // it can afford all of the probe batch, which is what the command measures
        complete_and_validate(recipe);
        Experiment experiment(recipe, "a", "Post-LN");
        run_ = experiment.header();
        ThreadPool pool(1);
        for (const auto& plan : recipe.probes) run_.probes[plan.id] = {experiment.measure(plan.id, pool)};
        QCOMPARE(run_.probes.at("growth").at(0).labels.at("sampled"),
                 std::vector<std::string>{"8 sequences"});

        const QString path = folder_.filePath("recipe.json");
        std::ofstream(path.toStdString()) << recipe_json(recipe);
        QProcess cli;
        cli.start(NORMSCOPE_CLI, {"probe", path, "--dtype", "float32", "--out", folder_.filePath("out.h5")});
        QVERIFY(cli.waitForFinished());
        QVERIFY2(cli.exitCode() == 0, cli.readAllStandardError().constData());
    }

    void growth() {
        const Figure figure = shown("growth");
        const auto rms = fromCli("/probes/growth/rms");
        for (std::size_t k = 0; k < rms.size(); ++k)
            expect(figure, {0, static_cast<double>(k) / 2, 0, -1, -1}, rms[k]);
    }

    void normSites() {
        const Figure figure = shown("null_space");
        const auto gain = fromCli("/probes/null_space/gain");
        const Stems& stems = figure.plots.at(0).stems.at(0);
        QCOMPARE(stems.x.size(), gain.size());
        for (std::size_t i = 0; i < gain.size(); ++i) expect(figure, {0, stems.x[i], -1, -1, -1}, gain[i]);
        const Figure rho = shown("null_space", {{"quantity", "fp16_rho_ln"}});
        const auto value = fromCli("/probes/null_space/fp16_rho_ln");
        QCOMPARE(value.size(), gain.size());
        for (std::size_t i = 0; i < value.size(); ++i) expect(rho, {0, stems.x[i], -1, -1, -1}, value[i]);
    }

    void theta() {
        const Figure figure = shown("theta", {{"quantity", "mean"}});
        const auto mean = fromCli("/probes/theta/mean");
        const int heads = figure.plots.at(0).maps.at(0).columns;
        for (std::size_t i = 0; i < mean.size(); ++i)
            expect(figure, {0, kNaN, -1, static_cast<int>(i) / heads, static_cast<int>(i) % heads}, mean[i]);
    }

    void jacobian() {
        const Figure figure = shown("jacobian", {{"view", "end_to_end"}});
        const auto sigma = fromCli("/probes/jacobian/end_to_end_sv");
        const Curve& curve = figure.plots.at(0).curves.at(0);
        QVERIFY(curve.x.size() + 4 > sigma.size());  // exact nulls are in the lane, not on the curve
        int compared = 0;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i])) continue;
            expect(figure, {0, curve.x[i], 0, -1, -1}, sigma[i]);
            ++compared;
        }
        QVERIFY(compared >= 12);
    }

  private:
    Figure shown(const char* panel, PanelOptions options = {}) {
        PanelInput input;
        input.runs = {&run_};
        input.exploring = true;
        input.options = std::move(options);
        return buildPanel(panel, input);
    }

    std::vector<double> fromCli(const char* object) {
        return read_file_array<double>(folder_.filePath("out.h5").toStdString(), object).data;
    }

    void expect(const Figure& figure, const HoverPoint& point, double value) {
        QString card;
        for (const HoverLine& line : hoverLines(figure, point)) card += line.text + "\n";
        QVERIFY2(card.contains(numberText(value)), qPrintable(card + " lacks " + numberText(value)));
    }

    QTemporaryDir folder_;
    RunData run_;
};

NORMSCOPE_WIDGET_TEST(HoverProbeTest)
#include "hover_probe_test.moc"
