// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/run_group.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/group_runs.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
using synthetic::GroupRuns;

namespace {
QStringList namesOf(const RunGroups& groups) {
    QStringList names;
    for (const RunGroup& group : groups.groups) names << group.name;
    return names;
}
}  // namespace

class RunGroupTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void bySeedGroupsWhatDiffersInTheSeedAlone() {
        const GroupRuns all = synthetic::sixTimesThree();
        const RunGroups groups = groupRuns(all.runs, "seed");
        QCOMPARE(namesOf(groups), QStringList({"Pre-LN", "Post-LN", "Peri-LN", "DeepNorm", "Mix-LN", "LNS"}));
        QCOMPARE(groups.groups[1].members, (std::vector<std::size_t>{1, 7, 13}));
        QCOMPARE(groups.varied, QStringList("seed"));
        QCOMPARE(groups.count(), QString("6 groups of 3 runs"));
        QCOMPARE(groups.members(), QString("3 seeds"));
    }

    /// The scheme alone distinguishes four groups only where the rate is added.
    void namesContainOnlyWhatDistinguishes() {
        GroupRuns all;
        for (const char* lr : {R"(, "optimizer": {"lr": 0.003})", R"(, "optimizer": {"lr": 0.01})"})
            for (const char* scheme : {"pre", "post"})
                for (const int seed : {42, 43}) all.add(scheme, seed, lr);
        QCOMPARE(namesOf(groupRuns(all.runs, "seed")), QStringList({"Pre-LN, lr 0.003", "Post-LN, lr 0.003",
                                                                    "Pre-LN, lr 0.01", "Post-LN, lr 0.01"}));
        const RunGroups schemes = groupRuns(all.runs, "scheme");
        QCOMPARE(namesOf(schemes), QStringList({"Pre-LN", "Post-LN"}));
        QCOMPARE(schemes.varied, QStringList({"lr", "seed"}));
        QCOMPARE(schemes.members(), QString("4 runs (lr, seed)"));
    }

    void byAKeyGroupsAreInItsOrder() {
        GroupRuns all;
        for (const char* lr : {R"(, "optimizer": {"lr": 0.01})", R"(, "optimizer": {"lr": 0.003})"})
            all.add("pre", 42, lr);
        QCOMPARE(namesOf(groupRuns(all.runs, "optimizer.lr")), QStringList({"lr 0.003", "lr 0.01"}));
    }

    void anUnknownKeyNamesThoseInWhichTheRunsDiffer() {
        GroupRuns all;
        all.add("pre", 42);
        all.add("post", 42, R"(, "optimizer": {"lr": 0.01})");
        try {
            groupRuns(all.runs, "learning_rate");
            QFAIL("accepted");
        } catch (const InputError& error) {
            const QString text = error.what();
            QVERIFY2(text.contains("learning_rate") && text.contains("optimizer.lr") && text.contains("seed"),
                     error.what());
        }
    }

    void outcomesAreCounted() {
        const GroupRuns all = synthetic::sixTimesThree();
        const RunGroups groups = groupRuns(all.runs, "scheme");
        QCOMPARE(outcomeText(groups.groups[0]), QString());
        QCOMPARE(outcomeText(groups.groups[1]), QString("2 of 3 stalled"));
        all.owned[1]->outcome.state = RunState::Diverged;
        QCOMPARE(outcomeText(groupRuns(all.runs, "scheme").groups[1]), QString("2 of 3 stalled, 1 diverged"));
    }

    /// Planned steps follow from the build's cost model: runs of two versions are still one group.
    void plannedStepsDoNotSeparate() {
        GroupRuns all;
        all.add("pre", 42, R"(, "probes": [{"id": "growth", "every": "auto", "steps": "auto 0:9"}])");
        all.add("pre", 43, R"(, "probes": [{"id": "growth", "every": "auto", "steps": "auto 0:5"}])");
        QCOMPARE(groupRuns(all.runs, "seed").groups.size(), std::size_t(1));
    }

    void aRunWithoutARecipeIsAGroupOfItsOwn() {
        GroupRuns all;
        all.add("pre", 42);
        RunData foreign = synthetic::run("foreign");
        all.runs.push_back(&foreign);
        const RunGroups groups = groupRuns(all.runs, "seed");
        QCOMPARE(namesOf(groups), QStringList({"Pre-LN", "foreign"}));
        QVERIFY(groupRuns({}, "seed").groups.empty());
    }
};

NORMSCOPE_TEST(RunGroupTest)
#include "run_group_test.moc"
