// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/recordings.h"

#include "app/lab/files/read_runs.h"
#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

Recordings::Recordings(LabState& state, Edits& edits)
    : state_(state), edits_(edits), reading_(state.requests, "add from", Pending<QString>::Replies::OfEach) {
    IoWorker* io = state_.io();
    state_.onReply(io, &IoWorker::notRecorded, this, &Recordings::applyNotRecorded);
    state_.onReply(io, &IoWorker::recordingBegun, this, &Recordings::applyRecordingBegun);
    state_.onReply(io, &IoWorker::runsRecovered, this, &Recordings::applyRecovered);
    state_.onReply(io, &IoWorker::recordingsListed, this, &Recordings::listed);
    state_.onReply(io, &IoWorker::curveRead, this, &Recordings::curveRead);
    state_.onReply(io, &IoWorker::recordingTrashed, this, &Recordings::trashed);
    state_.onReply(state_.engine(), &Engines::followed, this, &Recordings::applyRead);
    connect(io, &IoWorker::interruptedFound, this, &Recordings::interruptedFound);
}

void Recordings::list() {
    QMetaObject::invokeMethod(state_.io(), &IoWorker::listRecordings);
}

void Recordings::readCurve(const QString& path) {
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), path] { io->readCurve(path); });
}

void Recordings::findInterrupted() {
    QMetaObject::invokeMethod(state_.io(), &IoWorker::findInterrupted);
}

void Recordings::add(const QStringList& paths) {
    QStringList fresh;
    for (const QString& path : paths) {
        if (const LabRun* run = recordedIn(state_.now, path))
            state_.selectRun(static_cast<int>(run - state_.now.runs.data()));
        else
            fresh << path;
    }
    if (fresh.isEmpty()) {
        Q_EMIT added();
        return;
    }
    const quint64 token = state_.files.additions.ask({Addition::From::Recordings});
    QMetaObject::invokeMethod(state_.io(),
                              [io = state_.io(), token, fresh] { io->recoverRuns(token, fresh); });
}

void Recordings::addFrom(const QString& machine_and_path) {
    const std::string file = machine_and_path.trimmed().toStdString();
    try {
        const auto [place, path] = parse_remote(file);
        if (path.rfind('/', 0) != 0)
            throw InputError(file + ": names no file there, allowed: ssh://host /path/to/run.h5");
        const QString whole = QString::fromStdString(place.text() + " " + path);
        for (std::size_t i = 0; i < state_.now.runs.size(); ++i) {
            const LabRun& run = state_.now.runs[i];
            if (run.followed && run.followed->path == whole.toStdString())
                return state_.selectRun(static_cast<int>(i));
        }
        state_.engine()->follow(place.text(), {reading_.ask(whole), {{"", path, {}}}});
    } catch (const InputError& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
}

/// Its first reading, which has everything.
void Recordings::applyRead(const FollowReplyPtr& reply) {
    const auto file = reading_.take(reply->token);
    if (!file) return;
    const FollowReply::Run& read = reply->runs.front();
    try {
        if (!read.growth) throw InputError(read.problem);
        LabRun run = makeRun(state_.newId(), read.growth->run.recipe.value(file->toStdString()));
        run.data = std::make_shared<RunData>(read.growth->run);
        run.data->id = run.id;
        const std::string& writer = read.growth->writer;
        if (run.unfinished() && writer.empty()) run = stopped(std::move(run));
        if (run.unfinished())
            run.followed =
                std::make_shared<Followed>(Followed{file->toStdString(), read.growth->mark, writer, 0});
        const QString name = QString::fromStdString(run.data->name);
        Comparison after = state_.now;
        after.runs.push_back(std::move(run));
        edits_.commit(std::move(after), tr("add %1").arg(name));
        state_.selectRun(static_cast<int>(state_.now.runs.size()) - 1);
    } catch (const InputError& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
    Q_EMIT added();
}

/// Not of recordings that replace the comparison (LabSession).
void Recordings::applyRecovered(quint64 token, const QList<RecoveredRun>& recovered) {
    if (state_.files.additions.take(token)) addRuns(recovered);
}

void Recordings::addRuns(const QList<RecoveredRun>& recovered) {
    RecoveredRuns found;
    try {
        found = runsOf(recovered, false);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
        Q_EMIT added();
        return;
    }
    Comparison after = state_.now;
    QString name;
    std::string newest;
    std::size_t count = 0;
    for (LabRun& run : found.runs) {
        const std::string& file = run.followed ? run.followed->path : run.recording;
        if (recordedIn(state_.now, QString::fromStdString(file))) continue;  // asked for twice
        run.id = state_.newId();  // a recording's own id may be that of another run here
        run.data->id = run.id;
        for (KnownCheckpoint& known : run.checkpoints) known.source.run_id = run.id;
        name = QString::fromStdString(run.data->name);
        LabRun taken = std::move(run);
        // A run that waits to be trained would be this one: next to it, it would be a second run of its seed.
        const auto waits = std::find_if(after.runs.begin(), after.runs.end(), [&](const LabRun& other) {
            return !other.committed() && !other.fixed() && same_recipe(other.recipe, taken.recipe);
        });
        newest = taken.id;
        if (waits != after.runs.end())
            *waits = std::move(taken);
        else
            after.runs.push_back(std::move(taken));
        ++count;
    }
    if (count > 0) {
        edits_.commit(std::move(after), count == 1 ? tr("add %1").arg(name) : tr("add %1 runs").arg(count));
        for (std::size_t i = 0; i < state_.now.runs.size(); ++i)
            if (state_.now.runs[i].id == newest) state_.selectRun(static_cast<int>(i));
    }
    Q_EMIT added();
}

void Recordings::trash(const QString& path) {
    if (const LabRun* run = recordedIn(state_.now, path)) {
        Q_EMIT state_.problem(tr("%1 is in the comparison: remove it there first")
                                  .arg(QString::fromStdString(run->data->name)));
        return;
    }
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), path] { io->trashRecording(path); });
}

void Recordings::untrash(const QList<std::pair<QString, QString>>& files) {
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), files] { io->untrash(files); });
}

// --- the recordings of the comparison's runs

/// Ids may be those of an earlier session's runs: only the start distinguishes them.
void Recordings::applyRecordingBegun(quint64 training, const QString& id, const QString& path) {
    if (LabRun* run = state_.now.find(id.toStdString()); run && run->training == training) {
        run->recording = path.toStdString();
        run->session.clear();
    }
}

void Recordings::applyNotRecorded(quint64 training, const QString& id, const QString& line) {
    LabRun* run = state_.now.find(id.toStdString());
    if (run && run->training != training) run = nullptr;
    if (run && run->not_recorded == line.toStdString()) return;
    Q_EMIT state_.problem(line);
    if (!run) return;
    run->not_recorded = line.toStdString();
    Q_EMIT state_.noticesChanged();
}

}  // namespace normscope::app
