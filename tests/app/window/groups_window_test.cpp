// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that differ in the seed alone: one chip, one colour, one lane, a median with its band.
#include "app/window/appearance_controller.h"
#include "app/window/commands.h"
#include "app/window/window_view.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/dialogs/export_dialog.h"
#include "widgets/plots/plot_view.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/step_scrubber.h"
#include "widgets/runs/transport_bar.h"
#include "window_bench.h"

#include <QAction>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

QStringList chipNames(const WindowBench& b) {
    QStringList names;
    for (const widgets::RunChip* chip : b.find<widgets::RunStrip>("runStrip")->chips())
        names << chip->run().title();
    return names;
}

/// The middle one of three.
double middle(double a, double b, double c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

}  // namespace

class GroupsWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void seedsAreOneChipAndUndone() {
        WindowBench b;
        b.makeSmall(4);
        b.window->commands()[Command::AddSeeds]->trigger();
        QCOMPARE(b.lab().comparison().runs.size(), 6u);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        std::vector<std::uint64_t> seeds;
        for (const LabRun& run : b.lab().comparison().runs) seeds.push_back(run.recipe.train.seed);
        QCOMPARE(seeds, (std::vector<std::uint64_t>{42, 43, 44, 42, 43, 44}));
        QCOMPARE(chipNames(b), (QStringList{"Pre-LN ×3", "Post-LN ×3"}));
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().view().setGroupSeeds(false);
        QCOMPARE(chipNames(b).size(), 6);
        QCOMPARE(chipNames(b)[1], QStringLiteral("Pre-LN · seed 43"));
        b.lab().view().setGroupSeeds(true);
        b.lab().runs().undoStack()->undo();
        QCOMPARE(chipNames(b), (QStringList{"Pre-LN", "Post-LN"}));
    }

    void aPanelDrawsTheMedianAndItsBand() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().addSeeds(2);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && b.run(5).probes.count("growth"), 20000);
        const auto* view = b.cell("growth")->plot();
        QTRY_VERIFY(view->figure() && view->figure()->plots.front().bands.size() == 2);
        const auto figure = view->figure();
        QCOMPARE(figure->run_names, (QStringList{"Pre-LN", "Post-LN"}));
        const widgets::Plot& plot = figure->plots.front();
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.bands.size(), 2u);
        const auto rms = [&](int run, std::size_t place) {
            return b.run(run).probes.at("growth").back().find("rms")->data[place];
        };
        for (int group : {0, 1}) {
            const widgets::Curve& curve = plot.curves[std::size_t(group)];
            QCOMPARE(curve.role.run, group);
            QCOMPARE(curve.y.size(), 7u);
            for (std::size_t i = 0; i < curve.y.size(); ++i) {
                const double a = rms(3 * group, i), c = rms(3 * group + 1, i), d = rms(3 * group + 2, i);
                QCOMPARE(curve.y[i], middle(a, c, d));
                QCOMPARE(plot.bands[std::size_t(group)].low[i], std::min({a, c, d}));
                QCOMPARE(plot.bands[std::size_t(group)].high[i], std::max({a, c, d}));
            }
        }
        // A panel that cannot draw groups shows one run of each, in the groups' colours, and states it.
        const auto spectra = b.cell("jacobian")->plot()->figure();
        QVERIFY2(spectra->subtitle.contains("· seed 42"), qPrintable(spectra->subtitle));
        QCOMPARE(spectra->run_names.size(), 2);
        b.lab().runs().select(4);
        QTRY_VERIFY(b.cell("jacobian")->plot()->figure()->subtitle.contains("· seed 43"));
    }

    /// Medians have no strip of ratios here, and the figure that the specification redraws has none either.
    void theSpecificationAsksForNoStripThatTheFigureLacks() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().runs().addSeeds(2);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && b.run(5).probes.count("growth"), 20000);
        QTRY_COMPARE(b.cell("growth")->plot()->figure()->plots.size(), 1u);
        b.window->commands()[Command::ExportFigure]->trigger();
        auto* dialog = b.find<widgets::ExportDialog>("exportDialog");
        QVERIFY(dialog && !dialog->specFor(b.folder.filePath("a.svg")).paper.ratio);
        dialog->close();
    }

    void trainedSeedsHaveOneLaneAndCountedOutcomes() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().runs().addSeeds(2);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(5).outcome.state != RunState::Running, 30000);
        QTRY_COMPARE(chipNames(b), (QStringList{"Pre-LN ×3", "Post-LN ×3"}));
        const auto* scrubber = b.find<widgets::TransportBar>("transportBar")->scrubber();
        QCOMPARE(scrubber->lanes().size(), 2u);
        QTRY_COMPARE(scrubber->lanes()[1].recorded, qint64(5));  // it is updated a few times a second
        const widgets::Plot& loss = b.cell("training")->plot()->figure()->plots.front();
        const auto curve = std::find_if(loss.curves.begin(), loss.curves.end(), [](const widgets::Curve& c) {
            return c.line && c.y.size() == 6 && c.role.run == 1;
        });
        QVERIFY(curve != loss.curves.end());
        const auto lossOf = [&](int run) { return b.run(run).steps.find("loss")->at(5); };
        QCOMPARE(curve->y[5], middle(lossOf(3), lossOf(4), lossOf(5)));
        b.keepScreenshot("groups");
        // A session keeps them, and how they are shown.
        b.lab().view().setGroupSeeds(false);
        QVERIFY(viewJson(*b.window).find("\"group_seeds\":false") != std::string::npos);
    }

    void aKnobActsOnAllSeedsOfTheSelectedGroup() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().addSeeds(2);
        b.lab().runs().select(4);
        b.lab().runs().setLinked(false);
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        for (int i = 0; i < 6; ++i)
            QCOMPARE(b.lab().comparison().runs[std::size_t(i)].recipe.stack.residual_step, i < 3 ? 1.0 : 0.5);
        b.lab().knobs().commitKey("stack.scheme", "peri");
        QCOMPARE(chipNames(b).size(), 2);
        QCOMPARE(b.lab().comparison().runs[3].recipe.stack.scheme, Scheme::Peri);
        QCOMPARE(b.lab().comparison().runs[2].recipe.stack.scheme, Scheme::Pre);
        // The seed alone is the run's own.
        b.lab().knobs().commitKey("seed", 99);
        QCOMPARE(b.lab().comparison().runs[3].recipe.train.seed, 42u);
        QCOMPARE(b.lab().comparison().runs[4].recipe.train.seed, 99u);
    }

    void aReferenceIsByItself() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().addSeeds(1);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().runs().select(1);
        b.lab().runs().pinSelected();
        QCOMPARE(chipNames(b).size(), 3);
        QCOMPARE(chipNames(b)[0], QStringLiteral("Pre-LN ×2"));
        QVERIFY(chipNames(b)[2].endsWith("(reference)"));
    }

    /// Six groups of three, trained: one chip and one name in the figures each.
    void sixGroupsOfThree() {
        WindowBench b;
        b.makeSmall(12);
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        for (const Scheme scheme : {Scheme::Peri, Scheme::DeepNorm, Scheme::Mix, Scheme::Lns}) {
            recipe.stack.scheme = scheme;
            b.lab().runs().add(recipe);
        }
        b.lab().runs().addSeeds(2);
        QCOMPARE(b.lab().comparison().runs.size(), 18u);
        QCOMPARE(chipNames(b).size(), 6);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QTRY_COMPARE(b.cell("training")->plot()->figure()->run_names.size(), 6);
        b.keepScreenshot("six-groups");
        b.window->appearance()->toggleTheme();
        b.keepScreenshot("six-groups-dark");
    }
};

NORMSCOPE_WIDGET_TEST(GroupsWindowTest)
#include "groups_window_test.moc"
