// SPDX-License-Identifier: GPL-3.0-or-later
// A laboratory whose engine is on another machine: the numbers are those of an engine here, runs are recorded
// there and here, and a connection that is cut, or an engine that is gone, loses nothing.
#include "app/lab/remote/remote_engine.h"
#include "app/lab/remote/welcome.h"
#include "core/base/nan.h"
#include "core/interchange/model_file.h"
#include "core/recipe/presets.h"
#include "core/session/recording/recovery.h"
#include "remote_bench.h"
#include "tests/app/lab/post.h"
#include "tests/app/window/small_recipe.h"
#include "tests/support/test_main.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace normscope;
using namespace normscope::app;
using normscope::test::smallRecipe;
using normscope::test::There;
using normscope::test::remote::Bench;
using normscope::test::remote::sameBits;

namespace {

/// The files of a folder that are recordings.
QStringList recordingsIn(const QString& folder) {
    QStringList files;
    for (const QFileInfo& file :
         QDir(folder).entryInfoList({QStringLiteral("*.h5")}, QDir::Files, QDir::Name))
        if (!file.fileName().contains(u".ckpt.")) files << file.filePath();
    return files;
}

/// Empty, or where two runs differ; times are those of their machines.
QString difference(const RunData& a, const RunData& b) {
    if (!(a.recipe == b.recipe)) return QStringLiteral("recipe");
    if (a.name != b.name || a.backend != b.backend || a.device != b.device || a.seed != b.seed)
        return QStringLiteral("identity");
    for (const auto level : {&LossLevels::ln_vocab, &LossLevels::unigram_entropy, &LossLevels::bigram_entropy,
                             &LossLevels::trigram_entropy, &LossLevels::entropy_rate})
        if (!sameBits(a.*level, b.*level)) return QStringLiteral("levels");
    if (a.outcome.state != b.outcome.state || a.outcome.step != b.outcome.step ||
        a.outcome.text != b.outcome.text || a.outcome.layer != b.outcome.layer)
        return QStringLiteral("outcome: %1 | %2").arg(a.outcome.text.c_str(), b.outcome.text.c_str());
    if (a.steps.step != b.steps.step || a.steps.names != b.steps.names) return QStringLiteral("steps");
    for (std::size_t c = 0; c < a.steps.names.size(); ++c) {
        const std::string& name = a.steps.names[c];
        if (name == "tokens_per_s" || name == "step_ms" || name == "probe_ms") continue;
        if (!sameBits(a.steps.columns[c], b.steps.columns[c])) return QString::fromStdString(name);
    }
    if (a.probes.size() != b.probes.size()) return QStringLiteral("probes");
    for (const auto& [probe, samples] : a.probes) {
        if (!b.probes.count(probe) || b.probes.at(probe).size() != samples.size())
            return QString::fromStdString(probe);
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const ProbeResult &one = samples[s], &other = b.probes.at(probe)[s];
            if (one.step != other.step || one.labels != other.labels ||
                one.arrays.size() != other.arrays.size())
                return QString::fromStdString(probe + " labels");
            for (std::size_t i = 0; i < one.arrays.size(); ++i) {
                const NamedArray &x = one.arrays[i], &y = other.arrays[i];
                if (x.name != y.name || x.shape != y.shape || x.axes != y.axes || x.unit != y.unit ||
                    !sameBits(x.data, y.data))
                    return QString::fromStdString(probe + " " + x.name);
            }
        }
    }
    if (a.events.size() != b.events.size()) return QStringLiteral("events");
    for (std::size_t i = 0; i < a.events.size(); ++i)
        if (a.events[i].step != b.events[i].step || a.events[i].kind != b.events[i].kind ||
            a.events[i].text != b.events[i].text)
            return QString::fromStdString(a.events[i].text + " | " + b.events[i].text);
    return {};
}

#define SAME(a, b) QCOMPARE(difference(a, b), QString())

}  // namespace

class RemoteLabTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theNumbersAreThoseOfAnEngineHere() {
        const There there;
        Bench here("cpu"), away(There::device());
        NORMSCOPE_CONNECTED(away);
        QTRY_VERIFY_WITH_TIMEOUT(here.exact() && away.exact(), 20000);
        for (const std::size_t i : {0u, 1u}) SAME(*here.run(i).data, *away.run(i).data);
        here.train();
        away.train();
        for (const std::size_t i : {0u, 1u}) {
            QCOMPARE(away.run(i).data->steps.rows(), 6u);
            SAME(*here.run(i).data, *away.run(i).data);
            QCOMPARE(here.run(i).checkpoints.size(), away.run(i).checkpoints.size());
        }
        // Recorded here and there, the same.
        const QStringList mine = recordingsIn(away.folder()), theirs = recordingsIn(there.recordings());
        QCOMPARE(mine.size(), 2);
        QCOMPARE(theirs.size(), 2);
        for (const int i : {0, 1}) {
            for (const QString& file : {mine[i], theirs[i]})
                QTRY_COMPARE_WITH_TIMEOUT(recover(file.toStdString()).outcome.state, RunState::Finished,
                                          20000);
            SAME(recover(mine[i].toStdString()), recover(theirs[i].toStdString()));
        }
        QCOMPARE(away.lines, QStringList());
        away.lab.reset();
        QTRY_VERIFY_WITH_TIMEOUT(There::engines().empty(), 20000);  // it ends with its window
    }

    /// Knobs, watchpoints, a pause, a step, a measurement, a fork, more steps: by the engine there.
    void everyRequestIsAnsweredThere() {
        const There there;
        std::array<std::unique_ptr<Bench>, 2> both{std::make_unique<Bench>("cpu", 40),
                                                   std::make_unique<Bench>(There::device(), 40)};
        NORMSCOPE_CONNECTED(*both[1]);
        for (const auto& bench : both) {
            Lab& lab = *bench->lab;
            lab.knobs().setWatch({{WatchQuantity::Loss, WatchComparator::Above, 0}});  // at the first step
            QTRY_VERIFY_WITH_TIMEOUT(bench->exact(), 20000);
            lab.training().play();
            QTRY_VERIFY_WITH_TIMEOUT(bench->run(1).data->steps.rows() == 1 && !lab.training().playing(),
                                     20000);
            lab.knobs().setWatch({});
            lab.knobs().commitKey("stack.residual_step", 0.5);
            lab.training().singleStep();
            QTRY_COMPARE_WITH_TIMEOUT(bench->run(1).data->steps.rows(), 2u, 20000);
            bench->train();
            QCOMPARE(bench->run(0).data->steps.rows(), 40u);
            lab.view().setStep(21);
            lab.measurement().measureHere();
            QTRY_VERIFY_WITH_TIMEOUT(bench->exact(), 20000);
            QVERIFY(bench->run(0).data->sample_of("jacobian", 21));
            lab.view().setStep(10);
            lab.forks().forkSelected();
            QTRY_VERIFY_WITH_TIMEOUT(bench->lab->comparison().runs.size() == 3 && bench->settled(), 60000);
            lab.training().trainFurther();
            QTRY_VERIFY_WITH_TIMEOUT(bench->settled(), 60000);
        }
        for (const std::size_t i : {0u, 1u, 2u}) SAME(*both[0]->run(i).data, *both[1]->run(i).data);
        QCOMPARE(both[1]->lines, both[0]->lines);
    }

    /// A run that was trained here, and its fork there, and back.
    void runsMoveBetweenMachines() {
        const There there;
        Bench b("cpu", 10);
        QTRY_VERIFY_WITH_TIMEOUT(b.exact(), 20000);
        b.train();
        b.lab->devices().choose(QString::fromStdString(There::device()));
        NORMSCOPE_CONNECTED(b);
        b.lab->view().setStep(5);
        b.lab->forks().forkSelected();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->comparison().runs.size() == 3 && b.settled(), 60000);
        b.lab->devices().choose("cpu");
        b.lab->training().trainFurther();
        QTRY_VERIFY_WITH_TIMEOUT(b.settled(), 60000);
        for (const std::size_t i : {0u, 1u, 2u}) {
            QCOMPARE(b.run(i).data->steps.rows(), 20u);
            QVERIFY(test::sound(*b.run(i).data));
        }
        QCOMPARE(recordingsIn(there.recordings()).size(), 1);
        QCOMPARE(b.lines.join('\n'), QString());
    }

    /// A recording that is being written when ssh starts is not kept open, and so locked, by it.
    void noFileIsInherited() {
        const There there;
        const QTemporaryDir folder;
        const QString path = folder.filePath("open");
        const int kept = ::open(qPrintable(path), O_RDWR | O_CREAT, 0600);  // as the HDF5 library does
        QVERIFY(kept >= 0);
        Bench b(There::device());
        NORMSCOPE_CONNECTED(b);
        const bool inherited = There::hasOpen(path);
        ::close(kept);
        QVERIFY(!inherited);
    }

    void aCutConnectionLosesNothing_data() {
        QTest::addColumn<bool>("silent");
        QTest::newRow("cut") << false;
        QTest::newRow("silent") << true;
    }
    /// The run goes to its end there, the window connects again, and has every row; so has its recording.
    void aCutConnectionLosesNothing() {
        QFETCH(const bool, silent);
        const There there;
        Bench b(There::device(), 400), here("cpu", 400);
        NORMSCOPE_CONNECTED(b);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).data->steps.rows() > 20 && b.run(1).data->steps.rows() > 20, 20000);
        if (silent)
            there.freeze();
        else
            there.cut();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        QVERIFY2(b.lines[0].endsWith("is cut: its runs continue there, and it is being made again"),
                 qPrintable(b.lines[0]));
        if (!silent) {
            const auto rows = b.run(0).data->steps.rows();
            b.lab->knobs().commitKey("stack.depth", 3);  // measured here meanwhile
            QTRY_VERIFY_WITH_TIMEOUT(b.lab->view().exact(), 20000);
            b.lab->runs().undoStack()->undo();
            QTest::qWait(1000 * qEnvironmentVariable("NORMSCOPE_TEST_CUT", "1").toInt());
            QCOMPARE(b.run(0).data->steps.rows(), rows);
        }
        there.restore();
        QTRY_COMPARE_WITH_TIMEOUT(b.lines.size(), 2, 30000);
        QVERIFY2(b.lines[1].endsWith("is connected again"), qPrintable(b.lines[1]));
        QTRY_VERIFY_WITH_TIMEOUT(b.settled(), 60000);
        here.train();
        for (const std::size_t i : {0u, 1u}) SAME(*here.run(i).data, *b.run(i).data);
        for (const QString& file : recordingsIn(b.folder())) {
            const RunData recorded = recover(file.toStdString());
            QCOMPARE(recorded.steps.rows(), 400u);
            QVERIFY(test::sound(recorded));
        }
        QCOMPARE(recordingsIn(b.folder()).size(), 2);
    }

    /// Its runs are interrupted, each request that waits is answered, and what was recorded can be resumed
    /// here.
    void anEngineThatIsGoneLeavesWhatWasRecorded() {
        const There there;
        Bench b(There::device(), 20000);
        NORMSCOPE_CONNECTED(b);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).data->steps.rows() > 20 && b.run(1).data->steps.rows() > 20, 20000);
        b.lab->training().pause();  // with checkpoints
        QTRY_VERIFY_WITH_TIMEOUT(!b.run(0).checkpoints.empty() && !b.run(1).checkpoints.empty(), 20000);
        b.lab->training().play();
        There::kill();
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        const QString gone = QStringLiteral("there: the engine has ended there");
        QVERIFY2(b.lines.contains(gone + "; training is on cpu"), qPrintable(b.lines.join('\n')));
        QCOMPARE(b.lab->devices().chosen(), std::string("cpu"));
        for (const std::size_t i : {0u, 1u}) {
            QCOMPARE(b.run(i).data->outcome.state, RunState::Interrupted);
            QCOMPARE(QString::fromStdString(b.run(i).data->outcome.text), gone);
            QVERIFY(test::sound(*b.run(i).data));
        }
        for (const QString& file : recordingsIn(b.folder())) {
            QTRY_COMPARE(recover(file.toStdString()).outcome.state, RunState::Interrupted);
            const RunData recorded = recover(file.toStdString());
            QVERIFY(recorded.steps.rows() > 20 && test::sound(recorded));
        }
        QTRY_VERIFY_WITH_TIMEOUT(b.exact(), 20000);
        const auto rows = b.run(0).data->steps.rows();
        b.lab->training().play();  // resumes here
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).data->steps.rows() > rows + 10, 20000);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QVERIFY(test::sound(*b.run(0).data));
    }

    void whatIsNoEngineIsStatedInOneLine_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("line");
        QTest::newRow("key")
            << QByteArray("echo '@@@ WARNING @@@' >&2; echo 'Host key verification failed.' >&2; exit 255")
            << "Host key verification failed";
        const QByteArray ready = QByteArray::fromStdString(welcome_line()).trimmed();
        QTest::newRow("older")
            << QByteArray("echo normscope-engine ready 0 0.1.0; cat >/dev/null")
            << QStringLiteral("there is Normscope 0.1.0 (protocol 0), here Normscope " NORMSCOPE_VERSION
                              " (protocol %1): both machines need the same version")
                   .arg(QString::fromUtf8(ready.split(' ')[2]));
        QTest::newRow("without serve")
            << QByteArray("echo 'normscope-cli: serve: no such command, allowed: devices' >&2; exit 2")
            << "normscope-cli: serve: no such command, allowed: devices";
        QTest::newRow("silent") << QByteArray("exit 0") << "it gives no answer";
        QTest::newRow("garbage") << QByteArray("yes | tr -d '\\n' | head -c 200000; sleep 9")
                                 << "what arrives is not of an engine of Normscope";
        QTest::newRow("wrong bytes") << QByteArray("echo hello; echo " + ready + "; yes")
                                     << "what arrives is not of an engine of Normscope";
        QTest::newRow("no folder") << QByteArray("echo normscope-engine failed /tmp/x: not yours; exit 1")
                                   << "/tmp/x: not yours";
    }
    void whatIsNoEngineIsStatedInOneLine() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, line);
        const There there;
        const std::string device = There::device(there.program(program));
        Bench b(device);
        b.lab->training().play();  // on it: it is not connected yet
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->devices().chosen(), std::string("cpu"), 20000);
        const QString stated = "there: " + line;
        QVERIFY2(b.lines.contains(stated + "; training is on cpu"), qPrintable(b.lines.join('\n')));
        for (const QString& any : b.lines) QVERIFY2(any.startsWith(stated), qPrintable(any));
        QTRY_VERIFY_WITH_TIMEOUT(b.settled(), 20000);
        QVERIFY(!b.run(0).trained());
        b.train();  // here
        QCOMPARE(b.run(0).data->steps.rows(), 6u);
    }

    /// A name of ssh's configuration whose key is another one than before; without ssh, its line and exit
    /// status.
    void aChangedHostKey() {
        const There there;
        Bench b("ssh://changed" NORMSCOPE_CLI);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        QCOMPARE(b.lines[0], QStringLiteral("changed: Host key verification failed; training is on cpu"));
    }

    void noProgramThere() {
        const There there;
        Bench b("ssh://there/none/normscope-cli");
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        QCOMPARE(b.lines[0], QStringLiteral("there: no /none/normscope-cli there; its path may be "
                                            "named: ssh://host/path/to/normscope-cli; training is on cpu"));
    }

    void noSsh() {
        const There there;
        qputenv("NORMSCOPE_SSH", "/none/ssh");
        Bench b(There::device());
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        QVERIFY2(b.lines[0].contains(": /none/ssh cannot be started: "), qPrintable(b.lines[0]));
    }

    /// What cannot be built there is rejected there, in the words of here.
    void aRejectedRecipeIsStated() {
        const There there;
        Bench here("cpu"), away(There::device());
        NORMSCOPE_CONNECTED(away);
        for (Bench* b : {&here, &away}) {
            b->lab->knobs().commitKey("stack.heads", 3);
            QTRY_VERIFY_WITH_TIMEOUT(!b->run(0).rejection.empty() && b->exact(), 20000);
        }
        QCOMPARE(away.run(0).rejection, here.run(0).rejection);
        QCOMPARE(away.run(1).rejection, here.run(1).rejection);
    }

    /// A request that the engine there cannot read is answered; the laboratory makes none.
    void aRequestThatCannotBeReadIsAnswered() {
        const There there;
        WorkerThread<RemoteEngine> engine("remote", std::uint64_t{1}, parse_remote(There::device()).first);
        QSignalSpy rejected(engine.get(), &Engine::rejected);
        QMetaObject::invokeMethod(engine.get(), &RemoteEngine::connectThere, Qt::QueuedConnection);
        ExploreRequest request{7, {{"a", "A", smallRecipe(), {}, {}, {}}}, {"growth"}, false};
        request.runs[0].recipe.stack.residual_step = kNaN;
        engine->explore(request);
        QTRY_COMPARE_WITH_TIMEOUT(rejected.size(), 1, 20000);
        QCOMPARE(rejected[0][0].toULongLong(), 7u);
        QVERIFY2(rejected[0][1].toString().startsWith("there: stack.residual_step: null is not a number"),
                 qPrintable(rejected[0][1].toString()));
        engine->shutDown();
        callAndWait(engine.get(), [&] { engine->awaitEnd(); });
    }

    /// Settings that were written by hand.
    void aMachineThatIsNotUnderstoodIsStated() {
        Bench b("ssh://a;b");
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        QVERIFY2(b.lines[0].startsWith("ssh://a;b: \"a;b\" is no host, allowed: "), qPrintable(b.lines[0]));
        QCOMPARE(b.lab->devices().chosen(), std::string("cpu"));
        QTRY_VERIFY_WITH_TIMEOUT(b.exact(), 20000);
    }

    /// What cannot be recorded there is recorded here.
    void whatIsNotRecordedThereIsStated() {
        const There there;
        there.spoilRecordings();
        Bench b(There::device());
        NORMSCOPE_CONNECTED(b);
        b.train();
        QTRY_VERIFY_WITH_TIMEOUT(b.lines.size() == 2, 20000);
        for (const QString& line : b.lines)
            QVERIFY2(line.startsWith("there: not recorded: ") &&
                         line.contains("the folder of recordings cannot be made"),
                     qPrintable(line));
        QCOMPARE(b.run(0).data->steps.rows(), 6u);
        QVERIFY(b.run(0).not_recorded.empty());
        QCOMPARE(recordingsIn(b.folder()).size(), 2);
    }

    /// Given weights are sent once, and the same are used.
    void givenWeightsAreSent() {
        const There there;
        Bench here("cpu"), away(There::device());
        NORMSCOPE_CONNECTED(away);
        const QString model = here.place.filePath("model.safetensors");
        const Recipe recipe = here.run(0).recipe;
        Recipe built = recipe;
        built.train.seed = 77;
        auto corpus = complete_and_validate(built);
        export_model(model.toStdString(), recipe,
                     Experiment(built, "a", "A", std::move(corpus)).checkpoint().params);
        for (Bench* b : {&here, &away}) {
            b->lab->runs().importModel(model);
            QTRY_VERIFY_WITH_TIMEOUT(b->lab->comparison().runs.size() == 3 && b->exact(), 20000);
            b->lab->knobs().commitKey("stack.residual_step", 0.5);
            QTRY_VERIFY_WITH_TIMEOUT(b->exact(), 20000);
        }
        SAME(*here.run(2).data, *away.run(2).data);
        here.train();
        away.train();
        SAME(*here.run(2).data, *away.run(2).data);
        QVERIFY(difference(*away.run(0).data, *away.run(2).data) != QString());
    }

    /// A run that another process there writes is shown as it grows, and that its writer is gone.
    void aRecordingThereIsFollowed() {
        const There there;
        Bench writer(There::device(), 20000), b("cpu");
        NORMSCOPE_CONNECTED(writer);
        writer.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(recordingsIn(there.recordings()).size() == 2, 20000);
        const QString file = recordingsIn(there.recordings())[0];
        const QString device = QString::fromStdString(There::device());
        b.lab->recordings().addFrom(device + u' ' + file);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->comparison().runs.size() == 3, 20000);
        QVERIFY(b.run(2).followed && b.run(2).unfinished());
        const auto rows = b.run(2).data->steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(2).data->steps.rows() > rows + 20, 20000);
        QVERIFY(Following::lineOf(b.run(2)).contains("is written by process "));
        b.lab->recordings().addFrom(device + u' ' + file);  // it is there already
        QCOMPARE(b.lab->comparison().selected, 2);
        writer.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(!b.run(2).followed, 20000);
        QCOMPARE(b.run(2).data->outcome.state, RunState::Interrupted);
        QVERIFY(test::sound(*b.run(2).data));
        QCOMPARE(b.run(2).data->steps.rows(), recover(file.toStdString()).steps.rows());
        QCOMPARE(b.lines.join('\n'), QString());
    }

    void aRecordingThatCannotBeReadIsStated() {
        const There there;
        Bench b("cpu");
        const QString device = QString::fromStdString(There::device());
        for (const auto& [text, line] : std::vector<std::pair<QString, QString>>{
                 {device, device + ": names no file there, allowed: ssh://host /path/to/run.h5"},
                 {device + " run.h5",
                  device + " run.h5: names no file there, allowed: ssh://host /path/to/run.h5"},
                 {"ssh://a;b /x.h5",
                  "ssh://a;b /x.h5: \"a;b\" is no host, allowed: ssh://[user@]host[:port]"
                  "[/path/to/normscope-cli]"},
                 {device + " /none/run.h5", "/none/run.h5: No such file"}}) {
            b.lines.clear();
            b.lab->recordings().addFrom(text);
            QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
            QVERIFY2(b.lines[0].startsWith(line), qPrintable(b.lines[0]));
        }
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(b.exact());
    }

    /// A machine that was switched off leaves sockets; the next engine there removes them.
    void socketsOfKilledEnginesAreRemoved() {
        const There there;
        QStringList dead;
        {
            Bench b(There::device());
            NORMSCOPE_CONNECTED(b);
            dead = There::sockets();
            There::kill();
        }
        QVERIFY(!dead.isEmpty());
        const std::array<timespec, 2> before{{{1, 0}, {1, 0}}};
        for (const QString& path : dead) QCOMPARE(utimensat(AT_FDCWD, qPrintable(path), before.data(), 0), 0);
        Bench b(There::device());
        NORMSCOPE_CONNECTED(b);
        for (const QString& path : dead) QVERIFY2(!QFileInfo::exists(path), qPrintable(path));
        QCOMPARE(There::sockets().size(), 1);
    }

    /// The window closes while it trains there: the runs are stopped, with checkpoints, here and there.
    void closingStopsTheRunsThere() {
        const There there;
        {
            Bench b(There::device(), 20000);
            NORMSCOPE_CONNECTED(b);
            b.lab->training().play();
            QTRY_VERIFY_WITH_TIMEOUT(b.run(1).data->steps.rows() > 5, 20000);
            const QString folder = b.folder();
            b.lab.reset();
            for (const QString& file : recordingsIn(folder)) {
                const RunData recorded = recover(file.toStdString());
                QCOMPARE(recorded.outcome.state, RunState::Interrupted);
                QVERIFY(CheckpointPair(file.toStdString()).newest());
            }
            QCOMPARE(recordingsIn(folder).size(), 2);
        }
        QTRY_VERIFY_WITH_TIMEOUT(There::engines().empty(), 20000);
        for (const QString& file : recordingsIn(there.recordings()))
            QCOMPARE(recover(file.toStdString()).outcome.state, RunState::Interrupted);
    }

    /// It closes while the connection is cut: what is here is closed here; what is there continues.
    void closingWithoutAConnectionLeavesTheRunsThere() {
        const There there;
        QTemporaryDir kept;
        Bench b(There::device(), 3000);
        NORMSCOPE_CONNECTED(b);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(1).data->steps.rows() > 5, 20000);
        there.cut();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lines.isEmpty(), 20000);
        b.lab.reset();
        for (const QString& file : recordingsIn(b.folder()))
            QCOMPARE(recover(file.toStdString()).outcome.state, RunState::Interrupted);
        QCOMPARE(There::engines().size(), 1u);
        QTRY_VERIFY_WITH_TIMEOUT(
            recordingsIn(there.recordings()).size() == 2 &&
                recover(recordingsIn(there.recordings())[0].toStdString()).outcome.state ==
                    RunState::Finished,
            60000);
        QCOMPARE(recover(recordingsIn(there.recordings())[0].toStdString()).steps.rows(), 3000u);
    }
};

NORMSCOPE_TEST(RemoteLabTest)
#include "remote_lab_test.moc"
