// SPDX-License-Identifier: GPL-3.0-or-later
// `train` as schedulers and scripts drive it: signals, limits of time, exit codes, standard streams, and the
// last line of --json.
#include "core/session/session.h"
#include "core/session/validate.h"
#include "tests/cli/cli_process.h"
#include "tests/cli/same_run.h"
#include "tests/support/test_main.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

/// How a scheduler left the signals for the program that it starts.
enum class Inherited { Default, Ignored, Blocked };

void leave_signals(Inherited how) {
    sigset_t all;
    sigemptyset(&all);
    for (const int number : kSignals) {
        if (how == Inherited::Ignored) ::signal(number, SIG_IGN);
        sigaddset(&all, number);
    }
    if (how == Inherited::Blocked) ::sigprocmask(SIG_BLOCK, &all, nullptr);
    ::setpgid(0, 0);
}

/// Whether the process handles this signal by now.
bool is_handled(qint64 pid, int number) {
    QFile status(QString("/proc/%1/status").arg(pid));
    if (!status.open(QIODevice::ReadOnly)) return false;
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("SigCgt:"))
            return line.mid(7).trimmed().toULongLong(nullptr, 16) >> (number - 1) & 1;
    return false;
}

QJsonObject last_line(const QString& out) {
    return QJsonDocument::fromJson(out.trimmed().split('\n').last().toUtf8()).object();
}

}  // namespace

class DrivenTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }
    QStringList train(const QString& out, int steps = 1500) const {
        return QStringList{"train", "peri-ln", "--out", out, "--steps", QString::number(steps)} +
               small_stack();
    }
    QString whole() {
        const QString out = path("whole.h5");
        if (!QFile::exists(out)) run_cli(train(out));
        return out;
    }
    /// Starts, waits until signals are handled.
    static bool start(QProcess& process, const QStringList& arguments, Inherited how = Inherited::Default) {
        process.setChildProcessModifier([how] { leave_signals(how); });
        process.start(NORMSCOPE_CLI, arguments);
        while (!is_handled(process.processId(), SIGXCPU))
            if (process.waitForFinished(1)) return false;
        return true;
    }

  private Q_SLOTS:
    /// Stopped again and again by one of six signals, at any moment between the first that it handles and its
    /// end, also where they were inherited as ignored or blocked: each time exit code 4, a sound recording,
    /// and in the end the bits of an uninterrupted run. NORMSCOPE_SIGNALS: the number of signals.
    void signalledAtRandomMoments() {
        const QString reference = whole();
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(run_cli(train(path("timed.h5"))).code, 0);
        const auto duration = static_cast<int>(timer.elapsed());
        const int wanted = qEnvironmentVariable("NORMSCOPE_SIGNALS", "50").toInt();
        QRandomGenerator random(20261128);
        int stopped = 0, run = 0;
        while (stopped < wanted) {
            const QString out = path(QString("signalled%1.h5").arg(run++));
            for (;;) {
                const int number = kSignals[stopped % 6];
                const auto how = static_cast<Inherited>(stopped / 2 % 3);
                QProcess process;
                QVERIFY(start(process, train(out) + QStringList{"--resume", "--json"}, how));
                if (!process.waitForFinished(static_cast<int>(random.bounded(duration)))) {
                    // To its group, as a terminal and a scheduler do: also to the program that checks files.
                    ::kill(-static_cast<pid_t>(process.processId()), number);
                    QVERIFY(process.waitForFinished(60'000));
                }
                QCOMPARE(process.exitStatus(), QProcess::NormalExit);
                const QJsonObject end = last_line(QString::fromUtf8(process.readAllStandardOutput()));
                const QString state = end["state"].toString();
                if (process.exitCode() == 0) {  // it ended before the signal
                    QCOMPARE(state, QString("finished"));
                    break;
                }
                ++stopped;
                QCOMPARE(process.exitCode(), 4);
                QCOMPARE(state, QString("interrupted"));
                const QByteArray error = process.readAllStandardError();
                QVERIFY2(error.count('\n') == 1, error.constData());
                if (!QFile::exists(out)) continue;
                QCOMPARE(end["recording"].toString(), out);
                QVERIFY(validate_session(out.toStdString()).empty());
            }
            compare_runs(out, reference);
        }
        qInfo("%d signals, %d runs", stopped, run);
    }

    /// A second signal ends the program at once; the system repeats XCPU, which does not.
    void aSecondSignalEndsAtOnce() {
        QProcess twice, cpu;
        QVERIFY(start(twice, train(path("twice.h5"), 10'000'000)));
        for (const int number : {SIGINT, SIGTERM}) ::kill(static_cast<pid_t>(twice.processId()), number);
        QVERIFY(twice.waitForFinished(60'000));
        QCOMPARE(twice.exitStatus(), QProcess::CrashExit);
        QVERIFY(start(cpu, train(path("cpu.h5"), 10'000'000)));
        for (int i = 0; i < 2; ++i) ::kill(static_cast<pid_t>(cpu.processId()), SIGXCPU);
        QVERIFY(cpu.waitForFinished(60'000));
        QCOMPARE(cpu.exitStatus(), QProcess::NormalExit);
        QCOMPARE(cpu.exitCode(), 4);
    }

    /// Of the process, not of its steps: a limit that is over at the start makes none.
    void aLimitOfTimeIsAnInterruption() {
        const QString out = path("limited.h5");
        const CliResult none = run_cli(train(out) + QStringList{"--max-seconds", "1e-9", "--json"});
        QCOMPARE(none.code, 4);
        QVERIFY(!QFile::exists(out));
        const QJsonObject nothing = last_line(none.out);
        QCOMPARE(nothing["state"].toString(), QString("interrupted"));
        QVERIFY(nothing["recording"].isNull() && nothing["loss"].isNull());
        QVERIFY2(none.error.contains("stopped by --max-seconds"), qPrintable(none.error));
        int parts = 0;
        CliResult part;
        do {
            part = run_cli(train(out) + QStringList{"--resume", "--max-seconds", "0.5"});
            ++parts;
        } while (part.code == 4 && parts < 1000);
        QCOMPARE(part.code, 0);
        compare_runs(out, whole());
        const CliResult negative = run_cli(train(out) + QStringList{"--max-seconds", "-1"});
        QCOMPARE(negative.code, 2);
    }

    /// Settings as JSON on standard input are those of --set, which comes later.
    void settingsAsJson() {
        const auto from_json = [&](const char* name, const QByteArray& json, const QStringList& more = {}) {
            QProcess process;
            process.start(NORMSCOPE_CLI,
                          QStringList{"train", "pre-ln", "--out", path(name), "--set-json", "-"} + more);
            process.write(json);
            process.closeWriteChannel();
            CliResult result;
            if (process.waitForFinished(280'000)) result.code = process.exitCode();
            result.error = QString::fromUtf8(process.readAllStandardError());
            return result;
        };
        const QByteArray all =
            R"({"stack": {"depth": 2, "d_model": 16, "heads": 2, "scheme": "post"}, "stack.context": 16,
                "batch": 2, "steps": 5, "optimizer": {"lr": 0.001}})";
        QCOMPARE(from_json("json.h5", all).code, 0);
        QCOMPARE(from_json("later.h5", all, {"--set", "stack.depth=3"}).code, 0);
        const auto set = run_cli({"train", "pre-ln",           "--out", path("set.h5"),
                                  "--set", "stack.depth=2",    "--set", "stack.d_model=16",
                                  "--set", "stack.heads=2",    "--set", "stack.scheme=post",
                                  "--set", "stack.context=16", "--set", "batch=2",
                                  "--set", "steps=5",          "--set", "optimizer.lr=0.001"});
        QCOMPARE(set.code, 0);
        const auto recipe = [&](const char* name) {
            return open_session(path(name).toStdString()).runs.at(0).recipe.value(name);
        };
        QVERIFY(same_recipe(recipe("json.h5"), recipe("set.h5")));
        QCOMPARE(recipe("later.h5").stack.depth, 3);
        for (const auto& [json, words] :
             {std::pair{"[1]", "is no object"}, std::pair{"{\"a=b\": 1}", "\"a=b\": has an ="},
              std::pair{"{\"stack\": {\"dept\": 1}}", "stack.dept: unknown key"}, std::pair{"", "--set-json"},
              std::pair{"{\"steps\": 1, \"steps\": 2}", "steps"}}) {
            const CliResult wrong = from_json("wrong.h5", json);
            QCOMPARE(wrong.code, 2);
            QVERIFY2(wrong.error_lines().size() == 1 && wrong.error.contains(words), qPrintable(wrong.error));
            QVERIFY(!QFile::exists(path("wrong.h5")));
        }
    }

    /// Every N-th step and the last one; the same result line as without, and again by --resume.
    void reportsAreSeldomWhereAskedFor() {
        const auto lines = [&](const QStringList& more) {
            return run_cli(train(path("seldom.h5"), 50) + QStringList{"--json"} + more)
                .out.trimmed()
                .split('\n');
        };
        const QStringList every = lines({}), seldom = lines({"--report-every", "20"}),
                          again = lines({"--resume"});
        const auto steps = [](const QStringList& of) {
            QList<int> numbers;
            for (const QString& line : of) {
                const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
                if (object["event"].toString() == "step") numbers << object["step"].toInt(-1);
            }
            return numbers;
        };
        QCOMPARE(steps(every).size(), 50);
        QCOMPARE(steps(seldom), (QList<int>{19, 39, 49}));
        QCOMPARE(again.size(), 1);
        const auto but_seconds = [](const QString& line) {
            QJsonObject object = last_line(line);
            object.remove("seconds");
            return object;
        };
        QCOMPARE(but_seconds(every.last()), but_seconds(seldom.last()));
        QCOMPARE(again.last(), seldom.last());
        const QStringList text = run_cli(train(path("text.h5"), 50) + QStringList{"--report-every", "25"})
                                     .out.split('\n')
                                     .filter(QRegularExpression("^step "));
        QCOMPARE(text.size(), 2);
    }

    void aDivergenceCanBeAccepted() {
        const QStringList diverging{"train", "diverging", "--out", path("diverged.h5"), "--json"};
        const CliResult strict = run_cli(diverging);
        QCOMPARE(strict.code, 3);
        for (const QStringList& more : {QStringList{"--resume"}, QStringList{}}) {
            const CliResult accepted = run_cli(diverging + QStringList{"--diverged-ok"} + more);
            QCOMPARE(accepted.code, 0);
            QCOMPARE(last_line(accepted.out)["state"].toString(), QString("diverged"));
        }
    }

    /// A failure has its result line too, and one line on stderr; wrong usage has the line on stderr alone.
    void failuresHaveAResult() {
        const CliResult failed = run_cli(train("/nowhere/x.h5") + QStringList{"--json"});
        QCOMPARE(failed.code, 1);
        QCOMPARE(failed.error_lines().size(), 1);
        const QJsonObject end = last_line(failed.out);
        QCOMPARE(end["state"].toString(), QString("failed"));
        QVERIFY2(failed.error.contains(end["text"].toString()), qPrintable(failed.out));
        const CliResult wrong =
            run_cli(train(path("w.h5")) + QStringList{"--json", "--set", "stack.depth=0"});
        QCOMPARE(wrong.code, 2);
        QVERIFY(wrong.out.isEmpty());
    }

    /// As a job on a cluster has it: a home that cannot be written, no display, standard streams closed.
    /// Files are in the folder of --out alone, and what is printed is not written into one that has the
    /// number of a closed stream.
    void noDisplayNoHomeNoStreams() {
        const QString home = path("home"), jobs = path("jobs");
        QVERIFY(QDir().mkpath(home) && QDir().mkpath(jobs));
        QFile(home).setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        const WithEnvironment environment(
            {{"HOME", home.toUtf8()}, {"DISPLAY", {}}, {"XDG_RUNTIME_DIR", {}}});
        const CliResult closed = run_cli(train(jobs + "/run.h5"), [] {
            for (int stream = 0; stream <= 2; ++stream) ::close(stream);
        });
        QCOMPARE(closed.code, 0);
        QVERIFY(validate_session((jobs + "/run.h5").toStdString()).empty());
        QCOMPARE(QDir(jobs).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList{"run.h5"});
        QVERIFY(QDir(home).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
        const CliResult plain = run_cli(train(path("plain.h5")));
        QCOMPARE(plain.code, 0);
        compare_runs(jobs + "/run.h5", path("plain.h5"));
    }
};

NORMSCOPE_TEST(DrivenTest)
#include "driven_test.moc"
