// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/recording_queue.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <atomic>
#include <thread>

using namespace normscope;

namespace {

std::shared_ptr<const RunData> header(const char* id) {
    auto run = std::make_shared<RunData>();
    run->id = id;
    return run;
}

RunDelta row_of(std::int64_t step) {
    RunDelta delta;
    delta.steps.push_back({step, {{"loss", static_cast<double>(step)}}});
    return delta;
}

std::shared_ptr<const Checkpoint> checkpoint(std::int64_t step) {
    Checkpoint c;
    c.step = step;
    return std::make_shared<const Checkpoint>(c);
}

}  // namespace

class RecordingQueueTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void whatWaitsIsOneEntryARun() {
        RecordingQueue queue;
        QVERIFY(queue.begin(header("a")));  // the other thread must be notified, once
        QVERIFY(!queue.begin(header("b")));
        std::weak_ptr<const Checkpoint> replaced;
        for (int step = 0; step < 100; ++step) {
            QVERIFY(!queue.add("a", row_of(step)));
            QVERIFY(!queue.add("b", row_of(step)));
            const auto taken = checkpoint(step);
            QVERIFY(!queue.save("a", taken));
            if (step == 50) replaced = taken;
        }
        QVERIFY(replaced.expired());  // no hundred checkpoints wait
        queue.end("a");
        const auto entries = queue.take();
        QCOMPARE(entries.size(), std::size_t{2});
        QCOMPARE(entries[0].id, std::string("a"));
        QVERIFY(entries[0].header && entries[0].ends && !entries[1].ends);
        QCOMPARE(entries[0].start->step, 0);
        QCOMPARE(entries[0].newest->step, 99);
        for (const auto& entry : entries) {
            QCOMPARE(entry.delta.steps.size(), std::size_t{100});
            for (std::size_t i = 0; i < 100; ++i)
                QCOMPARE(entry.delta.steps[i].step, static_cast<std::int64_t>(i));
        }
        QVERIFY(queue.take().empty());
        QVERIFY(queue.add("b", row_of(100)));
        QVERIFY(!queue.take()[0].header);
    }

    void aRunThatBeginsAgainIsAnEntryOfItsOwn() {
        RecordingQueue queue;
        queue.begin(header("a"));
        queue.add("a", row_of(0));
        queue.end("a", "no memory");
        queue.begin(header("a"));
        queue.add("a", row_of(0));
        const auto entries = queue.take();
        QCOMPARE(entries.size(), std::size_t{2});
        QCOMPARE(entries[0].failure, std::string("no memory"));
        QVERIFY(entries[1].header && !entries[1].ends && entries[1].failure.empty());
        QCOMPARE(entries[0].delta.steps.size(), std::size_t{1});
        QCOMPARE(entries[1].delta.steps.size(), std::size_t{1});
    }

    /// More than the bound never waits, and no row is lost.
    void whoTrainsWaitsForWhoRecords() {
        RecordingQueue queue(20'000);
        std::atomic<int> added{0};
        std::thread trains([&] {
            for (int step = 0; step < 2000; ++step) {
                queue.add("a", row_of(step));
                ++added;
            }
        });
        int before = 0;
        const auto waits = [&] {
            before = added;
            QTest::qWait(50);
            return before > 0 && before == added;
        };
        QTRY_VERIFY(waits());
        QVERIFY2(before > 10 && before < 1000, qPrintable(QString::number(before)));
        std::int64_t next = 0;
        while (next < 2000) {
            for (const auto& entry : queue.take()) {
                QVERIFY(entry.delta.steps.size() <= static_cast<std::size_t>(before));
                for (const auto& record : entry.delta.steps) QCOMPARE(record.step, next++);
            }
            std::this_thread::yield();
        }
        trains.join();
    }

    void atTheEndNoThreadWaits() {
        RecordingQueue queue(1000);
        std::thread trains([&] {
            for (int step = 0; step < 500; ++step) queue.add("a", row_of(step));
        });
        QTest::qWait(50);
        queue.stop_waiting();
        trains.join();
        QCOMPARE(queue.take()[0].delta.steps.size(), std::size_t{500});
    }
};

NORMSCOPE_TEST(RecordingQueueTest)
#include "recording_queue_test.moc"
