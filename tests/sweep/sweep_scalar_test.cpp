// SPDX-License-Identifier: GPL-3.0-or-later
// One number of a recording: which there are, and their values.
#include "core/sweep/sweep_scalar.h"

#include "core/probe/registry.h"
#include "tests/support/test_main.h"

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

    void positionsAndShape() {
        const auto of = [](std::vector<double> values, Over over) {
            return scalar_of(recordedOf({std::move(values)}), {"gradients", "hidden", over});
        };
        const double none = std::nan("");
        QCOMPARE(of({3, none, 1, 2}, Over::Median), std::optional(2.0));
        QCOMPARE(of({4, 1, 2, 3}, Over::Median), std::optional(2.5));
        QCOMPARE(of({4, 1, none}, Over::First), std::optional(4.0));
        QVERIFY(!of({4, 1, none}, Over::Last));
        QCOMPARE(of({1, 3}, Over::Variation), std::optional(std::sqrt(2.0) / 2));
        QVERIFY(!of({1, none}, Over::Variation));
        QVERIFY(!of({1, -1}, Over::Variation));  // of a mean of 0
        QCOMPARE(of({1, 10, 100}, Over::Trend), std::optional(1.0));
        QCOMPARE(of({9, 4, 1}, Over::Trend), std::optional(-1.0));
        // Ranks 1.5, 3, 1.5: neither up nor down.
        QCOMPARE(of({0, 2, 0}, Over::Trend), std::optional(0.0));
        // Ranks 1.5, 1.5, 3, 4.
        QVERIFY(std::abs(*of({1, 1, 2, 3}, Over::Trend) - std::sqrt(0.9)) < 1e-12);
        // Ranks 2, 1, 3, 4: 1 − 6·2/(4·15).
        QVERIFY(std::abs(*of({2, 1, 3, 4}, Over::Trend) - 0.8) < 1e-12);
        QVERIFY(!of({2, 2, 2}, Over::Trend));
        QCOMPARE(of({-1, 0, 2, none}, Over::PositiveShare), std::optional(1.0 / 3));
    }

    void wordsAreInverse() {
        for (const Over over : {Over::Largest, Over::Mean, Over::Smallest, Over::FirstOverLast, Over::Median,
                                Over::First, Over::Last, Over::Variation, Over::Trend, Over::PositiveShare}) {
            const SweepScalar scalar{"gradients", "hidden", over};
            QVERIFY(SweepScalar::over_of(scalar.over_text(), "x") == over);
        }
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
        QVERIFY(titles.count("growth: rms, first over last") && titles.count("growth: rms, largest"));
        std::set<std::string> probes;
        for (const SweepScalar& scalar : sweep_scalars(read_recipe("pre-ln"))) probes.insert(scalar.probe);
        for (const ProbeInfo& probe : probe_registry())
            QCOMPARE(probes.count(probe.id) > 0, probe.by_default);
    }
};

NORMSCOPE_TEST(SweepScalarTest)
#include "sweep_scalar_test.moc"
