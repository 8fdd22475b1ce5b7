// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep's results: the row of a recorded run, results.csv and its damages, cells and best values.
#include "core/sweep/sweep_results.h"

#include "core/base/error.h"
#include "core/recipe/recipe_text.h"
#include "core/sweep/sweep_map.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;

class SweepResultsTest : public QObject {
    Q_OBJECT

    static SweepResults results(std::vector<const char*> axes, std::vector<std::uint64_t> seeds) {
        SweepResults made;
        made.spec = {recipe_text("pre-ln", {"steps=30"}), {}, std::move(seeds)};
        for (const char* axis : axes) made.spec.grid.push_back(parse_sweep_axis(axis));
        made.runs = expand_sweep(made.spec);
        return made;
    }
    static SweepRow row(std::size_t run, RunState state, double loss) {
        SweepRow made;
        made.run = run;
        made.state = state;
        made.steps = 30;
        made.final_loss = made.best_loss = loss;
        if (state == RunState::Diverged) made.diverged_at = 29;
        return made;
    }
    static RunData recorded(const std::vector<double>& losses, Outcome outcome) {
        RunData run;
        run.outcome = std::move(outcome);
        for (std::size_t i = 0; i < losses.size(); ++i)
            run.steps.append({static_cast<std::int64_t>(i),
                              {{"loss", losses[i]},
                               {"val_loss", i % 10 == 0 ? losses[i] + 0.5 : std::nan("")},
                               {"step_ms", 2.0},
                               {"probe_ms", i == 0 ? 500.0 : 0.0}}});
        return run;
    }

  private Q_SLOTS:
    void rowOfARun() {
        SweepRun run;
        run.index = 3;
        run.recording = "runs/004.h5";
        std::vector<double> losses;
        for (int i = 0; i < 50; ++i) losses.push_back(i < 25 ? 5.0 - 0.1 * i : 2.5 + 0.02 * (i - 25));
        const SweepRow row = sweep_row(run, recorded(losses, {RunState::Finished, 49, "", -1}));
        // By another route: all 31 windows.
        double best = 1e9, last = 0;
        for (std::size_t start = 0; start + 20 <= 50; ++start) {
            last = 0;
            for (std::size_t i = start; i < start + 20; ++i) last += losses[i] / 20;
            best = std::min(best, last);
        }
        QCOMPARE(row.run, std::size_t(3));
        QCOMPARE(row.steps, std::int64_t(50));
        QVERIFY(std::abs(*row.final_loss - last) < 1e-12);
        QVERIFY(std::abs(*row.best_loss - best) < 1e-12 && *row.best_loss < *row.final_loss);
        QCOMPARE(*row.held_out_loss, losses[40] + 0.5);
        QVERIFY(!row.diverged_at);
        QVERIFY(std::abs(*row.seconds - 0.6) < 1e-12);  // 50 · 2 ms and 500 ms of samples
        QCOMPARE(row.recording, run.recording);

        // Shorter than the window; a loss that is not finite.
        QCOMPARE(*sweep_row(run, recorded({3, 2, 1}, {RunState::Finished, 2, "", -1})).final_loss, 2.0);
        losses.push_back(std::nan(""));
        const SweepRow bad = sweep_row(run, recorded(losses, {RunState::Diverged, 50, "", 3}));
        QVERIFY(std::isnan(*bad.final_loss) && std::abs(*bad.best_loss - best) < 1e-12);
        QCOMPARE(*bad.diverged_at, std::int64_t(50));
        QVERIFY(!bad.held_out_loss);  // the newest is of step 40
        const SweepRow none = sweep_row(run, recorded({}, {RunState::Failed, 0, "x", -1}));
        QVERIFY(!none.final_loss && !none.best_loss);
    }

