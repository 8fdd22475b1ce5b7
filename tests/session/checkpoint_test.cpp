// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/checkpoint.h"

#include "core/base/error.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

using namespace normscope;

class TestCheckpoint : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

    /// Random bytes: every pattern, signalling NaNs and denormals among them.
    static Checkpoint noise(std::int64_t step) {
        std::mt19937 random(static_cast<unsigned>(step));
        const auto tensor = [&](const char* name, std::vector<std::size_t> shape, StoredType type,
                                std::size_t bytes) {
            StoredTensor result{name, std::move(shape), type, std::vector<std::byte>(bytes)};
            for (auto& byte : result.bytes) byte = static_cast<std::byte>(random());
            return result;
        };
        Checkpoint checkpoint;
        checkpoint.step = step;
        checkpoint.recipe = Recipe{};
        for (auto* group : {&checkpoint.params, &checkpoint.moment1, &checkpoint.moment2}) {
            group->push_back(tensor("tok_emb", {27, 8}, StoredType::Float32, 27 * 8 * 4));
            group->push_back(tensor("blocks.0.attn.wq", {8, 8}, StoredType::Float64, 8 * 8 * 8));
            group->push_back(tensor("blocks.0.gate", {}, StoredType::Float32, 4));
            group->push_back(tensor("blocks.0.empty", {0, 3}, StoredType::Float32, 0));
        }
        checkpoint.scalars = {{"loss_scale", 65536.0}, {"best", std::numeric_limits<double>::infinity()}};
        checkpoint.integers = {{"batch", std::int64_t{1} << 62}, {"a", -1}};
        return checkpoint;
    }

  private Q_SLOTS:
    void everyBitComesBackInOrder() {
        write_checkpoint(path("c.h5"), noise(7));
        QVERIFY(read_checkpoint(path("c.h5")) == noise(7));
        write_checkpoint(path("c.h5"), Checkpoint{});
        QVERIFY(read_checkpoint(path("c.h5")) == Checkpoint{});
    }

    void thePairAlternatesAndFallsBack() {
        CheckpointPair pair(path("run.h5"));
        QVERIFY(!pair.newest());
        pair.save(noise(100));
        QVERIFY(std::filesystem::exists(path("run.ckpt.a.h5")));
        pair.save(noise(200));
        QVERIFY(std::filesystem::exists(path("run.ckpt.b.h5")));
        QCOMPARE(pair.newest()->step, 200);
        pair.save(noise(50));  // a run that was reset: newer in write order, and over the oldest
        QCOMPARE(pair.newest()->step, 50);
        QCOMPARE(pair.paths(), (std::vector{path("run.ckpt.a.h5"), path("run.ckpt.b.h5")}));
        QCOMPARE(CheckpointPair(path("run.h5")).newest()->step, 50);

        std::filesystem::resize_file(path("run.ckpt.a.h5"), 1000);
        QVERIFY(*pair.newest() == noise(200));
        pair.save(noise(300));  // over the damaged one
        QCOMPARE(pair.newest()->step, 300);
        QCOMPARE(read_checkpoint(path("run.ckpt.b.h5")).step, 200);

        for (const char* name : {"run.ckpt.a.h5", "run.ckpt.b.h5"})
            std::filesystem::resize_file(path(name), 1000);
        QVERIFY(sample::input_error([&] { pair.newest(); }).find("run.ckpt.") != std::string::npos);
    }

    void theStartStaysUntilThePairIsRemoved() {
        CheckpointPair pair(path("from.h5"));
        QVERIFY(!pair.start());
        pair.save_start(noise(0));
        QVERIFY(!pair.newest());  // nothing was trained yet
        for (int step = 10; step < 50; step += 10) pair.save(noise(step));
        QVERIFY(*CheckpointPair(path("from.h5")).start() == noise(0));
        QCOMPARE(pair.newest()->step, 40);
        pair.remove();
        QVERIFY(!pair.start() && !pair.newest());
        QVERIFY(!std::filesystem::exists(path("from.ckpt.start.h5")));
    }

    void recordingsOfAnyTwoNamesShareNone() {
        std::vector<std::string> taken;
        int step = 1;
        for (const char* name :
             {"x", "x.h5", "x.h5.h5", "x.", "x..h5", "x.hdf5", ".h5", "x.ckpt.a", "x.H5"}) {
            CheckpointPair pair(path(name));
            pair.save_start(noise(0));
            pair.save(noise(step++));
            pair.save(noise(step++));
            for (const std::string& file : pair.files()) taken.push_back(file);
        }
        QCOMPARE(taken.size(), std::size_t{9 * 3});
        std::sort(taken.begin(), taken.end());
        QVERIFY(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
        QCOMPARE(CheckpointPair(path("x")).newest()->step, 2);
        QCOMPARE(CheckpointPair(path("x.h5")).newest()->step, 4);
        CheckpointPair(path("x.h5")).remove();
        QCOMPARE(CheckpointPair(path("x")).newest()->step, 2);
        QVERIFY(CheckpointPair(path("x")).start());
    }

    void earlierNamesAreResumed() {
        const std::string file = path("plain");
        CheckpointPair earlier(path("plain.h5"));  // as an earlier version named those of `plain`
        earlier.save_start(noise(0));
        earlier.save(noise(10));
        earlier.save(noise(20));
        std::ofstream(file) << "the recording";
        CheckpointPair pair(file);
        QCOMPARE(pair.newest()->step, 20);
        QVERIFY(pair.start());
        pair.save(noise(30));
        QCOMPARE(pair.newest()->step, 30);
        QVERIFY(std::filesystem::exists(path("plain.ckpt.a")));
        pair.save(noise(5));  // a run that was reset
        QCOMPARE(pair.newest()->step, 5);
        pair.remove();
        QVERIFY(pair.files().empty() && earlier.files().empty());
    }

    void anotherRunDoesNotTakeTheEarlierNames() {
        CheckpointPair earlier(path("first.h5"));
        earlier.save(noise(10));
        std::ofstream(path("first")) << "the recording of an earlier version";
        CheckpointPair(path("first.h5")).remove();  // as `train --out first.h5` begins
        std::ofstream(path("first.h5")) << "the recording of the new run";
        CheckpointPair(path("first.h5")).save(noise(3));
        QCOMPARE(CheckpointPair(path("first")).newest()->step, 10);
        QCOMPARE(CheckpointPair(path("first.h5")).newest()->step, 3);
        CheckpointPair(path("first.h5")).remove();
        QCOMPARE(CheckpointPair(path("first")).newest()->step, 10);
    }

    void aFileThatIsNoCheckpointIsKept() {
        std::ofstream(path("own.ckpt.a.h5")) << "another file";
        CheckpointPair pair(path("own.h5"));
        const std::string line =
            path("own.ckpt.a.h5") +
            ": is the name of a checkpoint, but holds something else and is not replaced, allowed: another "
            "name for the recording, or for this file";
        QCOMPARE(sample::input_error([&] { pair.remove(); }), line);
        QCOMPARE(sample::input_error([&] { pair.save(noise(1)); }), line);
        QVERIFY(std::filesystem::exists(path("own.ckpt.a.h5")));
        save_session(path("run.ckpt.b.h5"), std::vector{sample::run("a", 3)}, "");
        CheckpointPair other(path("run.h5"));
        other.save(noise(1));
        QVERIFY(sample::input_error([&] { other.save(noise(2)); }).starts_with(path("run.ckpt.b.h5")));
        QCOMPARE(open_session(path("run.ckpt.b.h5")).runs.size(), std::size_t{1});
    }

    /// A watcher of the folder would take a new checkpoint for that of a complete recording.
    void removingMakesNothing() {
        CheckpointPair pair(path("over.h5"));
        pair.save(noise(1));
        const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        QVERIFY(watch >= 0 && inotify_add_watch(watch, qPrintable(folder_.path()), IN_CREATE) >= 0);
        pair.remove();
        QVERIFY(pair.paths().empty());
        char event[4096];
        QVERIFY2(::read(watch, event, sizeof event) < 0 && errno == EAGAIN, "a file was made");
        ::close(watch);
    }

    void wrongTensorsAndFilesAreRejected() {
        Checkpoint bad = noise(1);
        bad.params[0].bytes.pop_back();
        const auto error = sample::input_error([&] { write_checkpoint(path("bad.h5"), bad); });
        QVERIFY2(error.starts_with("tensor tok_emb"), error.c_str());
        QVERIFY(!std::filesystem::exists(path("bad.h5")));
        std::ofstream(path("text.h5")) << "text";
        QVERIFY(sample::input_error([&] { read_checkpoint(path("text.h5")); }).starts_with(path("text.h5")));
    }
};

NORMSCOPE_TEST(TestCheckpoint)
#include "checkpoint_test.moc"
