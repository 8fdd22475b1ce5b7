// SPDX-License-Identifier: GPL-3.0-or-later
// Where memory runs out in the middle of a row, all of it is there or nothing.
#include "core/base/error.h"
#include "core/session/recorder.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace {

/// The allocation that fails, counted from 1; 0: none does.
thread_local long failing = 0;

void* allocate(std::size_t bytes) {
    if (failing > 0 && --failing == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
    return allocate(bytes);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

using namespace normscope;

class TestRowAppend : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    /// Whether it ended before the allocation that fails.
    template <class Action>
    static bool survives(long allocation, Action&& action) {
        failing = allocation;
        bool whole = true;
        try {
            action();
        } catch (const std::bad_alloc&) {
            whole = false;
        } catch (const SystemError&) {
            whole = false;
        }
        failing = 0;
        return whole;
    }

  private Q_SLOTS:
    void aRowInMemoryIsWhole() {
        int failures = 0;
        for (int before : {0, 1, 16, 17, 32}) {
            for (long allocation = 1;; ++allocation) {
                StepTable table;
                for (int s = 0; s < before; ++s) table.append(sample::step(s));
                const StepRecord next = sample::step(before);
                const bool whole = survives(allocation, [&] { table.append(next); });
                failures += !whole;
                QCOMPARE(table.rows(), static_cast<std::size_t>(before + whole));
                for (const auto& column : table.columns) QCOMPARE(column.size(), table.rows());
                table.append(sample::step(before + whole));  // a later row is whole too
                for (const auto& column : table.columns) QCOMPARE(column.size(), table.rows());
                QCOMPARE(table.columns.size(), next.values.size());
                if (whole) break;
            }
        }
        QVERIFY(failures > 10);
    }

    void aRecordedRowIsWhole() {
        int failures = 0;
        for (long allocation = 1;; ++allocation) {
            const std::string file = folder_.filePath(QString("run%1.h5").arg(allocation)).toStdString();
            bool whole = true;
            {
                Recorder recorder(file, sample::schema("a"));
                for (std::int64_t s = 0; s < 40; ++s) recorder.append(sample::step(s));
                recorder.append(sample::growth(0));
                const StepRecord next = sample::step(40);
                const ProbeResult growth = sample::growth(10);
                whole = survives(allocation, [&] {
                    recorder.append(next);
                    recorder.append(growth);
                });
                failures += !whole;
                // After a failure nothing more is recorded: a gap would look like a sound run.
                for (std::int64_t s = 41; s < 45; ++s) survives(0, [&] { recorder.append(sample::step(s)); });
            }
            const RunData run = open_session(file).runs.front();
            QCOMPARE(sample::broken_prefix(run), std::string());
            QVERIFY(whole ? run.steps.rows() == 45 : run.steps.rows() <= 41);
            if (whole) break;
        }
        QVERIFY(failures > 0);
    }
};

NORMSCOPE_TEST(TestRowAppend)
#include "row_append_test.moc"
