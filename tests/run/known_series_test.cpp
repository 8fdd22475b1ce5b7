// SPDX-License-Identifier: GPL-3.0-or-later
// A resumed run keeps its series: what has another name or another shape now is not taken for the known one.
#include "core/run/known_series.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

ProbeResult sample(std::vector<NamedArray> arrays) {
    ProbeResult result;
    result.probe = "growth";
    result.step = 7;
    result.arrays = std::move(arrays);
    return result;
}

}  // namespace

class KnownSeriesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void anotherShapeIsNotTheKnownSeries() {
        RunData history;
        history.probes["growth"] = {
            sample({{"ma", {3}, {1, 2, 3}, {"state"}, "1"}, {"rms", {2}, {4, 5}, {"state"}, "1"}})};
        KnownSeries known(history);
        std::vector<RunEvent> events;
        ProbeResult now = sample({{"rms", {2}, {6, 7}, {"state"}, "1"},
                                  {"ma", {2, 2}, {1, 2, 3, 4}, {"state", "x"}, "1"},
                                  {"new", {1}, {8}, {"x"}, "1"}});
        known.fit(now, events);
        QCOMPARE(now.arrays.size(), std::size_t{2});
        QCOMPARE(now.arrays[0].shape, std::vector<std::size_t>{3});
        for (double v : now.arrays[0].data) QVERIFY(std::isnan(v));
        QCOMPARE(now.arrays[1].data, (std::vector<double>{6, 7}));
        QCOMPARE(events.size(), std::size_t{1});
        QCOMPARE(events[0].text, std::string("growth: not in the recording and skipped: ma, new; "
                                             "not measured by this version: ma"));
        ProbeResult later = sample({});
        known.fit(later, events);  // reported once a probe
        QCOMPARE(events.size(), std::size_t{1});
        QCOMPARE(later.arrays.size(), std::size_t{2});
    }

    void columnsKeepTheirOrder() {
        RunData history;
        history.steps.names = {"loss", "gone"};
        StepRecord record{3, {{"new", 1.0}, {"loss", 2.0}}};
        KnownSeries(history).fit(record);
        QCOMPARE(record.values.size(), std::size_t{2});
        QVERIFY(record.values[0].first == "loss" && record.values[0].second == 2.0);
        QVERIFY(record.values[1].first == "gone" && std::isnan(record.values[1].second));
    }
};

NORMSCOPE_TEST(KnownSeriesTest)
#include "known_series_test.moc"
