// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every laboratory after any act, for the tests that draw sequences of acts: the runs have
// their rows, the button states what it does, all panels show one step, and the files of others are as they
// were.
#pragma once

#include "core/session/recording/recovery.h"
#include "core/session/session.h"
#include "lab_bench.h"
#include "post.h"

#include <QCryptographicHash>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <map>

namespace normscope::test {

inline QByteArray hashOf(const QString& path) {
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
    /// Writes them, with runs of so many steps, and starts the process; fails the test where it cannot.
    void make(int steps);
    QString changed() const {
        for (const auto& [path, hash] : hashes)
            if (hashOf(path) != hash) return path;
        return {};
    }
};

inline void Foreign::make(int steps) {
    writer.setStandardOutputFile(QProcess::nullDevice());
    QStringList arguments{"-n",        "19", QStringLiteral(NORMSCOPE_CLI), "train", "post-ln", "--out", live,
                          "--threads", "1"};
    // Steps that take a while: its file is opened again and again, and must not grow to gigabytes
    // meanwhile.
    for (const char* setting : {"stack.depth=2", "stack.d_model=64", "stack.heads=2", "stack.context=64",
                                "batch=32", "steps=100000", "checkpoint.every=100000"})
        arguments << "--set" << setting;
    writer.start(QStringLiteral("nice"), arguments);
    QVERIFY(writer.waitForStarted());
    LabBench b(steps);
    b.lab->training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
    QSignalSpy saved(&b.lab->session(), &app::LabSession::saved);
    b.lab->session().save(session, "{}");
    QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
    std::vector<RunData> runs{b.run(0)};
    cut_after(runs[0], 4);
    runs[0].outcome = {RunState::Interrupted, 4, "", -1};
    save_session(stopped.toStdString(), runs, "{}");
    for (const QString& path : {session, stopped}) hashes[path] = hashOf(path);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(live), 20000);
}

/// What does not hold; empty: all of it does.
inline QString wrong(const app::Lab& lab, std::map<std::string, std::size_t>& rows_before,
                     const Foreign& foreign) {
    using namespace app;
    const Comparison& now = lab.comparison();
    assertSound(now);
    std::map<std::string, std::size_t> rows;
    for (const LabRun& run : now.runs) {
        const QString name = QString::fromStdString(run.data->name);
        if (!test::sound(*run.data)) return name + " has a gap";
        // A session that was asked for before may have come meanwhile.
        const std::string id = lab.session().path().toStdString() + "/" + run.id;
        rows[id] = run.data->steps.rows();
        const auto before = rows_before.find(id);
        if (before != rows_before.end() && before->second > rows[id])
            return QString("%1 has %2 rows, had %3").arg(name).arg(rows[id]).arg(before->second);
        if (run.data->outcome.state == RunState::Finished &&
            run.data->steps.rows() < static_cast<std::size_t>(run.live.train.steps))
            return name + " has lost rows";
    }
    rows_before = rows;
    // One clock.
    for (const char* panel : {"growth", "gradients", "training"})
        if (lab.view().panelInput(panel, {}).step != lab.view().panelInput("growth", {}).step)
            return QString("%1 is at another step").arg(panel);
    // The button.
    using Next = TrainingControl::Act;
    const Next act = lab.training().nextAct();
    const auto any = [&](auto condition) {
        return std::any_of(lab.comparison().runs.begin(), lab.comparison().runs.end(), condition);
    };
    if ((act == Next::Pause) != lab.training().playing()) return "the button pauses what does not play";
    if (act == Next::Continue && !lab.comparison().anyTraining())
        return "the button resumes what does not train";
    if (act == Next::ResumeEnded && !any([](const LabRun& run) { return run.resumable(); }))
        return "the button resumes what has not stopped";
    if (act == Next::MoreSteps && lab.training().moreSteps() == 0)
        return "the button promises steps that no run can train";
    if ((act == Next::StartNew || act == Next::StartAgain) && !lab.comparison().changesPending())
        return "the button starts what has not changed";
    if (act == Next::Follow && !lab.following().any()) return "the button follows nothing";
    if (act == Next::None && lab.training().moreSteps() > 0)
        return "the button has no act, and runs could go further";
    if (act == Next::None && any([](const LabRun& run) {
            return run.resumable() || (!run.trained() && !run.fixed() && run.rejection.empty());
        }))
        return "the button has no act, and a run could be trained";
    if (const QString path = foreign.changed(); !path.isEmpty()) return path + " was changed";
    return {};
}

/// Everything that runs ends, and every request was answered.
inline QString unsettled(app::Lab& lab) {
    const auto over = [&] {
        if (lab.comparison().anyTraining()) lab.training().stop();  // a fork may have begun since
        // A replay of a run that another process has trained for minutes takes as long.
        lab.measurement().cancel();
        lab.forks().cancel();
        const auto waiting = lab.waitingRequests();
        // A run that is followed is read again and again.
        return !lab.comparison().anyTraining() &&
               std::all_of(waiting.begin(), waiting.end(), [](const auto& name) { return name == "follow"; });
    };
    if (QTest::qWaitFor(over, 60000)) return {};
    QString waits = lab.comparison().anyTraining() ? QStringLiteral("a run trains") : QString();
    for (const std::string& name : lab.waitingRequests()) waits += u' ' + QString::fromStdString(name);
    return waits;
}

}  // namespace normscope::test
