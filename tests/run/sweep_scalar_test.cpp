// SPDX-License-Identifier: GPL-3.0-or-later
// One number of a recording: which there are, and their values.
#include "core/run/sweep_scalar.h"

#include "core/probe/registry.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <set>

using namespace normscope;
using Over = SweepScalar::Over;

namespace {

RunData recordedOf(std::vector<std::vector<double>> samples) {
    RunData run;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        ProbeResult sample;
        sample.probe = "gradients";
        sample.step = static_cast<std::int64_t>(i);
        const std::size_t count = samples[i].size();
        sample.arrays.push_back({"hidden", {count}, std::move(samples[i]), {"hidden_state"}, "1"});
        run.probes["gradients"].push_back(std::move(sample));
    }
    return run;
}

}  // namespace

class SweepScalarTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void ofTheLastSampleWithoutUndefinedEntries() {
        const RunData run = recordedOf({{9, 9, 9, 9}, {0.5, std::nan(""), 4, 2}});
        const auto of = [&](Over over) { return scalar_of(run, {"gradients", "hidden", over}); };
        QCOMPARE(of(Over::Largest), std::optional(4.0));
        QCOMPARE(of(Over::Smallest), std::optional(0.5));
        QCOMPARE(of(Over::Mean), std::optional(6.5 / 3));
        QCOMPARE(of(Over::FirstOverLast), std::optional(0.25));
    }

    void whatIsNotThereHasNoValue() {
        const RunData run = recordedOf({{std::nan(""), 0}});
        QVERIFY(!scalar_of(run, {"gradients", "hidden", Over::FirstOverLast}));
        QCOMPARE(scalar_of(run, {"gradients", "hidden", Over::Mean}), std::optional(0.0));
        QVERIFY(!scalar_of(recordedOf({{std::nan("")}}), {"gradients", "hidden", Over::Mean}));
        QVERIFY(!scalar_of(recordedOf({{1, 0}}), {"gradients", "hidden", Over::FirstOverLast}));
        QVERIFY(!scalar_of(run, {"gradients", "none", Over::Mean}));
        QVERIFY(!scalar_of(run, {"growth", "rms", Over::Mean}));
    }

    /// Those of the recipe's probes, each once, all of arrays that the probe declares.
    void areThoseOfTheRecipesProbes() {
        const Recipe recipe = read_recipe("pre-ln", {R"(probes=[{"id":"growth","every":10}])"});
        std::set<std::string> titles;
        for (const SweepScalar& scalar : sweep_scalars(recipe)) {
            QCOMPARE(scalar.probe, std::string("growth"));
            QVERIFY(find_array(*find_probe(scalar.probe), scalar.array));
            QVERIFY(titles.insert(scalar.title()).second);
        }
        QVERIFY(titles.count("growth: rms, first ÷ last") && titles.count("growth: rms, largest"));
        std::set<std::string> probes;
        for (const SweepScalar& scalar : sweep_scalars(read_recipe("pre-ln"))) probes.insert(scalar.probe);
        for (const ProbeInfo& probe : probe_registry())
            QCOMPARE(probes.count(probe.id) > 0, probe.by_default);
    }
};

QTEST_GUILESS_MAIN(SweepScalarTest)
#include "sweep_scalar_test.moc"
