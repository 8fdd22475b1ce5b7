// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/watched.h"

#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QtTest>

using namespace normscope;

class WatchedTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyQuantityLeavesItsBandOnceItIsPassed_data() {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("phase");
        for (std::size_t i = 0; i < watched_quantities().size(); ++i)
            for (std::size_t p = 0; p < kPhases.size(); ++p)
                QTest::addRow("%s from step %lld", watched_quantities()[i].id,
                              static_cast<long long>(kPhases[p].first))
                    << static_cast<int>(i) << static_cast<int>(p);
    }
    /// The samples: step 0, half of the phase's second step, its first and second one. In the first phase all
    /// are measured against step 0, later against the half.
    void everyQuantityLeavesItsBandOnceItIsPassed() {
        QFETCH(int, index);
        QFETCH(int, phase);
        const WatchedQuantity& q = watched_quantities()[static_cast<std::size_t>(index)];
        const double band = q.bands[static_cast<std::size_t>(phase)];
        const std::int64_t first = kPhases[static_cast<std::size_t>(phase)].first + 1;
        RunData r = sample::run("A");
        double start = 0.3;
        const auto moved = [&](double excursion) {
            return q.logarithmic ? start * std::exp(-excursion) : start - excursion;
        };
        const auto add = [&](std::int64_t step, double v) {
            // The array that the value is taken from alone, constant over depth; a product over two
            // sub-layers is v.
            std::vector<NamedArray> arrays;
            const std::string id = q.id;
            const double half = std::sqrt(std::abs(v));
            if (id == "norm_factor" || id == "branch_factor")
                arrays.push_back(
                    sample::vector(id == "norm_factor" ? "grad_norm" : "grad_branch", {9, 9, half, half}));
            else if (id == "gradient_ratio")
                arrays.push_back(sample::vector("hidden", {1, 1, v, 1, 1}));
            else
                arrays.push_back(sample::vector(q.id, {v, v, v, v}));
            sample::add(r, q.probe, step, std::move(arrays));
        };
        add(0, start);
        if (phase > 0) add(first / 2, start);
        add(first, moved(0.99 * band));
        add(first + 1, moved(1.01 * band));
        const auto left = departures(r, first + 1);
        const auto found =
            std::find_if(left.begin(), left.end(), [&](const Departure& d) { return d.quantity == &q; });
        QVERIFY(found != left.end());
        QCOMPARE(found->from, phase > 0 ? first / 2 : 0);
        QCOMPARE(found->step, first + 1);
        QVERIFY(std::abs(found->bands - 1.01) < 1e-9);
        for (const Departure& d : departures(r, first)) QVERIFY(d.quantity != &q);
    }

    /// The bands are those that tests/findings/bands has measured, rounded up by less than a tenth, and the
    /// false alarms its count.
    void theBandsAreMeasured() {
        QFile file(QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/findings/RESULT.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString result = QString::fromUtf8(file.readAll());
        const QString alarms =
            QString("In **%1 of %2** runs that learn").arg(kFalseAlarms.alarms).arg(kFalseAlarms.runs);
        QVERIFY(result.contains(alarms));
        const QString table = result.section("## The bands", 1).section("## False alarms", 0, 0);
        for (const WatchedQuantity& q : watched_quantities()) {
            const QStringList cells =
                table.section(QString("| %1 | ").arg(q.id), 1).section('\n', 0, 0).split(" | ");
            QVERIFY2(cells.size() == static_cast<qsizetype>(kPhases.size()), q.id);
            for (std::size_t p = 0; p < kPhases.size(); ++p) {
                const double measured = QString(cells[static_cast<qsizetype>(p)]).remove(" |").toDouble();
                QVERIFY2(measured > 0 && q.bands[p] >= measured && q.bands[p] < 1.1 * measured, q.id);
            }
        }
    }

    /// One of several that leaves its band alone is no beginning; it is listed from where a second one does.
    void oneAloneIsNoBeginning() {
        RunData r = sample::run("A");
        const auto add = [&](std::int64_t step, double entropy, double similarity) {
            sample::add(r, "attention", step, {sample::vector("entropy", {entropy, entropy})});
            sample::add(r, "tokens", step, {sample::vector("similarity", {similarity, similarity})});
        };
        add(0, 1, 0);
        add(10, 0.1, 0);
        add(20, 1, 0);
        QVERIFY(departures(r, 20).empty());
        add(30, 0.1, 0);
        QVERIFY(departures(r, 30).empty());
        add(33, 0.1, 0.99);
        const auto left = departures(r, 33);
        QCOMPARE(left.size(), std::size_t{2});
        QCOMPARE(left[0].quantity->id, "entropy");
        QCOMPARE(left[0].step, std::int64_t{30});
        QCOMPARE(left[1].step, std::int64_t{33});
    }

    /// What moved slowly is not what moved at once.
    void aSlowChangeStaysInside() {
        RunData r = sample::run("A");
        for (std::int64_t step = 0; step <= 1600; step = step == 0 ? 50 : 2 * step)
            sample::add(
                r, "attention", step,
                {sample::vector("entropy", {1 - 0.1 * std::log2(1 + static_cast<double>(step) / 50)})});
        QVERIFY(departures(r, 1600).empty());
    }

    void beyondTheLastPhaseNothingIsFound() {
        RunData r = sample::run("A");
        for (const std::int64_t step : {0, 1000, 2000, 4000})
            sample::add(r, "tokens", step, {sample::vector("similarity", {step < 2000 ? 0.0 : 1e6})});
        QVERIFY(departures(r, 4000).empty());
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
