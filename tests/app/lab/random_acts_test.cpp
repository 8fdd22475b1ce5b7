// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences of acts that are drawn from a table, on a small comparison: after each act the runs have their
// rows, the button states what it does, all panels show one step, and the files of others are as they were.
#include "core/session/session.h"
#include "lab_bench.h"
#include "post.h"
#include "tests/support/test_main.h"

#include <QCryptographicHash>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <map>
#include <random>

using namespace normscope;
using namespace normscope::app;

namespace {

constexpr int kSequences = 500, kActs = 8, kSteps = 8;

QByteArray hashOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly)
               ? QCryptographicHash::hash(file.readAll(), QCryptographicHash::Sha256)
               : QByteArray();
}

/// Files that the sequences find. None of them is written by the laboratory.
struct Foreign {
    QTemporaryDir folder;
    QString session = folder.filePath("session.h5"), stopped = folder.filePath("stopped.h5"),
            live = folder.filePath("live.h5");
    std::map<QString, QByteArray> hashes;  ///< of those that no process writes
    QProcess writer;                       ///< of the live one

    ~Foreign() {
        writer.kill();
        writer.waitForFinished();
    }
    QString changed() const {
        for (const auto& [path, hash] : hashes)
            if (hashOf(path) != hash) return path;
        return {};
    }
};

/// A laboratory and what is known of its runs.
struct Play {
    test::LabBench b{kSteps};
    const Foreign& foreign;
    std::mt19937 random;
    std::map<std::string, std::size_t> rows;  ///< of each run, at the last check
    QString trace;

