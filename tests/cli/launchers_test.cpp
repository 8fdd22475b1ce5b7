// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep cut into processes by other programs: commands of single runs, ranks of a launcher, what all of
// them have, file systems without locks.
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/support/test_main.h"

#include <signal.h>

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <cerrno>

using namespace normscope;

class LaunchersTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }
    /// Eight runs.
    static QStringList arguments(const QString& out, const QString& steps = "60") {
        return QStringList{"sweep",   "pre-ln",
                           "--out",   out,
                           "--grid",  "stack.scheme=post,pre",
                           "--grid",  "optimizer.lr=0.001,10",
                           "--tie",   "stack.scheme=post: stack.init.rule=gpt2",
                           "--seeds", "42:43",
                           "--steps", steps} +
               small_stack();
    }
    QString whole() {
        static QString csv;
        if (csv.isEmpty()) {
            const CliResult result = run_cli(arguments(path("whole")) + QStringList{"--untimed"});
            csv = result.code == 0 ? csv_of(path("whole")) : result.error;
        }
        return csv;
    }
    static QJsonObject status(const QStringList& folders) {
        const CliResult result = run_cli(QStringList{"sweep", "--json", "--status"} + folders);
        return result.code == 0 ? QJsonDocument::fromJson(result.out.toUtf8()).object()
                                : QJsonObject{{"error", result.error}};
    }
    /// By a shell, as GNU parallel and submitit call it.
    static int shell(const QString& command) {
        QProcess process;
        process.setProgram("sh");
        process.setArguments({"-c", command});
        process.setStandardOutputFile(QProcess::nullDevice());
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", QFileInfo(NORMSCOPE_CLI).path() + ":" + environment.value("PATH"));
        process.setProcessEnvironment(environment);
        process.start();
        return process.waitForFinished(280'000) ? process.exitCode() : -1;
    }

  private Q_SLOTS:
    void initTestCase() { qputenv("NORMSCOPE_CUDA_PLUGIN", ""); }

    /// Each command of the list, in another order, one of them twice, one stopped and resumed: the sweep
    /// takes their recordings as its own, trains none again, and has the bytes of a sweep in one process. The
    /// folder's name needs quotes.
    void commandsOfSingleRuns() {
        const QString out = path("it's listed");
        const CliResult list = run_cli(arguments(out) + QStringList{"--list"});
        QCOMPARE(list.code, 0);
        const QStringList commands = list.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(commands.size(), 8);
        QCOMPARE(run_cli({"sweep", "--out", out, "--list", "3"}).out.trimmed(), commands[2]);
        QCOMPARE(status({out})["not_started"].toInt(), 8);
        QCOMPARE(shell(commands[7] + " --threads 1 --max-seconds 1e-9"), 4);
        for (int i = 7; i >= 0; --i) QCOMPARE(shell(commands[i] + " --threads 1"), 0);
        QCOMPARE(shell(commands[4]), 0);
        const QJsonObject all = status({out});
        QVERIFY(all["complete"].toBool());
        const CliResult taken = run_cli(arguments(out) + QStringList{"--untimed"});
        QVERIFY2(taken.code == 0 && taken.out.contains("8 runs, 8 of them done"), qPrintable(taken.error));
        QCOMPARE(csv_of(out), whole());
        for (const char* wrong : {"0", "9", "x"}) {
            const CliResult none = run_cli(arguments(out) + QStringList{"--list", wrong});
            QCOMPARE(none.code, 2);
            QVERIFY2(none.error.contains("is no run, allowed: 1 to 8"), qPrintable(none.error));
        }
    }

    /// Four processes with the ranks of a launcher share a folder; merged, while they fill it and at the end.
    void ranksOfALauncher_data() {
        QTest::addColumn<QStringList>("variables");  // of rank %1 of 4
        QTest::newRow("Open MPI") << QStringList{"OMPI_COMM_WORLD_RANK=%1", "OMPI_COMM_WORLD_SIZE=4"};
        QTest::newRow("PMI") << QStringList{"PMI_RANK=%1", "PMI_SIZE=4"};
        QTest::newRow("Slurm array") << QStringList{"SLURM_ARRAY_TASK_ID=%1", "SLURM_ARRAY_TASK_MIN=0",
                                                    "SLURM_ARRAY_TASK_MAX=3", "SLURM_ARRAY_TASK_COUNT=4"};
    }
    void ranksOfALauncher() {
        QFETCH(QStringList, variables);
        const QString out = path(QTest::currentDataTag());
        for (int rank = 0; rank < 4; ++rank) {
            QMap<QByteArray, QByteArray> of_rank;
            for (const QString& variable : variables) {
                const QStringList parts = variable.split('=');
                of_rank[parts[0].toUtf8()] = parts[1] == "%1" ? QByteArray::number(rank) : parts[1].toUtf8();
            }
            const WithEnvironment environment(of_rank);
            const CliResult shard = run_cli(arguments(out) + QStringList{"--untimed", "--shard", "auto"});
            QVERIFY2(shard.code == 0, qPrintable(shard.error));
            QCOMPARE(status({out})["not_started"].toInt(), 6 - 2 * rank);
            const CliResult merged = run_cli({"sweep", "--merge", out, "--out", out + "/all"});
            QCOMPARE(merged.code, rank < 3 ? 1 : 0);
        }
        QCOMPARE(csv_of(out + "/all"), whole());
        const CliResult none = run_cli(arguments(out) + QStringList{"--shard", "auto"});
        QCOMPARE(none.code, 2);
        QVERIFY2(none.error_lines().size() == 1 && none.error.contains("no launcher has set a rank"),
                 qPrintable(none.error));
    }

    /// One that runs, one whose process was killed, one that failed: as they are, and none is a result.
    void statusWhileOthersWrite() {
        const QString out = path("status");
        const QStringList commands =
            run_cli(arguments(out, "1000000") + QStringList{"--list"}).out.split('\n');
        QStringList words = QProcess::splitCommand(commands[1]);
        words.removeFirst();
        const auto running = start_cli(words);
        words = QProcess::splitCommand(commands[0]);
        words.removeFirst();
        const auto killed = start_cli(words);
        const auto recordings = [&] { return QDir(out + "/runs").entryList({"*_seed-??.h5"}).size(); };
        while (recordings() < 2) QVERIFY(!running->waitForFinished(5));
        killed->kill();
        QVERIFY(killed->waitForFinished());
        QTRY_COMPARE_WITH_TIMEOUT(status({out})["states"].toObject(),
                                  (QJsonObject{{"running", 1}, {"interrupted", 1}}), 60'000);
        const QJsonObject now = status({out});
        QCOMPARE(now["runs"].toInt(), 8);
        QCOMPARE(now["not_started"].toInt(), 6);
        QVERIFY(!now["complete"].toBool(true));
        running->kill();
        QVERIFY(running->waitForFinished());
        QVERIFY(run_cli({"sweep", "--status", out}).out.startsWith("8 runs: 2 interrupted, 6 not started"));
        const CliResult other = run_cli({"sweep", "--status", out, path("whole")});
        QCOMPARE(other.code, 2);
        QVERIFY2(other.error.contains("it is of another sweep than"), qPrintable(other.error));
    }

    /// What flock() reports there differs; nothing else does, but for one line that states it.
    void noLocks_data() {
        QTest::addColumn<int>("error");
        QTest::newRow("ENOSYS") << ENOSYS;
        QTest::newRow("ENOLCK") << ENOLCK;
        QTest::newRow("EOPNOTSUPP") << EOPNOTSUPP;
    }
    void noLocks() {
        QFETCH(int, error);
        const QString out = path(QString("locks%1").arg(error));
        const WithEnvironment environment({{"LD_PRELOAD", NO_LOCKS},
                                           {"ASAN_OPTIONS", "verify_asan_link_order=0"},
                                           {"NORMSCOPE_NO_LOCKS", QByteArray::number(error)}});
        const CliResult sweep = run_cli(arguments(out) + QStringList{"--untimed"});
        QVERIFY2(sweep.code == 0, qPrintable(sweep.error));
        QCOMPARE(sweep.out.count("has no locks; use the folder in one process at a time"), 1);
        QCOMPARE(csv_of(out), whole());
    }
};

NORMSCOPE_TEST(LaunchersTest)
#include "launchers_test.moc"
