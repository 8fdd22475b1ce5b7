// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/session.h"

#include "core/base/error.h"
#include "core/session/describe.h"
#include "core/session/recording/recovery.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

using namespace normscope;

class TestSession : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

    static Checkpoint checkpoint(std::int64_t step) {
        Checkpoint result;
        result.step = step;
        result.recipe = Recipe{};
        result.params = {
            {"tok_emb", {2, 2}, StoredType::Float32, std::vector<std::byte>(16, std::byte(step))}};
        return result;
    }

  private Q_SLOTS:
    /// Files of earlier versions do not have the entropies of pairs and triples of tokens.
    void withoutTheEntropiesOfPairsAndTriples() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("earlier.h5").toStdString();
        RunData run;
        run.id = "a";
        run.name = "A";
        run.recipe = Recipe{};
        run.unigram_entropy = 2.8;
        run.bigram_entropy = 2;
        run.trigram_entropy = 1;
        save_session(path, std::vector<RunData>{run}, "{}");
        QCOMPARE(open_session(path).runs.at(0).bigram_entropy, 2.0);
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        for (const char* name : {"bigram_entropy", "trigram_entropy"})
            QVERIFY(H5Adelete_by_name(file, "/runs/a", name, H5P_DEFAULT) >= 0);
        H5Fclose(file);
        const RunData read = open_session(path).runs.at(0);
        QVERIFY(std::isnan(read.bigram_entropy) && std::isnan(read.trigram_entropy));
        QCOMPARE(read.unigram_entropy, 2.8);
    }

    void everyBitComesBack() {
        const std::vector<RunData> runs{sample::run("b", 200), sample::run("a", 0), sample::run("ä b", 1)};
        const std::string view = R"({"zoom": "Δ"})" + std::string(100'000, ' ') + "{}";
        save_session(path("s.h5"), runs, view);
        const Session session = open_session(path("s.h5"));
        QCOMPARE(session.runs.size(), runs.size());
        for (std::size_t i = 0; i < runs.size(); ++i)
            QCOMPARE(sample::difference(session.runs[i], runs[i]), "");
        QCOMPARE(session.view_json, view);
        QVERIFY(!session.app_version.empty());
        QCOMPARE(session.created.size(), std::size_t{20});
        QVERIFY(session.checkpoints.empty() && session.warnings.empty());
    }

    void aRunWithoutALiveWriterIsInterrupted() {
        RunData run = sample::run("a", 5);
        for (const auto state : {RunState::Running, RunState::Paused}) {
            run.outcome = {state, -1, "", -1};
            save_session(path("running.h5"), std::vector{run}, "");
            const Outcome outcome = open_session(path("running.h5")).runs.at(0).outcome;
            QCOMPARE(outcome.state, RunState::Interrupted);
            QCOMPARE(outcome.step, 4);
        }
        for (const auto state :
             {RunState::Prepared, RunState::Finished, RunState::Stalled, RunState::Collapsed}) {
            run.outcome = {state, -1, "", -1};
            save_session(path("running.h5"), std::vector{run}, "");
            QCOMPARE(open_session(path("running.h5")).runs.at(0).outcome.state, state);
        }
    }

    /// The coarsest level of the pyramid has the extremes of the full table, and `info` prints them.
    void theRangeOfALongTableIsReadFromItsPyramid() {
        RunData longer = sample::run("long", 20'000);
        const auto loss =
            static_cast<std::size_t>(std::find(longer.steps.names.begin(), longer.steps.names.end(), "loss") -
                                     longer.steps.names.begin());
        longer.steps.columns[loss][12'345] = 987.5;
        longer.steps.columns[loss][19'999] = -3.25;  // in the last, shorter block
        save_session(path("long.h5"), std::vector{longer, sample::run("short", 50)}, "");
        const auto runs = summarize_session(path("long.h5"));
        QCOMPARE(runs[0].least_loss, -3.25);
        QCOMPARE(runs[0].largest_loss, 987.5);
        QVERIFY(std::isnan(runs[1].least_loss));
        QVERIFY(describe(path("long.h5"))[2].find("(-3.25 to 987.5)") != std::string::npos);
        QCOMPARE(sample::difference(open_session(path("long.h5")).runs[0], longer), "");
    }

    void checkpointsComeFromEverywhere() {
        write_checkpoint(path("live.h5"), checkpoint(20));
        const auto memory = std::make_shared<const Checkpoint>(checkpoint(10));
        const RunData a = sample::run("a", 3), b = sample::run("b", 3);
        save_session(path("one.h5"), std::vector{a}, "", {{"a", memory}, {"a", path("live.h5")}});
        const auto found = open_session(path("one.h5")).checkpoints;
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].step, 10);
        // Into another session under another name, and over the file that it comes from.
        save_session(path("two.h5"), std::vector{b}, "", {{"b", found[1]}});
        QVERIFY(load_checkpoint(path("two.h5"), "b", 20) == checkpoint(20));
        save_session(path("one.h5"), std::vector{a, b}, "", {{"a", found[0]}, {"b", found[1]}});
        QVERIFY(load_checkpoint(path("one.h5"), "a", 10) == checkpoint(10));
        QVERIFY(load_checkpoint(path("one.h5"), "b", 20) == checkpoint(20));
        const auto error = sample::input_error([&] { load_checkpoint(path("one.h5"), "a", 20); });
        QCOMPARE(error, path("one.h5") + ": run \"a\" has no checkpoint of step 20");
        QVERIFY(sample::input_error([&] {
                    save_session(path("x.h5"), std::vector{a}, "", {{"z", memory}});
                }).find("\"z\"") != std::string::npos);
    }

    void whatCannotBeStoredIsRejectedAndTheOldFileKept() {
        RunData run = sample::run("a", 20);
        save_session(path("kept.h5"), std::vector{run}, "");
        const auto rejected = [&](const std::vector<RunData>& runs) {
            return sample::input_error([&] { save_session(path("kept.h5"), runs, ""); });
        };
        QVERIFY(rejected({run, run}).find("twice") != std::string::npos);
        RunData bad = run;
        bad.id = "a/b";
        QVERIFY(rejected({bad}).starts_with("run id"));
        bad = run;
        bad.steps.columns[1].pop_back();
        QVERIFY(rejected({bad}).starts_with("step table"));
        bad = run;
        bad.probes["growth"][1].arrays.pop_back();
        QVERIFY(rejected({bad}).starts_with("probe growth"));
        bad = run;
        bad.probes["growth"][1].arrays[0].shape = {1};
        QVERIFY(rejected({bad}).starts_with("probe growth"));
        QCOMPARE(sample::difference(open_session(path("kept.h5")).runs.at(0), run), "");
    }

    void infoShowsWhatIsInIt() {
        RunData run = sample::run("a", 31);
        save_session(path("info.h5"), std::vector{run}, "",
                     {{"a", std::make_shared<const Checkpoint>(checkpoint(20))}});
        const auto summary = summarize_session(path("info.h5")).at(0);
        QCOMPARE(summary.name, run.name);
        QCOMPARE(summary.outcome.state, RunState::Diverged);
        QCOMPARE(summary.rows, std::size_t{31});
        QCOMPARE(summary.last_step, 30);
        QCOMPARE(summary.last_loss, 3 + 1.0 / 31);
        QCOMPARE(summary.probes.size(), std::size_t{3});
        QCOMPARE(summary.probes[2].id, "theta");
        QCOMPARE(summary.probes[2].samples, std::size_t{4});
        QCOMPARE(summary.probes[2].arrays[0].second, (std::vector<std::size_t>{3, 300}));
        std::string text;
        for (const auto& line : describe(path("info.h5"))) text += line + "\n";
        for (const char* part :
             {"run a", "Post-LN, Δt = 0.2", "diverged (step 212", "steps 31, last 30, loss 3.032",
              "probe growth: 4 samples of ma [7]", "checkpoint of step 20"})
            QVERIFY2(text.find(part) != std::string::npos, text.c_str());
        QVERIFY(describe(path("live.h5")).at(1).starts_with("/checkpoint/"));
    }

    /// The files are read by other programs too; here by h5py, which must be installed where the tests run.
    void h5pyReadsIt() {
        const RunData run = sample::run("a", 200);
        save_session(path("python.h5"), std::vector{run}, "{}",
                     {{"a", std::make_shared<const Checkpoint>(checkpoint(7))}});
        QProcess python;
        python.setProcessChannelMode(QProcess::MergedChannels);
        python.start("/usr/bin/python3",
                     {QStringLiteral(NORMSCOPE_SOURCE_DIR "/tests/session/read_with_h5py.py"),
                      QString::fromStdString(path("python.h5"))});
        QVERIFY2(python.waitForFinished(60'000), "python3 with h5py (package python3-h5py) is needed");
        QVERIFY2(python.exitCode() == 0 && python.exitStatus() == QProcess::NormalExit,
                 python.readAll().constData());
    }
};

NORMSCOPE_TEST(TestSession)
#include "session_test.moc"
