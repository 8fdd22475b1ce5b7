// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the files' thread that keeps the state of a window between starts.
#include "app/lab/files/io_worker.h"
#include "app/lab/files/read_runs.h"
#include "core/base/error.h"
#include "core/session/replacing_file.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <fstream>
#include <set>

namespace normscope::app {

bool IoWorker::saveWindow(quint64 token, const SaveWindowRequest& request) {
    bool kept = false;
    try {
        const QString folder = QFileInfo(request.path).path();
        if (!QDir().mkpath(folder))
            throw SystemError(tr("%1: the folder cannot be made").arg(folder).toStdString());
        if (request.companion) writeSession(*request.companion);  // first: the state refers to it
        ReplacingFile file(request.path.toStdString());
        std::ofstream out(file.temporary(), std::ios::binary);
        out << request.text;
        out.close();
        if (!out) throw SystemError(request.path.toStdString() + ": cannot be written");
        file.commit();
        kept = true;
        saving_failed_ = false;
    } catch (const std::exception& error) {
        if (!std::exchange(saving_failed_, true))
            Q_EMIT problem(
                tr("The next start cannot restore this window: %1").arg(QString::fromUtf8(error.what())));
    }
    Q_EMIT windowSaved(token, kept);
    return kept;
}

namespace {

std::shared_ptr<LabRun> foundFile(const std::vector<LabRun>& runs, const std::string& id,
                                  const std::string& where) {
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const LabRun& r) { return r.id == id; });
    if (run == runs.end()) throw InputError(where + ": it holds no run " + id);
    return std::make_shared<LabRun>(*run);
}

}  // namespace

void IoWorker::restoreRuns(quint64 token, const std::vector<SavedRun>& kept, const QString& companion,
                           const FirstReading& first) {
    std::map<std::string, std::vector<LabRun>> sessions;  // each is read once
    std::set<std::string> unreadable;
    const auto session = [&](const std::string& path) -> const std::vector<LabRun>& {
        const auto known = sessions.find(path);
        if (known != sessions.end()) return known->second;
        return sessions[path] = runsOf(*readSession(QString::fromStdString(path), first));
    };
    const auto from = [&](const SavedRun& run) -> std::shared_ptr<LabRun> {
        std::shared_ptr<LabRun> restored;
        if (!run.recording.empty()) {
            RecoveredRuns read = runsOf({recovered(QString::fromStdString(run.recording))}, false);
            restored = std::make_shared<LabRun>(std::move(read.runs.at(0)));
        } else if (!run.session.empty()) {
            restored = foundFile(session(run.session), run.id, run.session);
        } else if (run.companion) {
            restored = foundFile(session(companion.toStdString()), run.id, companion.toStdString());
            restored->session.clear();
            return restored;
        }
        if (run.companion)
            guarded([&] {
                restored->data = std::make_shared<RunData>(*restored->data);
                const auto more =
                    foundFile(session(companion.toStdString()), run.id, companion.toStdString());
                for (const auto& [probe, samples] : more->data->probes)
                    for (const ProbeResult& sample : samples)
                        if (insert_sample(*restored->data, sample))
                            restored->replayed.emplace(probe, sample.step);
            });
        return restored;
    };
    auto runs = std::make_shared<std::vector<RestoredRun>>();
    for (const SavedRun& run : kept) {
        RestoredRun restored{run.id, nullptr};
        try {
            restored.run = from(run);
        } catch (const std::exception& error) {
            // One line a file.
            if (unreadable.insert(run.recording.empty() ? run.session : run.recording).second)
                Q_EMIT problem(tr("%1 is not restored: %2")
                                   .arg(QString::fromStdString(run.name), QString::fromUtf8(error.what())));
        }
        runs->push_back(std::move(restored));
    }
    Q_EMIT runsRestored(token, runs);
}

}  // namespace normscope::app
