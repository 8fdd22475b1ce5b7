// SPDX-License-Identifier: GPL-3.0-or-later
// In which order a recording reaches the disk. A reader between two flushes of one step must find whole rows
// below `steps/step`, whole samples below a probe's `step`, and every row of a run whose state is that it
// has ended. The library's H5Dflush is replaced by one that notes whose turn it is.
#include "core/session/recorder.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <dlfcn.h>
#include <hdf5.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

using namespace normscope;

namespace {

std::vector<std::string> flushed;

std::string parent_of(const std::string& name) {
    return name.substr(0, name.rfind('/'));
}

}  // namespace

extern "C" herr_t H5Dflush(hid_t data_set) {
    char name[256] = {};
    H5Iget_name(data_set, name, sizeof name);
    flushed.emplace_back(name);
    static const auto real = reinterpret_cast<herr_t (*)(hid_t)>(::dlsym(RTLD_NEXT, "H5Dflush"));
    return real(data_set);
}

class TestFlushOrder : public QObject {
    Q_OBJECT

    static std::ptrdiff_t place(const std::string& name) {
        return std::find(flushed.begin(), flushed.end(), name) - flushed.begin();
    }

    /// Of every group of rows that was flushed the data set `step` came last.
    static void checkStepsLast() {
        QVERIFY(!flushed.empty());
        for (const std::string& name : flushed) {
            if (name.find("/steps/") == std::string::npos && name.find("/probes/") == std::string::npos)
                continue;
            const std::string step = parent_of(name) + "/step";
            QVERIFY2(place(step) < std::ssize(flushed), name.c_str());
            QVERIFY2(place(name) <= place(step), name.c_str());
        }
    }

    static void append(Recorder& recorder, int from, int to) {
        for (int s = from; s < to; ++s) {
            recorder.append(sample::step(s));
            recorder.append(sample::growth(s));
            recorder.append(sample::theta(s));
        }
        recorder.append(RunEvent{to, "knob", "lr 1 → 2"});
    }

  private Q_SLOTS:
    void stepsComeLastAndTheStateAfterThem() {
        QTemporaryDir folder;
        Recorder recorder(folder.filePath("a.h5").toStdString(), sample::schema("a"));
        flushed.clear();
        append(recorder, 0, 5);
        recorder.flush();
        checkStepsLast();
        QVERIFY(place("/runs/a/steps/loss") < std::ssize(flushed));
        QVERIFY(place("/runs/a/probes/growth/rms") < std::ssize(flushed));

        append(recorder, 5, 9);
        flushed.clear();
        recorder.set_state({RunState::Finished, 8, "done", -1});
        checkStepsLast();
        const auto state = place("/runs/a/state");
        QVERIFY(state < std::ssize(flushed));
        for (const std::string& name : flushed) QVERIFY2(place(name) <= state, name.c_str());
        QVERIFY(place("/runs/a/steps/step") < state);
        // Samples and events belong to steps: no reader finds a step whose own are still missing.
        QVERIFY(place("/runs/a/events") < place("/runs/a/steps/step"));
        QVERIFY(place("/runs/a/probes/growth/step") < place("/runs/a/steps/step"));
        recorder.close();
    }
};

NORMSCOPE_TEST(TestFlushOrder)
#include "flush_order_test.moc"
