// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/cadence.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>

using namespace normscope;

namespace {

ProbeShape shape_of(int depth, int width, int heads, int context, int batch) {
    StackSpec stack;
    stack.depth = depth;
    stack.d_model = width;
    stack.heads = heads;
    stack.context = context;
    complete(stack, 27);
    return probe_shape(stack, batch, 1);
}

ProbeShape default_shape() {
    return shape_of(12, 64, 4, 64, 8);
}
ProbeShape wide_shape() {
    return shape_of(12, 768, 12, 256, 1);
}

/// Six probes of the costs that the real ones have, in training steps: a few cheap ones, θ, mismatch,
/// Jacobian.
std::vector<PlannedProbe> probes_of(const ProbeShape& shape, double jacobian = 1) {
    const double step = step_operations(shape);
    return {{ProbeNeeds::Forward, 0.05 * step, 0}, {ProbeNeeds::Backward, 0.05 * step, 0},
            {ProbeNeeds::Backward, 0.1 * step, 0}, {ProbeNeeds::Forward, 1.5 * step, 0},
            {ProbeNeeds::Forward, 0.5 * step, 0},  {ProbeNeeds::Tangents, jacobian * step, 0}};
}

std::vector<std::int64_t> steps_of(const StepList& list, std::int64_t to) {
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 0; step < to; ++step)
        if (list.contains(step)) steps.push_back(step);
    return steps;
}

}  // namespace

class CadenceTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyNIsObeyedExactly() {
        const ProbeShape shape = default_shape();
        const std::vector<PlannedProbe> probes{{ProbeNeeds::Tangents, 1e15, 7}};
        for (const int steps : {1, 2, 7, 8, 100, 1000}) {
            const StepList list = plan_cadence(shape, probes, steps).front();
            for (std::int64_t step = 0; step < steps + 20; ++step)
                QCOMPARE(list.contains(step), step < steps && (step % 7 == 0 || step == steps - 1));
        }
    }

    void denseAtFirst() {
        const ProbeShape shape = default_shape();
        const auto probes = probes_of(shape, 5);
        const auto lists = plan_cadence(shape, probes, 200);
        for (const std::size_t cheap : {0u, 1u, 2u, 4u}) {
            QCOMPARE(lists[cheap].count(0, 49), std::int64_t{50});
            QVERIFY(lists[cheap].count(0, 199) >= 40);
        }
        const std::vector<std::int64_t> geometric(std::begin(kGeometricSteps), std::end(kGeometricSteps));
        for (const std::size_t expensive : {3u, 5u}) QCOMPARE(steps_of(lists[expensive], 50), geometric);
        for (const StepList& list : lists) QVERIFY(list.contains(0) && list.contains(199));
    }

    void budgetsHold_data() {
        QTest::addColumn<double>("jacobian");
        QTest::addColumn<int>("steps");
        for (const double jacobian : {0.5, 1.0, 5.0})
            for (const int steps : {300, 1000, 5000})
                QTest::addRow("%g steps a Jacobian, %d steps", jacobian, steps) << jacobian << steps;
    }
    void budgetsHold() {
        QFETCH(double, jacobian);
        QFETCH(int, steps);
        const ProbeShape shape = default_shape();
        const auto probes = probes_of(shape, jacobian);
        const auto lists = plan_cadence(shape, probes, steps);
        const double step = step_operations(shape);
        // Step by step: a pass counts once however many use it.
        double early = 0, late = 0;
        for (std::int64_t s = 0; s < steps; ++s) {
            double sum = 0;
            bool forward = false, backward = false;
            for (std::size_t i = 0; i < probes.size(); ++i)
                if (lists[i].contains(s)) {
                    sum += probes[i].operations;
                    forward = true;
                    backward |= probes[i].needs == ProbeNeeds::Backward;
                }
            sum += (forward ? forward_pass_operations(shape) : 0) +
                   (backward ? backward_pass_operations(shape) : 0);
            (s < kDenseSteps ? early : late) += sum;
        }
        QVERIFY(early <= 4 * 50 * step);
        QVERIFY(late <= 0.05 * static_cast<double>(steps - 50) * step);
        QVERIFY(late >= 0.0194 * static_cast<double>(steps - 50) * step);  // and the budget is used
        QVERIFY(early >= 2 * 50 * step);
        if (steps >= 1000 && jacobian <= 1) {
            QVERIFY(lists[0].count(50, steps - 2) >= 10);
            QVERIFY(lists[5].count(50, steps - 2) >= 3);
        }
        // Late samples are the multiples of a stride, all of them, after the dense steps.
        for (const StepList& list : lists) {
            const std::vector<std::int64_t> all = steps_of(list, steps - 1);
            const auto from = std::upper_bound(all.begin(), all.end(), kDenseSteps - 1);
            if (all.end() - from < 2) continue;
            const std::int64_t stride = from[1] - from[0];
            QCOMPARE(from[0], (kDenseSteps + stride - 1) / stride * stride);
            for (auto s = from; s + 1 != all.end(); ++s) QCOMPARE(s[1] - s[0], stride);
        }
        // The late stride begins after the dense steps: before, an expensive probe has the geometric ones
        // only.
        for (const std::int64_t s : steps_of(lists[5], jacobian > 2 ? 50 : 0))
            QVERIFY(std::find(std::begin(kGeometricSteps), std::end(kGeometricSteps), s) !=
                    std::end(kGeometricSteps));
        // Steps of expensive ones also have the cheap ones.
        for (std::int64_t s = 50; s < steps; ++s)
            if (lists[5].contains(s)) QVERIFY(lists[0].contains(s));
    }

    void aWideStackSpendsNoMoreOnProbesThanOnSteps() {
        const ProbeShape shape = wide_shape();
        QVERIFY(long_steps(shape));
        QCOMPARE(shape.sequences, 2);
        QCOMPARE(shape.length, 64);
        QVERIFY(shared_operations(shape, ProbeNeeds::Backward) <= 0.65 * step_operations(shape));
        auto probes = probes_of(shape, 1);
        for (std::size_t i = 0; i < 3; ++i) probes[i].operations = 0.04 * step_operations(shape);
        probes[3].operations = 0.7 * step_operations(shape);  // of the 128 tokens of its probe batch
        probes[4].operations = 0.1 * step_operations(shape);
        for (const int steps : {8, 20, 50, 200}) {
            const auto lists = plan_cadence(shape, probes, steps);
            const std::int64_t dense = std::min(steps, 50);
            QVERIFY(planned_operations(shape, probes, lists, 0, dense - 1) <=
                    static_cast<double>(dense) * step_operations(shape));
            QVERIFY(lists[0].count(0, dense - 1) >= std::min<std::int64_t>(5, 3 * dense / 8));
        }
    }

    void theWholeProbeBatchWhereItIsAffordable() {
        const ProbeShape shape = default_shape();
        QCOMPARE(shape.sequences, 8);
        QCOMPARE(shape.length, 64);
        QVERIFY(!long_steps(shape));
        const int fewer = shape_of(12, 64, 4, 64, 4).sequences;  // eight would be two of its steps
        QVERIFY(fewer >= 4 && fewer < 8);
        QCOMPARE(shape_of(12, 64, 4, 64, 1).sequences, 2);
    }

    void aHugeProbeDoesNotThinTheOthers() {
        const ProbeShape shape = default_shape();
        auto probes = probes_of(shape);
        const auto without = plan_cadence(shape, probes, 400);
        probes.push_back({ProbeNeeds::Tangents, 1000 * step_operations(shape), 0});
        const auto with = plan_cadence(shape, probes, 400);
        for (std::size_t i = 0; i < without.size(); ++i) QCOMPARE(with[i].text(), without[i].text());
        QCOMPARE(with.back().text(), std::string("0,399"));
    }

    void aLongRunNeedsNoList() {
        const ProbeShape shape = default_shape();
        const auto lists = plan_cadence(shape, probes_of(shape), 1'000'000'000);
        for (const StepList& list : lists) {
            QVERIFY(list.ranges().size() <= 13);
            QVERIFY(list.contains(999'999'999));
        }
        QVERIFY(lists[0].count(50, 999'999'998) > 1'000'000);
    }
};

NORMSCOPE_TEST(CadenceTest)
#include "cadence_test.moc"