    void csv() {
        SweepResults made = results({"optimizer.betas=[0.9,0.95],[0.8,0.9]"}, {42, 43});
        SweepRow first = row(0, RunState::Finished, 1.0 / 3);
        first.held_out_loss = 2.0 / 3;
        first.seconds = 1.23456;
        first.recording = made.runs[0].recording;
        SweepRow second = row(3, RunState::Diverged, std::nan(""));
        second.best_loss = std::numeric_limits<double>::infinity();
        SweepRow failed = row(2, RunState::Failed, 0);
        failed.final_loss = failed.best_loss = std::nullopt;
        failed.steps = 0;
        const std::string csv = results_csv(made.spec, made.runs, {second, first, failed}, true);
        QCOMPARE(
            QString::fromStdString(csv),
            QString("optimizer.betas,seed,state,steps,final_loss,best_loss,held_out_loss,diverged_at,seconds,"
                    "recording\n"
                    "\"[0.9,0.95]\",42,finished,30,0.3333333333333333,0.3333333333333333,"
                    "0.6666666666666666,,1.235,runs/001_betas--0.9-0.95-_seed-42.h5\n"
                    "\"[0.8,0.9]\",42,failed,0,,,,,,\n"
                    "\"[0.8,0.9]\",43,diverged,30,nan,inf,,29,,\n"));
        const std::vector<SweepRow> back = parse_results(made.spec, made.runs, csv, "R");
        QCOMPARE(back.size(), std::size_t(3));
        QCOMPARE(*back[0].final_loss, 1.0 / 3);  // the same double
        QCOMPARE(results_csv(made.spec, made.runs, back, true), csv);
        // Without the measured column nothing else changes.
        const std::string untimed = results_csv(made.spec, made.runs, back, false);
        QCOMPARE(QString::fromStdString(untimed).remove(",1.235"), QString::fromStdString(untimed));
        QCOMPARE(QString::fromStdString(csv).replace(",1.235,", ",,"), QString::fromStdString(untimed));
    }

    /// The results of an earlier version, which had no held-out loss, are read and written with the column.
    void csvWithoutHeldOutLoss() {
        const SweepResults made = results({"stack.scheme=post,pre"}, {42});
        const std::string earlier =
            "stack.scheme,seed,state,steps,final_loss,best_loss,diverged_at,seconds,recording\n"
            "post,42,diverged,30,0.5,0.25,29,1.5,\n"
            "pre,42,finished,30,0.75,0.75,,2,\n";
        const std::vector<SweepRow> rows = parse_results(made.spec, made.runs, earlier, "R");
        QCOMPARE(rows.size(), std::size_t(2));
        QVERIFY(!rows[0].held_out_loss && !rows[1].held_out_loss);
        QCOMPARE(*rows[0].diverged_at, std::int64_t(29));
        QCOMPARE(*rows[1].seconds, 2.0);
        QCOMPARE(
            QString::fromStdString(results_csv(made.spec, made.runs, rows, true)),
            QString("stack.scheme,seed,state,steps,final_loss,best_loss,held_out_loss,diverged_at,seconds,"
                    "recording\n"
                    "post,42,diverged,30,0.5,0.25,,29,1.500,\n"
                    "pre,42,finished,30,0.75,0.75,,,2.000,\n"));
    }

