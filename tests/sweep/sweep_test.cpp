// SPDX-License-Identifier: GPL-3.0-or-later
// Sweeps that are stopped and continued, cut into shards, run side by side: always the same results.csv. And
// what is wrong with a folder.
#include "core/sweep/sweep.h"

#include "core/base/error.h"
#include "core/recipe/recipe_text.h"
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "core/session/checkpoint.h"
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_merge.h"
#include "tests/support/test_main.h"
#include "tests/sweep/rejected.h"

#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

using namespace normscope;
using test::rejected;
namespace fs = std::filesystem;

class SweepTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

    static SweepSpec small_spec() {
        SweepSpec spec{recipe_text("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                              "stack.context=16", "batch=2", "steps=30", "checkpoint.every=5",
                                              R"(probes=[{"id":"growth","every":10}])"}),
                       {},
                       {42, 43}};
        spec.grid = {parse_sweep_axis("stack.scheme=post,pre"),
                     parse_sweep_axis("optimizer.lr=log:1e-3:1:2")};
        return spec;
    }

    /// Counts what is called, and stops the sweep after some steps.
    struct Watcher : SweepWatcher {
        std::vector<std::size_t> begun_runs, trained;
        std::vector<std::string> notes, failures;
        std::size_t found = 0, total = 0;
        QStringList arms;
        void chose(const SweepSpec&, const ChosenValues& chosen) override {
            arms << QString::fromStdString(chosen.arm.front());
        }
        void begun(const SweepCount& count) override {
            found = count.ended;
            total = count.total;
        }
        void started(const SweepRun& run) override { begun_runs.push_back(run.index); }
        void ended(const SweepRun& run, const SweepRow& row, const Outcome& outcome,
                   const SweepCount&) override {
            trained.push_back(run.index);
            if (row.state == RunState::Failed) failures.push_back(outcome.text);
        }
        void note(const std::string& line) override { notes.push_back(line); }
    };
    struct Result {
        SweepEnd end;
        Watcher watcher;
    };
    Result sweep(const std::string& folder, const SweepSpec& spec, int stop_after = -1, int jobs = 1,
                 const char* shard = "1/1") {
        Result result;
        SweepOptions options;
        options.folder = folder;
        options.jobs = jobs;
        options.threads = 2;
        options.timed = false;
        options.shard = parse_shard(shard);
        std::atomic<int> polls = 0;
        options.stop = [&] { return stop_after >= 0 && ++polls > stop_after; };
        result.end = run_sweep(spec, cpu_device(), options, result.watcher);
        return result;
    }
    static QString csv_of(const std::string& folder) {
        return QString::fromStdString(text_of_file(folder + "/results.csv").value_or("none"));
    }
    /// Of an uninterrupted sweep, one run at a time.
    QString whole() {
        static QString csv;
        if (csv.isEmpty()) {
            const Result result = sweep(path("whole"), small_spec());
            csv = csv_of(path("whole"));
            if (result.watcher.trained.size() != 8) csv = "not all runs were trained";
            if (result.watcher.begun_runs != result.watcher.trained) csv = "not all starts were reported";
        }
        return csv;
    }
    /// A folder of its own with the files of the whole sweep.
    std::string copy_of_whole(const char* name) {
        whole();
        fs::copy(path("whole"), path(name), fs::copy_options::recursive);
        return path(name);
    }

    /// The rates of small_spec() are chosen by each scheme on seed 42.
    static SweepSpec choosing_spec() {
        SweepSpec spec = small_spec();
        spec.choice = {{"optimizer.lr"}, 1};
        return spec;
    }

  private Q_SLOTS:
    void initTestCase() { QVERIFY(folder_.isValid()); }

    /// Every value on the seeds that choose, then each scheme's own alone on the others; the same rows as of
    /// a sweep over everything, with any interruptions and jobs.
    void chosenValuesAloneAreScored() {
        const Result made = sweep(path("chosen"), choosing_spec());
        QCOMPARE(made.end.rows.size(), std::size_t(6));
        QCOMPARE(made.watcher.total, std::size_t(6));
        QCOMPARE(made.watcher.arms, QStringList({"post", "pre"}));
        const SweepResults results = read_sweep(path("chosen"));
        const auto chosen = chosen_values(results);
        QVERIFY(chosen.has_value());
        const QStringList all = whole().split('\n');
        for (const QString& line : csv_of(path("chosen")).split('\n'))
            QVERIFY2(all.contains(line), qPrintable(line));
        for (const SweepRow& row : results.rows) {
            const SweepRun& run = results.runs[row.run];
            QVERIFY(chooses(results.spec, run) || is_scored(results.spec, run, *chosen));
        }
        for (int stop = 20, tries = 0; tries < 20 && csv_of(path("halting")) != csv_of(path("chosen"));
             ++tries)
            sweep(path("halting"), choosing_spec(), stop);
        QCOMPARE(csv_of(path("halting")), csv_of(path("chosen")));
        const Result two = sweep(path("two-choose"), choosing_spec(), -1, 2);
        QCOMPARE(csv_of(path("two-choose")), csv_of(path("chosen")));
        QCOMPARE(two.end.count.ended, std::size_t(6));
        const Result again = sweep(path("chosen"), choosing_spec());
        QVERIFY(again.watcher.trained.empty());
        QCOMPARE(again.end.count.ended, std::size_t(6));
        QVERIFY(merge_sweeps({path("chosen")}, path("merged-choice")).missing.empty());
        QVERIFY(rejected([&] {
                    sweep(path("shard"), choosing_spec(), -1, 1, "1/2");
                }).contains("--shard: a sweep that chooses values is trained as a whole"));
    }

    /// A row is what the run alone gives, and its recording opens as that run.
    void rowsAreTheRunsThemselves() {
        const SweepSpec spec = small_spec();
        whole();
        const SweepResults results = read_sweep(path("whole"));
        QCOMPARE(results.rows.size(), std::size_t(8));
        for (const SweepRow& row : results.rows) {
            const SweepRun& run = results.runs[row.run];
            Recipe recipe = recipe_of(spec, run);
            complete_and_validate(recipe);
            Experiment alone(recipe, "a", "alone");
            ThreadPool pool(1);
            RunData data = alone.header();
            while (!alone.ended()) append(data, alone.advance(pool));
            SweepRow expected = sweep_row(run, data);
            expected.seconds.reset();
            QCOMPARE(results_csv(spec, results.runs, {row}, false),
                     results_csv(spec, results.runs, {expected}, false));
            const Session session = open_session(path("whole") + "/" + row.recording);
            QCOMPARE(session.runs.size(), std::size_t(1));
            QCOMPARE(session.runs[0].name, run.name);
            QCOMPARE(session.runs[0].steps.rows(), std::size_t(row.steps));
            QVERIFY(session.checkpoints.empty());
        }
        for (const auto& file : fs::directory_iterator(path("whole") + "/runs"))
            QVERIFY(file.path().string().find(".ckpt.") == std::string::npos);
        // A rate of 1 on this stack does not learn; what it does is a row all the same.
        QVERIFY(whole().contains(",1,42,"));
    }

    void jobsChangeNothing() {
        for (const int jobs : {2, 3}) {
            const std::string folder = path(jobs == 2 ? "two" : "three");
            const Result result = sweep(folder, small_spec(), -1, jobs);
            QCOMPARE(result.watcher.trained.size(), std::size_t(8));
            QCOMPARE(csv_of(folder), whole());
        }
    }

    void stoppedAndContinued_data() {
        QTest::addColumn<int>("jobs");
        QTest::newRow("one at a time") << 1;
        QTest::newRow("two at a time") << 2;
    }
    void stoppedAndContinued() {
        QFETCH(int, jobs);
        const std::string folder = path(jobs == 1 ? "stopped1" : "stopped2");
        std::multiset<std::size_t> trained;
        int calls = 0;
        for (bool ended = false; !ended; ++calls) {
            const Result result = sweep(folder, small_spec(), 47, jobs);
            ended = !result.end.stopped;
            QCOMPARE(result.watcher.total, std::size_t(8));
            QCOMPARE(result.watcher.found, trained.size());
            for (const std::size_t run : result.watcher.trained) trained.insert(run);
            QVERIFY(calls < 10);
        }
        QVERIFY(calls >= 3);
        QCOMPARE(trained.size(), std::size_t(8));  // none twice
        QCOMPARE(std::set<std::size_t>(trained.begin(), trained.end()).size(), std::size_t(8));
        QCOMPARE(csv_of(folder), whole());
        // An interrupted run continued from its checkpoint.
        int resumed = 0;
        for (const SweepRun& run : expand_sweep(small_spec())) {
            const Session session = open_session(folder + "/" + run.recording);
            for (const RunEvent& event : session.runs[0].events) resumed += event.kind == "resume";
        }
        QVERIFY(resumed >= 2);
        // And a sweep that is done trains nothing.
        QVERIFY(sweep(folder, small_spec()).watcher.trained.empty());
        QCOMPARE(csv_of(folder), whole());
    }

    void shardsMerge() {
        for (const char* shard : {"1/3", "2/3", "3/3"}) {
            const std::string folder = path(("shard" + std::string(shard, 1)).c_str());
            const Result result = sweep(folder, small_spec(), -1, 1, shard);
            QCOMPARE(result.watcher.total, std::size_t(shard[0] == '3' ? 2 : 3));
        }
        const std::vector<std::string> folders{path("shard1"), path("shard3"), path("shard2")};
        const SweepMerge two = merge_sweeps({folders[0], folders[1]}, path("partly"));
        QCOMPARE(two.missing, (std::vector<std::size_t>{1, 4, 7}));
        const SweepMerge all = merge_sweeps(folders, path("merged"));
        QVERIFY(all.missing.empty());
        QCOMPARE(csv_of(path("merged")), whole());
        for (const SweepRow& row : all.results.rows)
            QVERIFY(fs::exists(path("merged") + "/" + row.recording));
        // The merged folder is a sweep's: nothing is left to train. The other one trains the rest.
        QVERIFY(sweep(path("merged"), small_spec()).watcher.trained.empty());
        QCOMPARE(sweep(path("partly"), small_spec()).watcher.trained, (std::vector<std::size_t>{1, 4, 7}));
        QCOMPARE(csv_of(path("partly")), whole());
        // Shards one after the other in the same folder.
        for (const char* shard : {"2/2", "1/2"}) sweep(path("same"), small_spec(), -1, 1, shard);
        QCOMPARE(csv_of(path("same")), whole());

        SweepSpec other = small_spec();
        other.seeds = {42};
        sweep(path("other"), other, -1, 1, "1/4");
        QVERIFY(
            rejected([&] {
                merge_sweeps({folders[0], path("other")}, path("no"));
            })
                .contains(
                    "seeds 42 differ from the 42,43 of the sweep in this folder: it is of another sweep"));
        QVERIFY(
            rejected([&] { merge_sweeps({path("nowhere")}, path("no")); }).contains("holds no sweep.json"));
        QVERIFY(!fs::exists(path("no")));
        // A row that differs, and a recording that is gone.
        const std::string copy = copy_of_whole("edited");
        std::string csv = *text_of_file(copy + "/results.csv");
        csv.replace(csv.find(",30,") + 1, 2, "29");
        replace_text_file(copy + "/results.csv", csv);
        QVERIFY(rejected([&] {
                    merge_sweeps({folders[0], copy}, path("no"));
                }).contains("has other results than in"));
        const std::string deleted = folders[0] + "/" + all.results.rows[0].recording;
        fs::remove(deleted);
        const SweepMerge rest = merge_sweeps(folders, path("rest"));
        QCOMPARE(rest.missing, (std::vector<std::size_t>{0}));
        QCOMPARE(rest.deleted, (std::map<std::size_t, std::string>{{0, deleted}}));
        QCOMPARE(rest.results.rows.size(), std::size_t(7));
        QCOMPARE(sweep(path("rest"), small_spec()).watcher.trained, (std::vector<std::size_t>{0}));
        QCOMPARE(csv_of(path("rest")), whole());
        // Another folder that has it is enough.
        QVERIFY(merge_sweeps({path("whole"), folders[0]}, path("both")).missing.empty());
    }

    void aMergeThatFailsKeepsItsTarget() {
        whole();
        const std::string from = path("kept"), out = path("kept-merged");
        fs::copy(path("whole"), from, fs::copy_options::recursive);
        fs::copy(path("whole"), out, fs::copy_options::recursive);
        const std::string recording = merge_sweeps({from}, out).results.rows.front().recording;
        const auto bytes = [&] {
            std::ifstream in(out + "/" + recording, std::ios::binary);
            return std::string(std::istreambuf_iterator<char>(in), {});
        };
        // The target is a file of its own again, and its source can be neither linked nor copied.
        fs::copy_file(out + "/" + recording, out + "/copy");
        fs::rename(out + "/copy", out + "/" + recording);
        fs::remove(from + "/" + recording);
        fs::create_directory(from + "/" + recording);
        const std::string before = bytes();
        QVERIFY(!before.empty());
        QVERIFY_THROWS_EXCEPTION(SystemError, merge_sweeps({from}, out));
        QVERIFY(bytes() == before);
        QCOMPARE(fs::exists(out + "/" + recording + ".linking-" + std::to_string(::getpid())), false);
    }

    /// A measured time survives the merge as it was written.
    void secondsAreMergedAsWritten() {
        const std::string copy = copy_of_whole("timed");
        SweepOptions options;
        options.folder = copy;
        Watcher watcher;
        run_sweep(small_spec(), cpu_device(), options, watcher);
        const QString timed = csv_of(copy);
        QVERIFY(timed != whole());
        merge_sweeps({copy}, path("timed-merged"));
        QCOMPARE(csv_of(path("timed-merged")), timed);
        QStringList without;
        for (QString line : timed.split('\n')) {
            QStringList fields = line.split(',');
            if (fields.size() > 2 && fields[0] != "stack.scheme") {
                QVERIFY(fields[fields.size() - 2].toDouble() > 0);
                fields[fields.size() - 2].clear();
            }
            without << fields.join(',');
        }
        QCOMPARE(without.join('\n'), whole());
    }

    void damagedFolders() {
        const std::string copy = copy_of_whole("damaged");
        const std::vector<SweepRun> runs = expand_sweep(small_spec());
        fs::remove(copy + "/" + runs[2].recording);
        fs::resize_file(copy + "/" + runs[4].recording, fs::file_size(copy + "/" + runs[4].recording) / 2);
        std::ofstream(copy + "/" + runs[5].recording, std::ios::binary).close();  // empty
        std::ofstream(copy + "/results.csv", std::ios::binary) << "seed\n\x01\x02,,,";
        const Result result = sweep(copy, small_spec());
        QCOMPARE(result.watcher.trained, (std::vector<std::size_t>{2, 4, 5}));
        QCOMPARE(csv_of(copy), whole());
        QCOMPARE(result.watcher.notes.size(), std::size_t(2));
        QVERIFY(QString::fromStdString(result.watcher.notes[0]).contains("results.csv: written again"));
        const QString damage = QString::fromStdString(result.watcher.notes[1]);
        QVERIFY2(damage.contains(QString::fromStdString(runs[4].recording)) &&
                     damage.endsWith("trained again from step 0"),
                 qPrintable(damage));
        const std::string aside = copy + "/" + runs[4].recording + ".damaged";
        QVERIFY(fs::exists(aside) && fs::file_size(aside) > 0);
        // Without any results.csv.
        fs::remove(copy + "/results.csv");
        QVERIFY(sweep(copy, small_spec()).watcher.trained.empty());
        QCOMPARE(csv_of(copy), whole());
        // A recording of another recipe is not overwritten.
        fs::copy_file(copy + "/" + runs[0].recording, copy + "/" + runs[1].recording,
                      fs::copy_options::overwrite_existing);
        const QString error = rejected([&] { sweep(copy, small_spec()); });
        QVERIFY2(error.contains("seed: 43 differs from the recorded 42"), qPrintable(error));
    }

    void foldersThatCannotBeUsed() {
        whole();
        SweepSpec other = small_spec();
        other.grid[1] = parse_sweep_axis("optimizer.lr=1e-3,2e-3");
        QVERIFY(rejected([&] {
                    sweep(path("whole"), other);
                }).contains("--grid optimizer.lr=0.001,0.002 differs"));
        other = small_spec();
        other.recipe = recipe_text("pre-ln", {"stack.depth=3"});
        QVERIFY(rejected([&] { sweep(path("whole"), other); }).contains("stack.depth: 3 differs from the 2"));
        QCOMPARE(csv_of(path("whole")), whole());

        fs::create_directory(path("photos"));
        std::ofstream(path("photos") + "/a.jpg") << "x";
        QVERIFY(rejected([&] {
                    sweep(path("photos"), small_spec());
                }).contains("holds a.jpg, but no sweep.json"));
        QVERIFY(rejected([&] { sweep(path("photos") + "/a.jpg", small_spec()); }).contains("is no folder"));
        const std::string broken = copy_of_whole("broken");
        std::ofstream(broken + "/sweep.json") << "{";
        QVERIFY(rejected([&] { sweep(broken, small_spec()); }).contains("sweep.json: not valid JSON"));

        const SweepFolder held(path("whole"), small_spec());
        QVERIFY(rejected([&] { sweep(path("whole"), small_spec()); }).contains("is in use by another sweep"));
    }

    /// Runs that diverge or stall end the sweep as little as the others, and are not trained again.
    void everyOutcomeIsARow() {
        SweepSpec spec{recipe_text("diverging", {"stack.depth=4", "steps=60"}), {}, {42}};
        spec.grid = {parse_sweep_axis("optimizer.lr=1,3e-4")};
        const Result result = sweep(path("outcomes"), spec);
        QCOMPARE(result.end.rows.size(), std::size_t(2));
        const SweepRow &diverged = result.end.rows[0], &stalled = result.end.rows[1];
        QCOMPARE(diverged.state, RunState::Diverged);
        QVERIFY(diverged.diverged_at && *diverged.diverged_at < 60 && diverged.steps < 60);
        QCOMPARE(stalled.state, RunState::Stalled);
        QVERIFY(!stalled.diverged_at && stalled.steps == 60);
        QVERIFY(result.watcher.failures.empty());
        QCOMPARE(csv_of(path("outcomes")).count('\n'), qsizetype(3));
        QVERIFY(sweep(path("outcomes"), spec).watcher.trained.empty());
    }

    /// A run that needs more memory than there is: a failed row, and the others are trained. Later it is
    /// tried again.
    void aFailedRunIsARow() {
        SweepSpec spec = small_spec();
        spec.grid = {parse_sweep_axis("stack.d_model=16,65536,32")};
        spec.seeds = {42};
        const Result result = sweep(path("failed"), spec);
        QCOMPARE(result.watcher.trained.size(), std::size_t(3));
        QCOMPARE(result.watcher.failures.size(), std::size_t(1));
        QVERIFY2(QString::fromStdString(result.watcher.failures[0]).contains("allowed: up to the machine's"),
                 result.watcher.failures[0].c_str());
        QCOMPARE(csv_of(path("failed")).split('\n')[2], QString("65536,42,failed,0,,,,,,"));
        QCOMPARE(sweep(path("failed"), spec).watcher.trained, (std::vector<std::size_t>{1}));
        const SweepMerge merged = merge_sweeps({path("failed")}, path("failed-merged"));
        QVERIFY(merged.missing.empty());
        QCOMPARE(csv_of(path("failed-merged")), csv_of(path("failed")));
    }

    void keptWeights() {
        SweepSpec spec = small_spec();
        spec.grid.clear();
        SweepOptions options;
        options.folder = path("weights");
        options.keep_weights = true;
        Watcher watcher;
        run_sweep(spec, cpu_device(), options, watcher);
        for (const SweepRun& run : expand_sweep(spec)) {
            const std::string file = path("weights") + "/" + run.recording;
            const Session session = open_session(file);
            QCOMPARE(session.checkpoints.size(), std::size_t(1));
            QCOMPARE(session.checkpoints[0].step, std::int64_t(30));
        }
    }
};

NORMSCOPE_TEST(SweepTest)
#include "sweep_test.moc"
