// SPDX-License-Identifier: GPL-3.0-or-later
// The lag scan finds a lead that is there, and holds its level where there is none.
#include "core/sweep/statistics/lead.h"

#include "core/backend/shared/counter_rng.h"
#include "core/base/nan.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

namespace {

constexpr std::size_t kLag = 16, kSamples = 400;
constexpr int kTrials = 4000;

/// x_i = memory·x_{i−1} + a normal, after as long a start as it takes to forget the first value.
std::vector<double> series(double memory, std::uint64_t seed, std::size_t count = kSamples) {
    constexpr std::size_t kStart = 400;
    std::vector<double> noise(kStart + count), values;
    fill_normal_row({seed, "series"}, 0, 0, noise.size(), 1, noise.data());
    double x = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
        x = memory * x + noise[i];
        if (i >= kStart) values.push_back(x);
    }
    return values;
}

/// y follows x by `lag` samples, with noise of its own.
std::vector<double> following(const std::vector<double>& x, std::size_t lag, double noise,
                              std::uint64_t seed) {
    std::vector<double> y = series(0.95, seed);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = noise * y[i] + (i >= lag ? x[i - lag] : 0);
    return y;
}

/// Of `trials` pairs of independent series.
struct ByChance {
    int leads = 0, of_both_signs = 0;
};
ByChance by_chance(double memory, int trials) {
    ByChance count;
    for (std::uint64_t trial = 0; trial < std::uint64_t(trials); ++trial) {
        const LeadLag found = lead_lag(series(memory, 2 * trial + 1), series(memory, 2 * trial + 2), kLag);
        count.leads += found.leads();
        count.of_both_signs += found.p <= 0.05;
    }
    return count;
}

}  // namespace

class LeadTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// On noise, and on independent series with a long memory: no more than 5 % have a p of 0.05 at lags of
    /// both signs; a lead, which is one of them at a positive lag, is reported in no more than 5 % of 200
    /// trials.
    void theLevelHoldsWithoutALead_data() {
        QTest::addColumn<double>("memory");
        QTest::newRow("noise") << 0.0;
        QTest::newRow("AR(0.95)") << 0.95;
    }
    void theLevelHoldsWithoutALead() {
        QFETCH(double, memory);
        const ByChance all = by_chance(memory, kTrials), first = by_chance(memory, 200);
        const auto counts =
            QString("%1 and %2 of 4000, %3 of 200").arg(all.of_both_signs).arg(all.leads).arg(first.leads);
        QVERIFY2(all.of_both_signs <= kTrials / 20, qPrintable(counts));
        QVERIFY2(first.leads <= 200 / 20, qPrintable(counts));
        QVERIFY2(all.leads <= kTrials / 30, qPrintable(counts));
        QVERIFY(first.leads > 0);  // a level that is never reached is none
    }

    void aLeadIsFoundAtItsLag() {
        int found = 0;
        for (std::uint64_t trial = 0; trial < 20; ++trial) {
            const std::vector<double> x = series(0.95, 1000 + trial);
            const LeadLag lead = lead_lag(x, following(x, 7, 0.7, 2000 + trial), kLag);
            found += lead.lag == 7 && lead.leads() && lead.correlation > 0.5;
        }
        QCOMPARE(found, 20);
    }

    /// The scan that a figure draws: lags of both signs, the largest at the lead's, the
    /// level between the correlation of a lead and those of no lead.
    void theScanHasEveryLag() {
        const std::vector<double> x = series(0.95, 1000), y = following(x, 7, 0.7, 2000);
        const LeadScan scan = lead_scan(x, y, kLag), reversed = lead_scan(y, x, kLag);
        QCOMPARE(scan.correlation.size(), 2 * kLag + 1);
        const auto largest = std::max_element(scan.correlation.begin(), scan.correlation.end());
        QCOMPARE(std::size_t(largest - scan.correlation.begin()), kLag + 7);
        QCOMPARE(*largest, scan.found.correlation);
        QVERIFY(scan.level > 0 && scan.level < scan.found.correlation / 2);
        for (std::size_t i = 0; i <= 2 * kLag; ++i)
            QVERIFY(std::abs(scan.correlation[i] - reversed.correlation[2 * kLag - i]) < 1e-12);
        QVERIFY(lead_scan(series(0, 1, 330), series(0, 2, 330), kLag).correlation.empty());
    }

    /// The series that follows does not lead.
    void theDirectionCounts() {
        int found = 0;
        for (std::uint64_t trial = 0; trial < 20; ++trial) {
            const std::vector<double> x = series(0.95, 1000 + trial);
            const LeadLag back = lead_lag(following(x, 7, 0.7, 2000 + trial), x, kLag);
            QCOMPARE(back.lag, std::ptrdiff_t{-7});
            found += back.leads();
        }
        QCOMPARE(found, 0);
    }

    void aLineIsNoLead() {
        std::vector<double> x = series(0, 5), y = series(0, 6);
        const LeadLag flat = lead_lag(x, y, kLag);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] += double(i);
            y[i] += 3 * double(i);
        }
        const LeadLag rising = lead_lag(x, y, kLag);
        QCOMPARE(rising.lag, flat.lag);
        QVERIFY(std::abs(rising.correlation - flat.correlation) < 1e-9);
        QCOMPARE(rising.p, flat.p);
    }

    void tooLittleIsNoNumber() {
        QVERIFY(std::isnan(lead_lag(series(0, 1, 330), series(0, 2, 330), kLag).p));
        QVERIFY(std::isnan(lead_lag(std::vector<double>(kSamples, 3.0), series(0, 2), kLag).p));
        std::vector<double> broken = series(0, 1);
        broken[200] = kNaN;
        QVERIFY(std::isnan(lead_lag(broken, series(0, 2), kLag).p));
        QVERIFY(std::isnan(spike_forecast(series(0, 1, 59), series(0, 2, 59)).precision));
        QVERIFY(std::isnan(spike_forecast(broken, series(0, 2)).precision));
    }

    /// y jumps at 100 and 200 of 240 samples, and x ten samples before each time.
    void theForecastOfTwoJumps() {
        std::vector<double> x(240, 0.0), y(240, 0.0);
        for (const std::size_t jump : {100, 200}) {
            for (std::size_t i = jump - 12; i < jump; ++i) x[i] = 1;
            y[jump] = 5;
        }
        const SpikeForecast forecast = spike_forecast(x, y);
        // A jump follows the 39 samples before it; no other sample has a larger one after it.
        QCOMPARE(forecast.base_rate, 78.0 / 240);
        QCOMPARE(forecast.precision, 1.0);  // all of the K = 24
        QCOMPARE(forecast.lift, 240.0 / 78);
        // A score without sense has about the base rate: 0.89 to 1.00 is little more than that.
        double precision = 0, base = 0;
        for (std::uint64_t trial = 0; trial < 100; ++trial) {
            const SpikeForecast chance = spike_forecast(series(0, 3 * trial), series(0, 3 * trial + 1));
            precision += chance.precision / 100;
            base += chance.base_rate / 100;
        }
        QVERIFY2(base > 0.66, qPrintable(QString::number(base)));
        QVERIFY2(std::abs(precision / base - 1) < 0.05, qPrintable(QString::number(precision / base)));
    }
};

NORMSCOPE_TEST(LeadTest)
#include "lead_test.moc"
