// SPDX-License-Identifier: GPL-3.0-or-later
// `sweep` as a shell drives it: killed and resumed, cut into shards, with a full disk, with invalid input.
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <signal.h>
#include <sys/resource.h>

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>
#include <filesystem>

using namespace normscope;

class CliSweepTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }
    /// Eight runs of some tens of milliseconds.
    static QStringList arguments(const QString& out, const QString& steps = "150") {
        return QStringList{"sweep",   "pre-ln",
                           "--out",   out,
                           "--grid",  "stack.scheme=post,pre",
                           "--grid",  "optimizer.lr=log:1e-3:1:2",
                           "--seeds", "42:43",
                           "--steps", steps,
                           "--set",   "checkpoint.every=10",
                           "--set",   R"(probes=[{"id":"growth","every":50}])"} +
               small_stack();
    }
    /// The column `seconds` is measured: it is emptied, after a check that it holds a number.
    static QString without_seconds(const QString& csv) {
        QStringList lines;
        for (const QString& line : csv.split('\n')) {
            QStringList fields = line.split(',');
            if (fields.size() > 2 && fields[0] != "stack.scheme") {
                bool number = false;
                fields[fields.size() - 2].toDouble(&number);
                fields[fields.size() - 2] = number ? "" : "no number";
            }
            lines << fields.join(',');
        }
        return lines.join('\n');
    }
    QString whole() {
        static QString csv;
        if (csv.isEmpty()) {
            const CliResult result = run_cli(arguments(path("whole")) + QStringList{"--untimed"});
            csv = result.code == 0 ? csv_of(path("whole")) : result.error;
        }
        return csv;
    }

  private Q_SLOTS:
    void initTestCase() {
        qputenv("NORMSCOPE_CUDA_PLUGIN", "");  // whether or not there is a card
        QVERIFY(folder_.isValid());
    }

    void output() {
        QVERIFY2(whole().startsWith(
                     "stack.scheme,optimizer.lr,seed,state,steps,final_loss,best_loss,held_out_loss,"
                     "diverged_at,seconds,recording\npost,0.001,42,"),
                 qPrintable(whole()));
        QCOMPARE(whole().count('\n'), qsizetype(9));
        const CliResult again = run_cli(arguments(path("whole")) + QStringList{"--untimed"});
        QCOMPARE(again.code, 0);
        QVERIFY2(again.out.contains("8 runs, 8 of them done") && again.out.contains("8 of 8 runs: "),
                 qPrintable(again.out));
        QVERIFY2(again.out.contains("best optimizer.lr by the median of final_loss over 2 seeds:\n"
                                    "  stack.scheme=post: "),
                 qPrintable(again.out));
        QVERIFY(again.error.isEmpty());
        // Without the recipe the sweep of the folder continues.
        const CliResult short_form = run_cli({"sweep", "--out", path("whole"), "--untimed"});
        QVERIFY2(short_form.code == 0 && short_form.out == again.out, qPrintable(short_form.error));
        QCOMPARE(csv_of(path("whole")), whole());
        // One run of it is what `train` gives.
        const CliResult train =
            run_cli(QStringList{"train", "pre-ln", "--out", path("one.h5"), "--steps", "150", "--set",
                                "stack.scheme=post", "--set", "optimizer.lr=0.001", "--set", "seed=43",
                                "--set", R"(probes=[{"id":"growth","every":50}])"} +
                    small_stack());
        QCOMPARE(train.code, 0);
        const auto losses = [](const QString& file) {
            return *open_session(file.toStdString()).runs.at(0).steps.find("loss");
        };
        QCOMPARE(losses(path("one.h5")), losses(path("whole/runs/002_scheme-post_lr-0.001_seed-43.h5")));
    }

    /// Killed in the middle, each time with more recordings begun and a random moment later, and resumed with
    /// another number of jobs. What it waits for is progress, not time: a machine may be busy or fast.
    void killed() {
        const QString reference = whole(), out = path("killed");
        QRandomGenerator random(20261123);
        int kills = 0, partly = 0;
        for (int part = 0; part < 4; ++part) {
            const auto process =
                start_cli(arguments(out) + QStringList{"--jobs", QString::number(1 + part % 3)});
            const int begun = 1 + 2 * part;
            bool ended = false;
            while (!ended && QDir(out + "/runs").entryList({"*_seed-??.h5"}).size() < begun)
                ended = process->waitForFinished(1);
            if (ended || process->waitForFinished(1 + static_cast<int>(random.bounded(10)))) continue;
            process->kill();
            QVERIFY(process->waitForFinished());
            ++kills;
            const auto rows = csv_of(out).count('\n');
            partly += rows > 1 && rows < 9;
        }
        const CliResult last = run_cli(arguments(out));
        QVERIFY2(last.code == 0, qPrintable(last.error));
        QCOMPARE(without_seconds(csv_of(out)), reference);
        QCOMPARE(run_cli({"sweep", "--out", out, "--untimed"}).code, 0);
        QCOMPARE(csv_of(out), reference);  // byte for byte
        QVERIFY(QDir(out + "/runs").entryList({"*.ckpt.*", "*.saving-*"}).isEmpty());
        qInfo("%d kills, %d of them with some rows", kills, partly);
        QVERIFY(kills >= 2);
    }

    void stoppedBySigint() {
        const QString reference = whole(), out = path("stopped");
        QProcess process;
        process.start(NORMSCOPE_CLI, arguments(out, "100000"));
        while (QDir(out + "/runs").entryList({"*.h5"}).isEmpty()) QVERIFY(!process.waitForFinished(5));
        // Another process finds the folder in use.
        const CliResult second = run_cli(arguments(out));
        QCOMPARE(second.code, 2);
        QVERIFY2(second.error.contains("stopped: is in use by another sweep"), qPrintable(second.error));
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 4);
        const QString error = QString::fromUtf8(process.readAllStandardError());
        QVERIFY2(error.count('\n') == 1 && error.contains("stopped by SIGINT, 0 of 8 runs ended"),
                 qPrintable(error));
        const CliResult other = run_cli(arguments(out));
        QCOMPARE(other.code, 2);
        QVERIFY2(other.error.contains("stopped: steps: 150 differs from the 100000"),
                 qPrintable(other.error));
    }

    void shards() {
        QStringList folders;
        for (int i = 1; i <= 3; ++i) {
            folders << path(QString("shard%1").arg(i));
            const CliResult shard = run_cli(arguments(folders.back()) +
                                            QStringList{"--untimed", "--shard", QString("%1/3").arg(i)});
            QVERIFY2(shard.code == 0, qPrintable(shard.error));
            if (i != 2) continue;
            const CliResult part =
                run_cli(QStringList{"sweep", "--merge"} + folders + QStringList{"--out", path("part")});
            QCOMPARE(part.code, 1);
            QVERIFY2(part.error_lines().size() == 1 &&
                         part.error.contains(
                             "part: 2 of 8 runs are missing: stack.scheme=post optimizer.lr=1 seed=42 "
                             "and 1 more"),
                     qPrintable(part.error));
        }
        const CliResult merged =
            run_cli(QStringList{"sweep", "--merge"} + folders + QStringList{"--out", path("merged")});
        QVERIFY2(merged.code == 0, qPrintable(merged.error));
        QCOMPARE(csv_of(path("merged")), whole());
    }

    /// A limit on file sizes simulates a full disk: one line, and the same command continues later.
    void fullDisk() {
        const QString out = path("full");
        // In the middle of a recording; then before its first byte.
        for (const rlim_t bytes : {rlim_t(12'000), rlim_t(40)}) {
            const CliResult result = run_cli(arguments(out) + QStringList{"--untimed"}, [bytes] {
                const rlimit limit{bytes, bytes};
                setrlimit(RLIMIT_FSIZE, &limit);
                std::signal(SIGXFSZ, SIG_IGN);
            });
            QVERIFY2(result.code == 1, qPrintable(QString::number(result.code) + result.error));
            QVERIFY2(result.error_lines().size() == 1 && result.error.contains("full/runs/") &&
                         result.error.contains("File too large"),
                     qPrintable(result.error));
        }
        const CliResult later = run_cli(arguments(out) + QStringList{"--untimed"});
        QVERIFY2(later.code == 0, qPrintable(later.error));
        QCOMPARE(csv_of(out), whole());
    }

    void badInput_data() {
        QTest::addColumn<QString>("more");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* more, const char* message) {
            QTest::newRow(more) << more << message;
        };
        row("--grid stack.dpeth=2,4", "--grid stack.dpeth: unknown key, allowed: stack.block");
        row("--grid stack.depth=4,0", "stack.depth: 0 is out of range, allowed: 1");
        row("--grid stack.heads=2,3", "stack.heads=3 seed=42: ");
        row("--grid optimizer.lr=log:0:1:4", "--grid optimizer.lr: an end of the range is not positive");
        row("--grid optimizer.lr=log:1e-3:1:0", "--grid optimizer.lr: the range is empty: 0 values");
        row("--grid stack.scheme", "--grid stack.scheme: has no values");
        row("--seeds 44:42", "--seeds: \"44:42\" is empty");
        row("--seeds 42:44 --trials 2", "--trials excludes --seeds");
        row("--shard 4/3", "--shard: \"4/3\" is no shard, allowed: auto, or I/N");
        row("--backend tpu", "--backend");
        row("--merge %nowhere", "--merge: is combined with a recipe");
    }
    void badInput() {
        QFETCH(QString, more);
        QFETCH(QString, message);
        more.replace('%', folder_.path() + '/');
        const CliResult result =
            run_cli(QStringList{"sweep", "pre-ln", "--out", path("new")} + more.split(' ') + small_stack());
        QVERIFY2(result.code == 2, qPrintable(QString::number(result.code) + ": " + result.error));
        QVERIFY2(result.error_lines().size() == 1 && result.error.contains(message),
                 qPrintable(result.error));
        QVERIFY2(!QFile::exists(path("new")), "a rejected sweep left a folder");
    }
    /// A recording that is deleted or damaged costs its run alone, one of another run the sweep: one line.
    void badRecordings() {
        whole();
        const QString out = path("recordings");
        std::filesystem::copy(path("whole").toStdString(), out.toStdString(),
                              std::filesystem::copy_options::recursive);
        const QStringList files = QDir(out + "/runs").entryList({"*.h5"}, QDir::Files, QDir::Name);
        QCOMPARE(files.size(), qsizetype(8));
        const auto file = [&](int i) { return out + "/runs/" + files[i]; };
        QVERIFY(QFile::remove(file(1)));
        const CliResult merged = run_cli({"sweep", "--merge", out, "--out", path("without")});
        QVERIFY2(merged.code == 1 && merged.error_lines().size() == 1 &&
                     merged.error.contains("without: 1 of 8 runs are missing: ") &&
                     merged.error.contains(files[1] + ", named in results.csv, is not there)"),
                 qPrintable(merged.error));
        QCOMPARE(csv_of(path("without")).count('\n'), qsizetype(8));
        QVERIFY(QFile::resize(file(2), 5000));
        const CliResult again = run_cli({"sweep", "--out", out, "--untimed"});
        QVERIFY2(again.code == 0 && again.out.contains("8 runs, 6 of them done"), qPrintable(again.out));
        QVERIFY2((again.out + again.error).count(files[2] + ".damaged; trained again from step 0\n") == 1,
                 qPrintable(again.out + again.error));
        QVERIFY(QFile::exists(file(2) + ".damaged"));
        QCOMPARE(csv_of(out), whole());
        QVERIFY(QFile::remove(file(3)) && QFile::copy(file(0), file(3)));
        const CliResult foreign = run_cli({"sweep", "--out", out, "--untimed"});
        QVERIFY2(foreign.code == 2 && foreign.error_lines().size() == 1 &&
                     foreign.error.contains(files[3] + ": ") &&
                     foreign.error.contains(" differs from the recorded "),
                 qPrintable(foreign.error));
        QCOMPARE(csv_of(out), whole());
    }
    void badFolders() {
        const CliResult none = run_cli({"sweep", "--out", path("nothing")});
        QVERIFY2(none.code == 2 && none.error.contains("nothing: holds no sweep.json"),
                 qPrintable(none.error));
        const CliResult merge = run_cli({"sweep", "--merge", path("nothing"), "--out", path("new")});
        QVERIFY2(merge.code == 2 && merge.error.contains("nothing: holds no sweep.json"),
                 qPrintable(merge.error));
        const CliResult grid = run_cli({"sweep", "--grid", "stack.depth=2", "--out", path("new")});
        QVERIFY2(grid.code == 2 && grid.error.contains("RECIPE is required"), qPrintable(grid.error));
        const CliResult place = run_cli(arguments("/proc/none"));
        QVERIFY2(place.code == 1 && place.error_lines().size() == 1, qPrintable(place.error));
    }
};

NORMSCOPE_TEST(CliSweepTest)
#include "sweep_test.moc"
