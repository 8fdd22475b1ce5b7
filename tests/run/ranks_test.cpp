// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that train one stack together have the bits of one process.
#include "core/run/run.h"
#include "tests/run/small_run.h"
#include "tests/support/test_main.h"
#include "tests/support/thread_ranks.h"

#include <QtTest>
#include <chrono>
#include <cstring>

using namespace normscope;

namespace {

/// Sequences 0 … 6: shards of one and of two.
Recipe recipe_of(const std::string& settings, int steps = 6) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 7, "steps": )" +
                                     std::to_string(steps) + ", " + settings + "}",
                                 "test");
    complete_and_validate(recipe);
    return recipe;
}

std::string stack_of(const std::string& scheme, const std::string& more = "") {
    return R"("stack": {"depth": 2, "d_model": 24, "heads": 2, "context": 12, "scheme": ")" + scheme + "\"" +
           more + "}";
}

struct Trained {
    RunData run;
    Checkpoint last;
};

/// Until the end or until so many steps are done.
Trained train(const Recipe& recipe, Communicator* ranks, std::int64_t until = 1 << 20,
              const Checkpoint* from = nullptr) {
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "test");
    if (ranks) experiment.join(*ranks);
    if (from) experiment.restore(*from);
    RunData run = experiment.header();
    const bool leads = ranks && ranks->rank() == 0;
    while (!experiment.ended() && experiment.steps_done() < until) {
        // The update is tried without the other ranks.
        if (leads && recipe.train.precision != Precision::Fp16) experiment.measure("updates", pool);
        append(run, experiment.advance(pool));
    }
    return {std::move(run), experiment.checkpoint()};
}

/// What a rank that does not record trains.
Recipe of_follower(Recipe recipe) {
    recipe.probes.clear();
    recipe.train.validate_every = 0;
    return recipe;
}

std::vector<Trained> train_in_ranks(const Recipe& recipe, int size, const Checkpoint* from = nullptr) {
    std::vector<Trained> all(static_cast<std::size_t>(size));
    test::ThreadRanks(size).run([&](Communicator& ranks) {
        all[static_cast<std::size_t>(ranks.rank())] =
            train(ranks.rank() == 0 ? recipe : of_follower(recipe), &ranks, 1 << 20, from);
    });
    return all;
}

/// The rows of `b`, which may begin later; columns that tell time differ.
void compare_rows(const RunData& a, const RunData& b) {
    QVERIFY(!b.steps.step.empty());
    const std::size_t skipped = a.steps.step.size() - b.steps.step.size();
    for (const char* name : {"loss", "val_loss", "grad_norm", "grad_ratio", "lr", "batch_hash"}) {
        const auto *x = a.steps.find(name), *y = b.steps.find(name);
        QVERIFY(x && y);
        QVERIFY2(std::memcmp(x->data() + skipped, y->data(), y->size() * sizeof(double)) == 0, name);
    }
    QCOMPARE(b.outcome.state, a.outcome.state);
    QCOMPARE(b.outcome.text, a.outcome.text);
}

void compare_state(const Checkpoint& a, const Checkpoint& b) {
    QCOMPARE(a.step, b.step);
    QVERIFY(a.params == b.params);
    QVERIFY(a.moment1 == b.moment1);
    QVERIFY(a.moment2 == b.moment2);
    QVERIFY(a.integers == b.integers);
    QCOMPARE(a.scalars.size(), b.scalars.size());
}

}  // namespace

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
        }
    }

    /// Four ranks stop, two continue: the rows of one process.
    void aRunResumesOnAnotherNumberOfRanks() {
        const Recipe recipe = recipe_of(stack_of("peri"), 8);
        const Trained alone = train(recipe, nullptr);
        Checkpoint at_five;
        test::ThreadRanks(4).run([&](Communicator& ranks) {
            const Trained made = train(recipe, &ranks, 5);
            if (ranks.rank() == 0) at_five = made.last;
        });
        QCOMPARE(at_five.step, std::int64_t{5});
        const std::vector<Trained> two = train_in_ranks(recipe, 2, &at_five);
        compare_rows(alone.run, two[0].run);
        compare_state(alone.last, two[1].last);
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
        test::ThreadRanks(3).run([&](Communicator& ranks) {
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
