// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory for the folder of recordings: its list, and runs added from it.
#include "app/lab/files/read_runs.h"
#include "app/lab/lab.h"

#include <algorithm>

namespace normscope::app {

void Lab::listRecordings() {
    QMetaObject::invokeMethod(io_.get(), &IoWorker::listRecordings);
}

void Lab::readCurve(const QString& path) {
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), path] { io->readCurve(path); });
}

const LabRun* Lab::recordedIn(const QString& path) const {
    const auto run = std::find_if(now_.runs.begin(), now_.runs.end(), [&](const LabRun& r) {
        return !r.recording.empty() && r.recording == path.toStdString();
    });
    return run == now_.runs.end() ? nullptr : &*run;
}

void Lab::addRecordings(const QStringList& paths) {
    QStringList fresh;
    for (const QString& path : paths) {
        if (const LabRun* run = recordedIn(path))
            selectRun(static_cast<int>(run - now_.runs.data()));
        else
            fresh << path;
    }
    if (fresh.isEmpty()) {
        Q_EMIT recordingsAdded();
        return;
    }
    const quint64 token = files_.additions.ask({Addition::From::Recordings});
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), token, fresh] { io->recoverRuns(token, fresh); });
}

void Lab::applyAdded(const QList<RecoveredRun>& recovered) {
    RecoveredRuns found;
    try {
        found = runsOf(recovered, false);
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        Q_EMIT recordingsAdded();
        return;
    }
    Comparison after = now_;
    QString name;
    std::string newest;
    std::size_t added = 0;
    for (LabRun& run : found.runs) {
        if (recordedIn(QString::fromStdString(run.recording))) continue;  // asked for twice
        run.id = newId();  // a recording's own id may be that of another run here
        run.data->id = run.id;
        for (KnownCheckpoint& known : run.checkpoints) known.source.run_id = run.id;
        name = QString::fromStdString(run.data->name);
        LabRun taken = std::move(run);
        // A run that waits to be trained would be this one: next to it, it would be a second run of its seed.
        const auto waits = std::find_if(after.runs.begin(), after.runs.end(), [&](const LabRun& other) {
            return !other.committed() && !other.pinned && same_recipe(other.recipe, taken.recipe);
        });
        newest = taken.id;
        if (waits != after.runs.end())
            *waits = std::move(taken);
        else
            after.runs.push_back(std::move(taken));
        ++added;
    }
    if (added > 0) {
        commit(std::move(after), added == 1 ? tr("add %1").arg(name) : tr("add %1 runs").arg(added));
        for (std::size_t i = 0; i < now_.runs.size(); ++i)
            if (now_.runs[i].id == newest) selectRun(static_cast<int>(i));
    }
    Q_EMIT recordingsAdded();
}

void Lab::trashRecording(const QString& path) {
    if (const LabRun* run = recordedIn(path)) {
        Q_EMIT problem(tr("%1 is in the comparison: remove it there first")
                           .arg(QString::fromStdString(run->data->name)));
        return;
    }
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), path] { io->trashRecording(path); });
}

void Lab::untrash(const QList<std::pair<QString, QString>>& files) {
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), files] { io->untrash(files); });
}

}  // namespace normscope::app
