// SPDX-License-Identifier: GPL-3.0-or-later
// What each arm chooses, on the seeds that serve for nothing else; settings that follow the grid.
#include "core/sweep/sweep_choice.h"

#include "core/base/error.h"
#include "core/recipe/recipe_text.h"
#include "tests/support/test_main.h"
#include "tests/sweep/rejected.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using test::rejected;

namespace {

/// Two schemes at three rates; seeds 142 and 143 choose, 42 and 43 judge.
SweepSpec choosing() {
    SweepSpec spec{recipe_text("pre-ln", {"steps=30"}), {}, {142, 143, 42, 43}};
    spec.grid = {parse_sweep_axis("stack.scheme=post,pre"), parse_sweep_axis("optimizer.lr=1e-3,1e-2,1e-1")};
    spec.choice = {{"optimizer.lr"}, 2};
    return spec;
}

/// A row for each run whose loss `loss_of` gives; NaN: the run has not ended.
template <class Loss>
SweepResults results_of(const SweepSpec& spec, Loss&& loss_of) {
    SweepResults results{spec, expand_sweep(spec), {}};
    for (const SweepRun& run : results.runs) {
        const double loss = loss_of(run);
        if (std::isnan(loss)) continue;
        SweepRow row;
        row.run = run.index;
        row.state = std::isinf(loss) ? RunState::Diverged : RunState::Finished;
        row.final_loss = loss;
        results.rows.push_back(row);
    }
    return results;
}

double rate(const SweepRun& run) {
    return std::stod(run.values[1]);
}
bool post(const SweepRun& run) {
    return run.values[0] == "post";
}

}  // namespace

class SweepChoiceTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Post-LN is best at 1e-3, Pre-LN at 1e-2; the seeds that judge would say the opposite.
    void eachArmChoosesOnItsOwnSeeds() {
        const SweepSpec spec = choosing();
        const auto loss = [](const SweepRun& run) {
            const double best = post(run) ? 1e-3 : 1e-2, off = std::abs(std::log10(rate(run) / best));
            return run.seed > 100 ? 1 + off : 3 - off;
        };
        const auto chosen = chosen_values(results_of(spec, loss));
        QVERIFY(chosen.has_value());
        QCOMPARE(chosen->size(), std::size_t{2});
        QCOMPARE(chosen->at(0).arm, std::vector<std::string>{"post"});
        QCOMPARE(chosen->at(0).values, std::vector<std::string>{"0.001"});
        QCOMPARE(chosen->at(0).at_edge, std::vector<std::string>{"optimizer.lr"});
        QCOMPARE(chosen->at(0).loss, 1.0);
        QCOMPARE(chosen->at(1).values, std::vector<std::string>{"0.01"});
        QVERIFY(chosen->at(1).at_edge.empty());
        QCOMPARE(chosen_text(spec, chosen->at(0)),
                 std::string("optimizer.lr=0.001, at the edge of its grid: optimizer.lr"));
        int scored = 0, choose = 0;
        for (const SweepRun& run : expand_sweep(spec)) {
            choose += chooses(spec, run);
            if (!is_scored(spec, run, *chosen)) continue;
            ++scored;
            QVERIFY(run.seed < 100);
            QCOMPARE(run.values[1], std::string(post(run) ? "0.001" : "0.01"));
        }
        QCOMPARE(choose, 12);
        QCOMPARE(scored, 4);
        QCOMPARE(spec.trained_runs(), std::size_t{16});
        QCOMPARE(spec.runs(), std::size_t{24});
    }

    /// The median over the seeds that choose, where a diverged run counts as infinite; of none that is finite
    /// the first value.
    void divergedRunsCount() {
        const SweepSpec spec = choosing();
        const auto chosen = chosen_values(results_of(spec, [](const SweepRun& run) {
            if (!post(run)) return HUGE_VAL;
            return run.seed == 142 && rate(run) > 5e-3 ? HUGE_VAL : rate(run) > 5e-3 ? 0.5 : 2.0;
        }));
        QVERIFY(chosen.has_value());
        QCOMPARE(chosen->at(0).values, std::vector<std::string>{"0.001"});
        QCOMPARE(chosen->at(1).values, std::vector<std::string>{"0.001"});
        QVERIFY(std::isinf(chosen->at(1).loss));
    }

    void nothingIsChosenBeforeAllHaveEnded() {
        const SweepSpec spec = choosing();
        const auto without = [&](std::uint64_t seed) {
            return chosen_values(results_of(spec, [&](const SweepRun& run) {
                return run.seed == seed && post(run) && rate(run) > 0.05 ? std::nan("") : 1.0;
            }));
        };
        QVERIFY(!without(142));
        QVERIFY(without(42).has_value());
        SweepSpec plain = spec;
        plain.choice = {};
        QVERIFY(!chosen_values(results_of(plain, [](const SweepRun&) { return 1.0; })));
    }

    void wordsHaveNoEdge() {
        QVERIFY(is_edge(parse_sweep_axis("optimizer.lr=1e-2,1e-3,1e-1"), "0.001"));
        QVERIFY(is_edge(parse_sweep_axis("optimizer.lr=1e-2,1e-3,1e-1"), "0.1"));
        QVERIFY(!is_edge(parse_sweep_axis("optimizer.lr=1e-2,1e-3,1e-1"), "0.01"));
        QVERIFY(!is_edge(parse_sweep_axis("stack.init.rule=lab,gpt2"), "lab"));
        QVERIFY(!is_edge(parse_sweep_axis("optimizer.lr=1e-2"), "0.01"));
    }

    void tiesFollowTheGrid() {
        SweepSpec spec = choosing();
        spec.ties = {parse_sweep_tie("stack.scheme=post: stack.init.rule=gpt2; schedule.warmup=5"),
                     parse_sweep_tie("stack.scheme=post,optimizer.lr=1e-1:schedule.warmup=7")};
        QCOMPARE(spec.ties[1].when.at("optimizer.lr"), std::string("0.1"));
        for (const SweepRun& run : expand_sweep(spec)) {
            const Recipe recipe = recipe_of(spec, run);
            QCOMPARE(recipe.stack.init.rule == InitRule::Gpt2, post(run));
            QCOMPARE(recipe.train.schedule.warmup, !post(run) ? 0 : rate(run) > 0.05 ? 7 : 5);
        }
        const SweepSpec read = parse_sweep(sweep_json(spec), "sweep.json");
        QVERIFY(read.ties == spec.ties);
        QVERIFY(read.choice == spec.choice);
        QVERIFY(sweep_difference(read, spec).empty());
        SweepSpec other = spec;
        other.ties.pop_back();
        QVERIFY(QString::fromStdString(sweep_difference(read, other)).contains("schedule.warmup=7"));
        other = spec;
        other.choice.seeds = 1;
        QCOMPARE(
            QString::fromStdString(sweep_difference(read, other)),
            QString("--choose optimizer.lr with 1 seeds differs from --choose optimizer.lr with 2 seeds of "
                    "the sweep in this folder"));
    }

    void whatIsNoChoice_data() {
        QTest::addColumn<QString>("tie");
        QTest::addColumn<QStringList>("keys");
        QTest::addColumn<int>("seeds");
        QTest::addColumn<QString>("line");
        const QStringList lr{"optimizer.lr"};
        QTest::newRow("no key")
            << "" << QStringList{"stack.depth"} << 2
            << "--choose stack.depth: is no key of the grid, allowed: stack.scheme, optimizer.lr";
        QTest::newRow("twice") << "" << lr + lr << 2 << "--choose optimizer.lr: is given twice";
        QTest::newRow("no seeds") << "" << lr << 0 << "--choose-seeds: are 0 of 4 seeds";
        QTest::newRow("all seeds") << "" << lr << 4 << "--choose-seeds: are 4 of 4 seeds";
        QTest::newRow("seeds alone") << "" << QStringList{} << 2
                                     << "--choose-seeds: are given, allowed: with --choose KEY";
        QTest::newRow("no colon") << "stack.scheme=post" << lr << 2 << "--tie stack.scheme=post: is no tie";
        QTest::newRow("no setting") << "stack.scheme=post:" << lr << 2 << "is no tie";
        QTest::newRow("foreign key") << "stack.depth=3: batch=2" << lr << 2
                                     << "--tie stack.depth: is no key of the grid";
        QTest::newRow("foreign value")
            << "stack.scheme=mix: batch=2" << lr << 2 << "--tie stack.scheme: mix is no value of the grid";
        QTest::newRow("key of the grid")
            << "stack.scheme=post: optimizer.lr=3" << lr << 2 << "--tie: optimizer.lr: is a key of the grid";
    }
    void whatIsNoChoice() {
        QFETCH(QString, tie);
        QFETCH(QStringList, keys);
        QFETCH(int, seeds);
        QFETCH(QString, line);
        const QString error = rejected([&] {
            SweepSpec spec = choosing();
            if (!tie.isEmpty()) spec.ties = {parse_sweep_tie(tie.toStdString())};
            spec.choice = {{}, static_cast<std::size_t>(seeds)};
            for (const QString& key : keys) spec.choice.keys.push_back(key.toStdString());
            expand_sweep(spec);
        });
        QVERIFY2(error.contains(line), qPrintable(error));
    }

    void aSeedDoesNotChooseAndJudge() {
        SweepSpec spec = choosing();
        spec.seeds = {42, 143, 42};
        QVERIFY(rejected([&] { expand_sweep(spec); }).contains("--seeds: 42 is one that chooses"));
    }
};

NORMSCOPE_TEST(SweepChoiceTest)
#include "sweep_choice_test.moc"
