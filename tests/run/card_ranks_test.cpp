// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that have a device with one shard each, as cards: emulated ones.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/run/rank_runs.h"
#include "tests/support/test_main.h"

#include <algorithm>
#include <cmath>

using namespace normscope;
using namespace normscope::rank_runs;

namespace {

std::unique_ptr<Device> emulated() {
    return std::make_unique<EmulatedCudaDevice>(grid::Schedule{grid::Schedule::Order::Ascending, 1, false});
}

/// The largest difference of a column, relative to its largest entry.
double apart(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0, difference = a.size() == b.size() ? 0 : std::nan("");
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (std::isnan(a[i]) && std::isnan(b[i])) continue;
        largest = std::max(largest, std::abs(a[i]));
        difference = std::max(difference, std::abs(a[i] - b[i]));
    }
    return largest > 0 ? difference / largest : difference;
}

}  // namespace

class CardRanksTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void ranksHaveTheValuesOfOneProcess_data() {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<double>("allowed");
        const auto row = [](const char* name, const std::string& settings, double allowed) {
            QTest::newRow(name) << QString::fromStdString(settings) << allowed;
        };
        row("pre-norm, float64", R"("precision": "fp64", )" + stack_of("pre"), 1e-11);
        row("peri-norm, float64, accumulated", R"("precision": "fp64", "accumulate": 2, )" + stack_of("peri"),
            1e-11);
        row("post-norm", stack_of("post"), 1e-5);
        row("muon, gates",
            R"("optimizer": {"kind": "muon"}, )" + stack_of("pre", R"(, "gpas": {"enabled": true})"), 1e-4);
        row("bf16 autocast", R"("precision": "bf16", "precision_policy": "autocast", )" + stack_of("pre"),
            2e-2);
        row("fp16, an overflow", R"("precision": "fp16", "precision_policy": "autocast", )" + stack_of("pre"),
            2e-2);
        row("diverges",
            R"("precision": "fp64", "optimizer": {"kind": "sgd", "lr": 1e30, "clip": 0}, )" +
                stack_of("none"),
            1e-11);
    }
    /// The gradients are added in the order of the ranks: all have the same bits, the same each time, and the
    /// values of the CPU but for rounding. One rank has the bits of its device alone.
    void ranksHaveTheValuesOfOneProcess() {
        QFETCH(QString, settings);
        QFETCH(double, allowed);
        Recipe recipe = recipe_of(settings.toStdString(), 3);
        recipe.train.validate_every = 2;
        recipe.probes = {{"growth", 2}, {"updates", 1}};
        const Trained on_cpu = train(recipe, nullptr);
        const std::unique_ptr<Device> card = emulated();
        const Trained alone = train(recipe, nullptr, 1 << 20, nullptr, *card);
        for (int size : {1, 3}) {
            const std::vector<Trained> all = train_in_ranks(recipe, size, nullptr, emulated);
            if (size == 1) {
                compare_rows(alone.run, all[0].run);
                compare_state(alone.last, all[0].last);
            }
            for (const Trained& rank : all) compare_state(all[0].last, rank.last);
            for (const char* name : {"loss", "val_loss", "grad_norm", "grad_ratio"}) {
                const double found = apart(*on_cpu.run.steps.find(name), *all[0].run.steps.find(name));
                QVERIFY2(found <= allowed,
                         qPrintable(QString("%1 ranks, %2: %3").arg(size).arg(name).arg(found)));
            }
            QCOMPARE(all[0].run.outcome.state, on_cpu.run.outcome.state);
            const auto names = [](const RunData& run) {
                std::vector<std::string> of;
                for (const RunEvent& event : run.events) of.push_back(event.kind + ": " + event.text);
                return of;
            };
            if (allowed > 1e-9) continue;  // its numbers are those of a rounded step
            QCOMPARE(all[0].run.outcome.text, on_cpu.run.outcome.text);
            QCOMPARE(names(all[0].run), names(on_cpu.run));
        }
    }

    void theSameBitsEachTime() {
        const Recipe recipe = recipe_of(stack_of("post"), 2);
        const auto trained = [&](const RankRules& rules) {
            return train_in_ranks(recipe, 2, nullptr, emulated, rules)[0];
        };
        const Trained once = trained({}), again = trained({}), in_parts = trained(kInParts);
        for (const Trained* other : {&again, &in_parts}) {
            compare_rows(once.run, other->run);
            compare_state(once.last, other->last);
        }
    }

    /// A batch of seven has at most seven ranks, where a CPU has at most four.
    void moreRanksThanSequencesAreAnError() {
        const Recipe recipe = recipe_of(stack_of("pre"), 1);
        try {
            train_in_ranks(recipe, 8, nullptr, emulated);
            QFAIL("eight ranks, seven sequences");
        } catch (const InputError& error) {
            QCOMPARE(
                QString(error.what()),
                QString("--ranks: 8 ranks, and the gradient of a batch of 7 is a sum of 7 parts, allowed: "
                        "1 … 7 ranks"));
        }
    }

    /// More than are added at once.
    void eighteenRanks() {
        Recipe recipe = recipe_of(
            R"("precision": "fp64", "stack": {"depth": 1, "d_model": 8, "heads": 1, "context": 4})", 1);
        recipe.train.batch = 18;
        const Trained on_cpu = train(recipe, nullptr);
        const std::vector<Trained> all = train_in_ranks(recipe, 18, nullptr, emulated);
        for (const Trained& rank : all) compare_state(all[0].last, rank.last);
        for (const char* name : {"loss", "grad_norm"})
            QVERIFY2(apart(*on_cpu.run.steps.find(name), *all[17].run.steps.find(name)) <= 1e-11, name);
    }

    /// Two ranks on cards stop, a process on the CPU continues.
    void aCpuResumesWhatCardsBegan() {
        const Recipe recipe = recipe_of(R"("precision": "fp64", )" + stack_of("peri"), 4);
        const Trained alone = train(recipe, nullptr);
        Checkpoint at_two;
        test::ThreadRanks(2).run([&](HostCommunicator& ranks) {
            const std::unique_ptr<Device> device = emulated();
            const Trained made = train(recipe, &ranks, 2, nullptr, *device);
            if (ranks.rank() == 0) at_two = made.last;
        });
        QCOMPARE(at_two.step, std::int64_t{2});
        const Trained rest = train(recipe, nullptr, 1 << 20, &at_two);
        const std::vector<double>& whole = *alone.run.steps.find("loss");
        QVERIFY(apart({whole.begin() + 2, whole.end()}, *rest.run.steps.find("loss")) <= 1e-11);
    }
};

NORMSCOPE_TEST(CardRanksTest)
#include "card_ranks_test.moc"
