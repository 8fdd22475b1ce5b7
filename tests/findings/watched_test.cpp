// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/watched.h"

#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class WatchedTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyQuantityLeavesItsBandOnceItIsPassed_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < watched_quantities().size(); ++i)
            QTest::newRow(watched_quantities()[i].id) << static_cast<int>(i);
    }
    void everyQuantityLeavesItsBandOnceItIsPassed() {
        QFETCH(int, index);
        const WatchedQuantity& q = watched_quantities()[static_cast<std::size_t>(index)];
        const auto moved = [&](double excursion) {
            return q.logarithmic ? 0.3 * std::exp(-excursion) : 0.3 - excursion;
        };
        RunData r = sample::run("A");
        for (int step = 0; step < 3; ++step) {
            const double v = moved(q.band * (step == 0 ? 0 : step == 1 ? 0.99 : 1.01));
            // The arrays that the value is taken from, constant over depth; a product over two sub-layers is
            // v.
            std::vector<NamedArray> arrays;
            for (const char* name :
                 {"branch_ratio", "branch_cosine", "update_ratio", "entropy", "similarity"})
                arrays.push_back(sample::vector(name, {v, v, v, v}));
            for (const char* name : {"grad_norm", "grad_branch"})
                arrays.push_back(
                    sample::vector(name, {9, 9, std::sqrt(std::abs(v)), std::sqrt(std::abs(v))}));
            arrays.push_back(sample::vector("hidden", {1, 1, v, 1, 1}));
            sample::add(r, q.probe, step, std::move(arrays));
        }
        const auto left = departures(r, 2);
        const auto found =
            std::find_if(left.begin(), left.end(), [&](const Departure& d) { return d.quantity == &q; });
        QVERIFY(found != left.end());
        QCOMPARE(found->step, std::int64_t{2});
        QVERIFY(std::abs(found->bands - 1.01) < 1e-9);
        for (const Departure& d : departures(r, 1)) QVERIFY(d.quantity != &q);
    }

    void theMedianIgnoresWhatIsNotFinite() {
        RunData r = sample::run("A");
        sample::add(r, "residual", 0, {sample::vector("branch_ratio", {1, NAN, 3})});
        for (const WatchedQuantity& q : watched_quantities())
            if (std::string(q.id) == "branch_ratio") {
                QCOMPARE(*q.value(r.probes["residual"].front()), 2.0);
                QVERIFY(!q.value({"residual", 0, {}, {}, 0}));
                QVERIFY(std::isnan(excursion(q, 1, -1)));
            }
    }

    void aRunWithoutASampleAtItsStartHasNoDepartures() {
        RunData r = sample::run("A");
        sample::add(r, "tokens", 5, {sample::vector("similarity", {0, 0})});
        sample::add(r, "tokens", 6, {sample::vector("similarity", {1, 1})});
        QVERIFY(departures(r, 6).empty());
    }
};

NORMSCOPE_TEST(WatchedTest)
#include "watched_test.moc"
