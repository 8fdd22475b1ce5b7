// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that train one stack together have the bits of one process.
#include "core/run/run.h"
#include "tests/run/rank_runs.h"
#include "tests/run/small_run.h"
#include "tests/support/test_main.h"

#include <chrono>
#include <cmath>

using namespace normscope;
using namespace normscope::rank_runs;

class RanksTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void ranksHaveTheBitsOfOneProcess_data() {
        QTest::addColumn<QString>("settings");
        const auto row = [](const char* name, const std::string& settings) {
            QTest::newRow(name) << QString::fromStdString(settings);
        };
        row("no norm, float64", R"("precision": "fp64", )" + stack_of("none"));
        row("post-norm", stack_of("post"));
        row("pre-norm, accumulated", R"("accumulate": 3, )" + stack_of("pre"));
        row("peri-norm, bf16 autocast",
            R"("precision": "bf16", "precision_policy": "autocast", )" + stack_of("peri"));
        row("pre-norm, bf16 pure", R"("precision": "bf16", "precision_policy": "pure", )" + stack_of("pre"));
        row("post-norm, fp16", R"("precision": "fp16", )" + stack_of("post"));
        row("muon", R"("optimizer": {"kind": "muon"}, )" + stack_of("pre"));
        row("sgd", R"("optimizer": {"kind": "sgd", "lr": 0.1}, )" + stack_of("pre"));
        row("gates", stack_of("pre", R"(, "gpas": {"enabled": true, "clip": 0.01})"));
        row("diverges", R"("optimizer": {"kind": "sgd", "lr": 1e30, "clip": 0}, )" + stack_of("none"));
    }
    void ranksHaveTheBitsOfOneProcess() {
        QFETCH(QString, settings);
        Recipe recipe = recipe_of(settings.toStdString());
        recipe.train.validate_every = 2;
        recipe.probes = {{"growth", 2}, {"updates", 1}};
        const Trained alone = train(recipe, nullptr);
        for (int size : {2, 3, 4}) {
            const std::vector<Trained> all = train_in_ranks(recipe, size);
            compare_rows(alone.run, all[0].run);
            for (const Trained& rank : all) compare_state(alone.last, rank.last);
            const Trained in_parts = train_in_ranks(recipe, size, nullptr, nullptr, kInParts)[0];
            compare_rows(alone.run, in_parts.run);
            compare_state(alone.last, in_parts.last);
            const auto &x = alone.run.probes.at("updates"), &y = in_parts.run.probes.at("updates");
            QCOMPARE(y.size(), x.size());
            for (std::size_t i = 0; i < x.size(); ++i) compare_arrays(x[i], y[i]);
        }
    }

    /// Each rank adds its own shards first: the same bits in all ranks, those of one process but for
    /// rounding, and where each has one shard, these.
    void gradientsAreAddedByRank() {
        Recipe recipe = recipe_of(R"("precision": "fp64", )" + stack_of("pre"));
        recipe.probes.clear();
        const Trained alone = train(recipe, nullptr);
        const std::vector<double>& losses = *alone.run.steps.find("loss");
        for (int size : {2, 3, 4}) {
            const std::vector<Trained> all =
                train_in_ranks(recipe, size, nullptr, nullptr, {OptimizerState::Whole, RankSum::ByRank});
            for (const Trained& rank : all) compare_state(all[0].last, rank.last);
            const std::vector<double>& found = *all[0].run.steps.find("loss");
            QCOMPARE(found.size(), losses.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                QVERIFY2(std::abs(found[i] - losses[i]) <= 1e-11 * losses[i], qPrintable(QString::number(i)));
            QCOMPARE(all[0].last.params == alone.last.params, size == 4);
            QVERIFY(QString::fromStdString(all[0].run.device)
                        .endsWith(QString(", %1 ranks, gradients added by rank").arg(size)));
        }
    }

    /// The state of the optimizer is in parts, of which the first rank's is neither the first step's nor all.
    void eachRankHasAPartOfTheOptimizersState() {
        for (const char* kind : {"adamw", "muon", "sgd"}) {
            const Recipe recipe =
                recipe_of("\"optimizer\": {\"kind\": \"" + std::string(kind) + "\"}, " + stack_of("pre"));
            const ParameterTable table(recipe.stack);
            const Optimizer<float> whole(table, recipe.train.optimizer.kind);
            for (int parts : {1, 2, 4, 9}) {
                std::size_t begin = 0, sum = 0;
                for (const std::size_t end : whole.part_ends(parts)) {
                    QVERIFY(end >= begin);
                    Optimizer<float> part(table, recipe.train.optimizer.kind);
                    part.restrict_to(begin, end);
                    sum += part.moment1().size();
                    begin = end;
                }
                QCOMPARE(begin, table.size());
                QCOMPARE(sum, table.size());
                if (parts == 2) {  // about equal
                    const double share =
                        static_cast<double>(whole.part_ends(2)[0]) / static_cast<double>(table.size());
                    QVERIFY2(share > 0.3 && share < 0.7, qPrintable(QString::number(share)));
                }
            }
        }
    }

    /// Four ranks stop, two continue: the rows of one process.
    void aRunResumesOnAnotherNumberOfRanks() {
        const Recipe recipe = recipe_of(stack_of("peri"), 8);
        const Trained alone = train(recipe, nullptr);
        Checkpoint at_five;
        test::ThreadRanks(4).run([&](HostCommunicator& ranks) {
            const Trained made = train(recipe, &ranks, 5);
            if (ranks.rank() == 0) at_five = made.last;
        });
        QCOMPARE(at_five.step, std::int64_t{5});
        const std::vector<Trained> two = train_in_ranks(recipe, 2, &at_five);
        compare_rows(alone.run, two[0].run);
        compare_state(alone.last, two[1].last);
        // The same with the state of the optimizer in parts, before and after.
        Checkpoint of_parts;
        test::ThreadRanks(4).run([&](HostCommunicator& ranks) {
            Trained made = train(recipe, &ranks, 5, nullptr, cpu_device(), kInParts);
            if (ranks.rank() == 0) of_parts = std::move(made.last);
        });
        compare_state(at_five, of_parts);
        const Trained parts = train_in_ranks(recipe, 3, &of_parts, nullptr, kInParts)[0];
        compare_rows(alone.run, parts.run);
        compare_state(alone.last, parts.last);
    }

    /// A rank is lost in a step: the run is as before that step, where ε had been raised for it too, and is
    /// interrupted there with a checkpoint.
    void aLostRankLeavesTheStateBeforeTheStep() {
        Recipe recipe =
            recipe_of(stack_of("pre", R"(, "norm": {"eps": 1e-5})") +
                          R"(, "interventions": [{"kind": "norm_eps", "every": 1, "rho": 0.01, "cap": 0.1}])",
                      6);
        const Trained whole = train(recipe, nullptr), three = train(recipe, nullptr, 3),
                      four = train(recipe, nullptr, 4);
        QVERIFY(raised_eps(four.last) != raised_eps(three.last));  // it is raised before that step
        test::MemorySink sink;
        bool lost = false;
        test::ThreadRanks(3).run([&](HostCommunicator& ranks) {
            if (ranks.rank() == 1) {  // is lost
                train(recipe, &ranks, 3);
                return;
            }
            if (ranks.rank() == 2) {
                try {
                    train(recipe, &ranks);
                } catch (const LostRank&) {
                }
                return;
            }
            ThreadPool pool(1);
            auto experiment = std::make_unique<Experiment>(recipe, "a", "test");
            experiment->join(ranks);
            Run run(std::move(experiment), {}, sink, std::chrono::hours(1));
            run.begin();
            try {
                while (!run.ended()) run.advance(pool);
            } catch (const LostRank&) {
                lost = !run.ended();
                run.interrupt("a rank was lost", "a rank was lost");
            }
        });
        QVERIFY(lost);
        QCOMPARE(sink.all.steps.size(), std::size_t{3});
        QCOMPARE(sink.all.outcome->state, RunState::Interrupted);
        compare_state(three.last, *sink.last);
        QCOMPARE(raised_eps(*sink.last), raised_eps(three.last));
        const Trained resumed = train(recipe, nullptr, 1 << 20, sink.last.get());
        compare_rows(whole.run, resumed.run);
        compare_state(whole.last, resumed.last);
    }

    /// A rank is lost with its part of the optimizer's state: the run is interrupted, and what was saved
    /// before is what continues.
    void aLostPartLeavesTheLastCheckpoint() {
        const Recipe recipe = recipe_of(stack_of("pre"), 6);
        const Trained whole = train(recipe, nullptr), two = train(recipe, nullptr, 2);
        test::MemorySink sink;
        bool lost = false;
        test::ThreadRanks(3).run([&](HostCommunicator& ranks) {
            if (ranks.rank() > 0) {
                ThreadPool pool(1);
                Experiment experiment(recipe, "a", "test");
                experiment.join(ranks, kInParts);
                try {
                    while (experiment.steps_done() < (ranks.rank() == 1 ? 3 : 6)) {
                        experiment.advance(pool);
                        if (experiment.steps_done() == 2) experiment.collect_state();
                    }
                } catch (const LostRank&) {
                }
                return;
            }
            ThreadPool pool(1);
            auto experiment = std::make_unique<Experiment>(recipe, "a", "test");
            experiment->join(ranks, kInParts);
            RunStart start;
            start.asked_for_checkpoints = true;
            Run run(std::move(experiment), std::move(start), sink, std::chrono::hours(0));
            run.begin();
            try {
                while (!run.ended()) {
                    run.advance(pool);
                    if (run.experiment().steps_done() == 1) QVERIFY(run.checkpoint_due());
                    if (run.experiment().steps_done() == 2) run.save();
                }
            } catch (const LostRank&) {
                lost = !run.ended();
                try {
                    run.interrupt("a rank was lost", "a rank was lost");
                } catch (const LostRank&) {
                }
            }
        });
        QVERIFY(lost);
        QCOMPARE(sink.all.outcome->state, RunState::Interrupted);
        QCOMPARE(sink.checkpoints, std::vector<std::int64_t>{2});  // where it was asked for
        compare_state(two.last, *sink.last);
        const Trained resumed = train(recipe, nullptr, 1 << 20, sink.last.get());
        compare_rows(whole.run, resumed.run);
        compare_state(whole.last, resumed.last);
    }

    void moreRanksThanShardsAreAnError() {
        Recipe recipe = recipe_of(stack_of("pre"));
        recipe.train.batch = 2;
        try {
            train_in_ranks(recipe, 3);
            QFAIL("three ranks, two sequences");
        } catch (const InputError& error) {
            QCOMPARE(
                QString(error.what()),
                QString("--ranks: 3 ranks, and the gradient of a batch of 2 is a sum of 2 parts, allowed: "
                        "1 … 2 ranks"));
        }
    }
};

NORMSCOPE_TEST(RanksTest)
#include "ranks_test.moc"