    void damagedCsv_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* from, const char* to, const char* message) {
            QTest::newRow(message) << from << to << message;
        };
        row("seed,state", "state,seed", "R: damaged: does not begin with the columns of this sweep");
        row("0.5,,,,x.h5\n", "0.5,,,,x", "cut off");
        row("finished,30", "finished", "R: line 2: damaged: has 9 of 10 columns");
        row("post,43", "prre,43", "R: line 3: is no run of this sweep");
        row("post,43", "post,42", "R: line 3: the run has two rows");
        row("stalled", "stuck", "stuck");
        row("30,0.5", "thirty,0.5", "R: line 2: damaged: \"thirty\" is no number");
        row("0.5,0.5", "0.5x,0.5", "\"0.5x\" is no number");
        row("RECORDING", "elsewhere.h5", "R: line 2: recording: \"elsewhere.h5\" is not runs/");
        row("post,43", "\"post,43", "cut off");
    }
    void damagedCsv() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, message);
        const SweepResults made = results({"stack.scheme=post,pre"}, {42, 43});
        QString csv =
            "stack.scheme,seed,state,steps,final_loss,best_loss,held_out_loss,diverged_at,seconds,recording\n"
            "post,42,finished,30,0.5,0.5,,,,RECORDING\n"
            "post,43,stalled,30,0.5,0.5,,,,x.h5\n";
        QVERIFY(csv.contains(from));
        csv.replace(csv.indexOf(from), from.size(), to);
        csv.replace("RECORDING", QString::fromStdString(made.runs[0].recording));
        csv.replace("x.h5", QString::fromStdString(made.runs[1].recording));
        try {
            parse_results(made.spec, made.runs, csv.toStdString(), "R");
            QFAIL("accepted");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).contains(message), error.what());
        }
    }

    /// A diverged run counts as infinite, a failed one not at all.
    void cells() {
        SweepResults made = results({"stack.scheme=post,pre", "optimizer.lr=1e-3,1e-2"}, {1, 2, 3});
        const auto add = [&](std::size_t cell, std::vector<SweepRow> rows) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                rows[i].run = 3 * cell + i;
                made.rows.push_back(rows[i]);
            }
        };
        const auto fine = [](double loss) { return row(0, RunState::Finished, loss); };
        const auto gone = [] { return row(0, RunState::Diverged, 0.1); };
        add(0, {fine(2.0), fine(1.5), fine(9.0)});
        add(1, {fine(1.0), gone(), gone()});
        add(2, {fine(1.4), fine(1.2), row(0, RunState::Failed, 0)});
        add(3, {fine(1.31), row(0, RunState::Stalled, 1.25)});  // one is missing
        const std::vector<SweepCell> fine_cells = sweep_cells(made, {0, 1});
        QCOMPARE(fine_cells.size(), std::size_t(4));
        QCOMPARE(*fine_cells[0].median_loss, 2.0);
        QVERIFY(std::isinf(*fine_cells[1].median_loss));
        QVERIFY(std::abs(*fine_cells[2].median_loss - 1.3) < 1e-12);
        QVERIFY(std::abs(*fine_cells[3].median_loss - 1.28) < 1e-12);
        QCOMPARE(fine_cells[1].outcomes_text(), std::string("1 finished, 2 diverged"));
        QCOMPARE(fine_cells[3].ended(), std::size_t(2));
        QCOMPARE(fine_cells[3].runs, (std::vector<std::size_t>{9, 10, 11}));
        QCOMPARE(fine_cells[2].values, (std::vector<std::size_t>{1, 0}));

        const std::vector<SweepCell> schemes = sweep_cells(made, {0});
        QCOMPARE(schemes.size(), std::size_t(2));
        QCOMPARE(schemes[0].ended(), std::size_t(6));
        QCOMPARE(sweep_cells(made, {}).front().runs.size(), std::size_t(12));
        // The keys in another order.
        QCOMPARE(*sweep_cells(made, {1, 0})[2].median_loss, *fine_cells[1].median_loss);

        const std::vector<BestValue> best = best_values(made, 1);
        QCOMPARE(best.size(), std::size_t(2));
        QCOMPARE(best[0].value, std::size_t(0));
        QCOMPARE(best[0].others, (std::vector<std::size_t>{0}));
        QCOMPARE(best[1].value, std::size_t(1));
        QCOMPARE(best[1].cell.outcomes_text(), std::string("1 finished, 1 stalled"));
        QCOMPARE(best[1].all.ended(), std::size_t(5));
        // By the other key: 1e-3 is best with Pre-LN.
        QCOMPARE(best_values(made, 0)[0].value, std::size_t(1));
        // Nothing but divergences: no best value.
        SweepResults diverged = results({"optimizer.lr=1e-3,1e-2"}, {1});
        diverged.rows = {row(0, RunState::Diverged, 3), row(1, RunState::Diverged, 3)};
        QVERIFY(best_values(diverged, 0).empty());
    }
};

NORMSCOPE_TEST(SweepResultsTest)
#include "sweep_results_test.moc"
