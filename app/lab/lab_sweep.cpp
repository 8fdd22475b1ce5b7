// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory for the runs of sweeps: their recordings, added to the comparison.
#include "app/lab/lab.h"

#include <algorithm>
#include <exception>

namespace normscope::app {

FileCalls callsIn(IoWorker* io) {
    return [io](const std::function<void()>& work) {
        std::exception_ptr error;
        QMetaObject::invokeMethod(
            io,
            [&work, &error] {
                try {
                    work();
                } catch (...) {
                    error = std::current_exception();
                }
            },
            Qt::BlockingQueuedConnection);
        if (error) std::rethrow_exception(error);
    };
}

void Lab::addRecordings(const QStringList& recordings) {
    QStringList fresh;
    for (const QString& path : recordings) {
        const auto known = std::find_if(now_.runs.begin(), now_.runs.end(), [&](const LabRun& run) {
            return run.recording == path.toStdString();
        });
        if (known == now_.runs.end())
            fresh << path;
        else if (path == recordings.back())
            selectRun(static_cast<int>(known - now_.runs.begin()));
    }
    if (fresh.isEmpty()) {
        Q_EMIT recordingsAdded();
        return;
    }
    QMetaObject::invokeMethod(
        io_.get(), [io = io_.get(), token = files_.import(), fresh] { io->recoverRuns(token, fresh); });
}

void Lab::takeAdded(const QList<RecoveredRun>& recovered) {
    try {
        RecoveredRuns found = runsOf(recovered, false);
        Comparison after = now_;
        for (std::size_t i = 0; i < found.runs.size(); ++i) {
            LabRun& run = found.runs[i];
            run.recording = recovered[static_cast<qsizetype>(i)].path.toStdString();
            if (std::any_of(now_.runs.begin(), now_.runs.end(),
                            [&](const LabRun& known) { return known.recording == run.recording; }))
                continue;  // asked for twice
            run.id = run.data->id = newId();
            for (KnownCheckpoint& known : run.checkpoints) known.source.run_id = run.id;
            after.runs.push_back(std::move(run));
        }
        if (const auto added = after.runs.size() - now_.runs.size(); added > 0) {
            const QString name = QString::fromStdString(after.runs.back().data->name);
            commit(std::move(after), added == 1 ? tr("open %1").arg(name) : tr("open %1 runs").arg(added));
            selectRun(static_cast<int>(now_.runs.size()) - 1);
        }
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
    Q_EMIT recordingsAdded();
}

}  // namespace normscope::app