    Play(const Foreign& files, unsigned seed) : foreign(files), random(seed) { small(); }
    int draw(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
    Lab& lab() const { return *b.lab; }
    const Comparison& now() const { return lab().comparison(); }
    /// Nothing of a large stack is measured.
    void small() {
        lab().view().setVisibleProbes({"growth"});
        for (const LabRun& run : now().runs)
            if (run.recipe.stack.depth > 2) return b.makeSmallKeepingUndo(kSteps);
    }
    void forget() { rows.clear(); }
};

struct Act {
    const char* name;
    void (*run)(Play&);
    bool replaces = false;  ///< the comparison, or the rows of its runs: nothing is compared with before
};

void open(Play& p, const QString& path) {
    QSignalSpy opened(&p.lab().session(), &LabSession::opened);
    p.lab().session().open(path);
    if (p.draw(2) == 0) return;  // the next act comes before the reply
    if (QTest::qWaitFor([&] { return opened.count() > 0; }, 5000)) p.small();
}

const std::vector<Act>& acts() {
    static const std::vector<Act> all{
        {"train", [](Play& p) { p.lab().training().play(); }, true},
        {"pause", [](Play& p) { p.lab().training().pause(); }},
        {"single step", [](Play& p) { p.lab().training().singleStep(); }, true},
        {"stop", [](Play& p) { p.lab().training().stop(); }},
        {"scrub", [](Play& p) { p.lab().view().setStep(p.draw(kSteps + 3)); }},
        {"select", [](Play& p) { p.lab().runs().select(p.draw(static_cast<int>(p.now().runs.size()))); }},
        {"fork", [](Play& p) { p.lab().forks().forkSelected(1 + p.draw(4)); }},
        {"measure", [](Play& p) { p.lab().measurement().measureHere(); }},
        {"pin", [](Play& p) { p.lab().runs().pinSelected(); }},
        {"seeds",
         [](Play& p) {
             if (p.now().runs.size() < 6) p.lab().runs().addSeeds(1);
         }},
        {"remove", [](Play& p) { p.lab().runs().remove(p.draw(static_cast<int>(p.now().runs.size()))); }},
        {"hot knob",
         [](Play& p) { p.lab().knobs().commitKey("stack.residual_step", p.draw(2) ? 1.0 : 0.3); }},
        {"depth", [](Play& p) { p.lab().knobs().commitKey("stack.depth", 1 + p.draw(2)); }},
        {"replace", [](Play& p) { p.lab().training().replaceRuns(); }, true},
        {"start new",
         [](Play& p) {
             if (p.now().runs.size() < 6) p.lab().training().startNewRuns();
         }},
        {"undo", [](Play& p) { p.lab().runs().undoStack()->undo(); }, true},
        {"redo", [](Play& p) { p.lab().runs().undoStack()->redo(); }, true},
        {"remedy",
         [](Play& p) {
             if (const RemedyTrials* trials = p.lab().remedies().trials(); trials && !trials->shown().empty())
                 p.lab().remedies().tryOut({trials->shown().front()});
         }},
        {"save", [](Play& p) { p.lab().session().save(p.b.folder.filePath("own.h5"), "{}"); }},
        {"save into another's", [](Play& p) { p.lab().session().save(p.foreign.live, "{}"); }},
        {"new",
         [](Play& p) {
             p.lab().view().setVisibleProbes({});
             p.lab().session().startOver();
             p.small();
         },
         true},
        {"open", [](Play& p) { open(p, p.foreign.session); }, true},
        {"open stopped", [](Play& p) { open(p, p.foreign.stopped); }, true},
        {"open live", [](Play& p) { open(p, p.foreign.live); }, true},
        {"quit and start",
         [](Play& p) {
             const QString companion = p.b.folder.filePath("companion.h5");
             SavedComparison kept = p.lab().session().savedComparison(companion, true);
             p.lab().session().saveWindowNow(
                 {p.b.folder.filePath("state.json"), "{}", std::move(kept.companion)});
             p.b.lab = std::make_unique<Lab>(Lab::Options{1, p.b.folder.path(), {}});
             p.lab().view().setVisibleProbes({});
             QSignalSpy restored(&p.lab().session(), &LabSession::restored);
             p.lab().session().restore(kept.runs, companion);
             if (QTest::qWaitFor([&] { return restored.count() > 0; }, 5000)) p.small();
         },
         true},
    };
    return all;
}

/// What does not hold; empty: all of it does.
QString wrong(Play& p) {
    assertSound(p.now());
    std::map<std::string, std::size_t> rows;
    for (const LabRun& run : p.now().runs) {
        const QString name = QString::fromStdString(run.data->name);
        if (!test::sound(*run.data)) return name + " has a gap";
        // A session that was asked for before may have come meanwhile.
        const std::string id = p.lab().session().path().toStdString() + "/" + run.id;
        rows[id] = run.data->steps.rows();
        const auto before = p.rows.find(id);
        if (before != p.rows.end() && before->second > rows[id])
            return QString("%1 has %2 rows, had %3").arg(name).arg(rows[id]).arg(before->second);
        if (run.data->outcome.state == RunState::Finished &&
            run.data->steps.rows() < static_cast<std::size_t>(run.live.train.steps))
            return name + " has lost rows";
    }
    p.rows = rows;
    // One clock.
    for (const char* panel : {"growth", "gradients", "training"})
        if (p.lab().view().panelInput(panel, {}).step != p.lab().view().panelInput("growth", {}).step)
            return QString("%1 is at another step").arg(panel);
    // The button.
    using Next = TrainingControl::Act;
    const Next act = p.lab().training().nextAct();
    const auto any = [&](auto condition) {
        return std::any_of(p.now().runs.begin(), p.now().runs.end(), condition);
    };
    if ((act == Next::Pause) != p.lab().training().playing()) return "the button pauses what does not play";
    if (act == Next::Continue && !p.now().anyTraining()) return "the button resumes what does not train";
    if (act == Next::ResumeEnded && !any([](const LabRun& run) { return run.resumable(); }))
        return "the button resumes what has not stopped";
    if (act == Next::MoreSteps && p.lab().training().moreSteps() == 0)
        return "the button promises steps that no run can train";
    if ((act == Next::StartNew || act == Next::StartAgain) && !p.now().changesPending())
        return "the button starts what has not changed";
    if (act == Next::Follow && !p.lab().following().any()) return "the button follows nothing";
    if (act == Next::None && p.lab().training().moreSteps() > 0)
        return "the button has no act, and runs could go further";
    if (act == Next::None && any([](const LabRun& run) {
            return run.resumable() || (!run.trained() && !run.fixed() && run.rejection.empty());
        }))
        return "the button has no act, and a run could be trained";
    if (const QString path = p.foreign.changed(); !path.isEmpty()) return path + " was changed";
    return {};
}

/// Everything that runs ends, and every request was answered.
QString unsettled(Play& p) {
    const auto over = [&] {
        if (p.now().anyTraining()) p.lab().training().stop();  // a fork may have begun since
        // A replay of a run that another process has trained for minutes takes as long.
        p.lab().measurement().cancel();
        p.lab().forks().cancel();
        const auto waiting = p.lab().waitingRequests();
        // A run that is followed is read again and again.
        return !p.now().anyTraining() &&
               std::all_of(waiting.begin(), waiting.end(), [](const auto& name) { return name == "follow"; });
    };
    if (QTest::qWaitFor(over, 60000)) return {};
    QString waits = p.now().anyTraining() ? QStringLiteral("a run trains") : QString();
    for (const std::string& name : p.lab().waitingRequests()) waits += u' ' + QString::fromStdString(name);
    return waits;
}

}  // namespace

class RandomActsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<Foreign> foreign_;

  private Q_SLOTS:
    void initTestCase() {
        foreign_ = std::make_unique<Foreign>();
        Foreign& f = *foreign_;
        f.writer.setStandardOutputFile(QProcess::nullDevice());
        QStringList arguments{
            "-n", "19", QStringLiteral(NORMSCOPE_CLI), "train", "post-ln", "--out", f.live, "--threads", "1"};
        // Steps that take a while: its file is opened again and again, and must not grow to gigabytes
        // meanwhile.
        for (const char* setting : {"stack.depth=2", "stack.d_model=64", "stack.heads=2", "stack.context=64",
                                    "batch=32", "steps=100000", "checkpoint.every=100000"})
            arguments << "--set" << setting;
        f.writer.start(QStringLiteral("nice"), arguments);
        QVERIFY(f.writer.waitForStarted());
        test::LabBench b(kSteps);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QSignalSpy saved(&b.lab->session(), &LabSession::saved);
        b.lab->session().save(f.session, "{}");
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        std::vector<RunData> stopped{b.run(0)};
        cut_after(stopped[0], 4);
        stopped[0].outcome = {RunState::Interrupted, 4, "", -1};
        save_session(f.stopped.toStdString(), stopped, "{}");
        for (const QString& path : {f.session, f.stopped}) f.hashes[path] = hashOf(path);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(f.live), 20000);
    }
    void cleanupTestCase() { foreign_.reset(); }

    void sequences_data() {
        QTest::addColumn<int>("seed");
        constexpr int kRows = 20;
        for (int row = 0; row < kRows; ++row) QTest::addRow("%d", row) << row * (kSequences / kRows);
    }
    void sequences() {
        QFETCH(int, seed);
        for (int i = 0; i < kSequences / 20; ++i) {
            Play p(*foreign_, static_cast<unsigned>(seed + i));
            for (int n = 0; n < kActs; ++n) {
                const Act& act = acts()[static_cast<std::size_t>(p.draw(static_cast<int>(acts().size())))];
                p.trace += QStringLiteral(" · ") + QLatin1String(act.name);
                if (act.replaces) p.forget();
                act.run(p);
                if (act.replaces) p.forget();
                QTest::qWait(p.draw(4));
                const QString failure = wrong(p);
                QVERIFY2(failure.isEmpty(),
                         qPrintable(QString("sequence %1:%2: %3").arg(seed + i).arg(p.trace, failure)));
                // Replies that replace the comparison come later.
                if (act.replaces) p.forget();
            }
            const QString waits = unsettled(p);
            QVERIFY2(waits.isEmpty(),
                     qPrintable(QString("sequence %1:%2: %3").arg(seed + i).arg(p.trace, waits)));
            p.forget();
            const QString failure = wrong(p);
            QVERIFY2(
                failure.isEmpty(),
                qPrintable(QString("sequence %1:%2: at the end %3").arg(seed + i).arg(p.trace, failure)));
        }
        QCOMPARE(foreign_->writer.state(), QProcess::Running);
    }

    /// The other process has every row of its file.
    void theLiveFileIsWhole() {
        foreign_->writer.kill();
        foreign_->writer.waitForFinished();
        const RunData run = open_session(foreign_->live.toStdString()).runs.at(0);
        QVERIFY(run.steps.rows() > 0);
        QVERIFY(test::sound(run));
    }
};

NORMSCOPE_TEST(RandomActsTest)
#include "random_acts_test.moc"
