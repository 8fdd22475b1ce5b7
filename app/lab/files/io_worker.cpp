// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/files/io_worker.h"

#include "core/base/error.h"
#include "core/findings/healthy_runs.h"
#include "core/run/checkpoints/resume.h"
#include "core/session/checkpoint.h"
#include "core/session/describe.h"
#include "core/session/recording/recovery.h"
#include "core/session/recording/settle.h"

#include <QDateTime>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTimer>

namespace normscope::app {

IoWorker::IoWorker(QString recordings_folder)
    : folder_(std::move(recordings_folder)),
      recordings_(folder_.toStdString(),
                  {[this](std::uint64_t training, const std::string& id, const std::string& path) {
                       Q_EMIT recordingBegun(training, QString::fromStdString(id),
                                             QString::fromStdString(path));
                   },
                   [this](std::uint64_t training, const std::string& id, const std::string& line) {
                       Q_EMIT notRecorded(training, QString::fromStdString(id), QString::fromStdString(line));
                   }}) {
    qRegisterMetaType<SaveRequest>();
    qRegisterMetaType<FileIdentity>();
    qRegisterMetaType<OpenedSessionPtr>();
    qRegisterMetaType<RemainderReplyPtr>();
    qRegisterMetaType<ImportedModelPtr>();
    qRegisterMetaType<QList<InterruptedRun>>();
    qRegisterMetaType<QList<RecoveredRun>>();
    qRegisterMetaType<CheckpointSource>();
    qRegisterMetaType<FollowReplyPtr>();
    qRegisterMetaType<RestoredRunsPtr>();
    qRegisterMetaType<QList<RecordingRow>>();
    qRegisterMetaType<RecordingCurve>();
    qRegisterMetaType<QList<std::pair<QString, QString>>>();
    heartbeat_ = new QTimer(this);
    heartbeat_->setInterval(1000);
    connect(heartbeat_, &QTimer::timeout, this, [this] { recordings_.heartbeat(); });
}

IoWorker::~IoWorker() = default;

namespace {

CheckpointPtr loaded(const CheckpointSource& source) {
    if (const auto* memory = std::get_if<std::shared_ptr<const Checkpoint>>(&source.from)) return *memory;
    if (const auto* file = std::get_if<std::string>(&source.from))
        return std::make_shared<const Checkpoint>(read_checkpoint(*file));
    const auto& inside = std::get<EmbeddedCheckpoint>(source.from);
    return std::make_shared<const Checkpoint>(
        normscope::load_checkpoint(inside.session_path, inside.run_id, inside.step));
}

}  // namespace

void IoWorker::record(const std::shared_ptr<RecordingQueue>& queue) {
    recordings_.record(*queue);
    if (recordings_.empty())
        heartbeat_->stop();
    else if (!heartbeat_->isActive())
        heartbeat_->start();
}

FileIdentity writeSession(const SaveRequest& request) {
    std::vector<const RunData*> runs;
    for (const auto& run : request.runs) runs.push_back(run.get());
    auto checkpoints = request.checkpoints;
    for (const auto& [place, weights] : request.weights)
        checkpoints.push_back(
            {runs[place]->id, std::make_shared<const Checkpoint>(startCheckpoint(*runs[place], *weights))});
    return save_session(request.path.toStdString(), runs, request.view_json, checkpoints, request.as_read);
}

void IoWorker::saveSession(const SaveRequest& request) {
    FileIdentity written;
    const bool done = guarded([&] {
        SaveRequest asked = request;
        // An earlier save of this window may have been written since this one was asked for.
        const auto own = saved_.find(request.path);
        if (asked.as_read && own != saved_.end() && own->second == identity_of(request.path.toStdString()))
            asked.as_read = own->second;
        saved_[request.path] = written = writeSession(asked);
    });
    if (done)
        Q_EMIT sessionSaved(request.token, request.path, written);
    else
        Q_EMIT savingFailed(request.token);
}

OpenedSessionPtr readSession(const QString& path, const FirstReading& first) {
    const FileIdentity file = identity_of(path.toStdString());
    auto opened = std::make_shared<OpenedSession>(
        OpenedSession{path, file, open_outline(path.toStdString(), first.probes, first.most_bytes), {}, {}});
    for (const RunData& run : opened->session.runs)
        if (auto weights = startWeightsOf(run, opened->session)) opened->weights[run.id] = std::move(weights);
    for (RunData& run : opened->session.runs)
        opened->runs.push_back(std::make_shared<RunData>(std::move(run)));
    opened->session.runs.clear();
    return opened;
}

/// Closes the recording of a killed process for other programs. Where that is not possible (a folder that
/// cannot be written) it is read as it is.
void IoWorker::settle(const QString& path) {
    try {
        settle_recording(path.toStdString());
    } catch (const SystemError&) {
    } catch (const InputError&) {
        // What cannot be read is reported by the reading that follows.
    }
}

void IoWorker::openSession(quint64 token, const QString& path, const FirstReading& first) {
    OpenedSessionPtr opened;
    settle(path);
    guarded([&] {
        opened = readSession(path, first);
        for (const auto& warning : opened->session.warnings) Q_EMIT problem(QString::fromStdString(warning));
    });
    Q_EMIT sessionOpened(token, opened);
}

void IoWorker::readRemainder(const RemainderRequestPtr& request) {
    readNext(std::make_shared<RemainderReply>(RemainderReply{request, {}, {}}));
}

void IoWorker::readNext(const RemainderReplyPtr& reply) {
    const RemainderRequest& request = *reply->request;
    if (request.cancelled) return;
    if (reply->rests.size() == request.runs.size()) {
        Q_EMIT remainderRead(reply);
        return;
    }
    try {
        reply->rests.push_back(read_remainder(*request.runs[reply->rests.size()]));
    } catch (const std::exception& error) {
        reply->rests.push_back(std::nullopt);
        if (reply->problem.isEmpty()) reply->problem = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this, [this, reply] { readNext(reply); }, Qt::QueuedConnection);
}

void IoWorker::findInterrupted() {
    QList<InterruptedRun> found;
    for (const QFileInfo& file :
         QDir(folder_).entryInfoList({QStringLiteral("*.h5")}, QDir::Files, QDir::Name)) {
        if (file.fileName().contains(QLatin1String(".ckpt."))) continue;
        try {
            const std::vector<RunHead> heads = heads_of(file.filePath().toStdString());
            if (heads.size() != 1) continue;
            const RunHead& head = heads.front();
            const bool unfinished =
                head.outcome.state == RunState::Interrupted || head.outcome.state == RunState::Failed;
            if (unfinished && head.last_step >= 0)
                found.append({file.filePath(), QString::fromStdString(head.name), head.last_step});
        } catch (const std::exception&) {
            // Not a recording that can be offered: opening it reports the reason.
        }
    }
    Q_EMIT interruptedFound(found);
}

/// Throws InputError.
RecoveredRun IoWorker::recovered(const QString& path) {
    settle(path);
    RecoveredRun run{path, nullptr, nullptr, nullptr, nullptr, identity_of(path.toStdString())};
    run.data = std::make_shared<const RunData>(recover(path.toStdString()));
    const CheckpointPair pair(path.toStdString());
    const auto kept = [](std::optional<Checkpoint> checkpoint) {
        return checkpoint ? std::make_shared<const Checkpoint>(std::move(*checkpoint)) : nullptr;
    };
    guarded([&] { run.start = kept(pair.start()); });
    run.checkpoint = kept(resumable_checkpoint(path.toStdString(), *run.data));
    // Recordings of earlier versions stored that of step 0 with the others.
    if (!run.start && run.checkpoint && run.checkpoint->step == 0) run.start = run.checkpoint;
    if (!run.checkpoint) run.checkpoint = run.start;
    if (run.start) run.weights = startWeightsOf(*run.data, *run.start);
    if (!run.weights && startedFromWeights(*run.data))
        Q_EMIT problem(tr("%1: the weights that the run started from are not stored with it; a new run "
                          "of its recipe draws its own")
                           .arg(path));
    return run;
}

void IoWorker::recoverRuns(quint64 token, const QStringList& paths) {
    QList<RecoveredRun> runs;
    for (const QString& path : paths) guarded([&] { runs.append(recovered(path)); });
    Q_EMIT runsRecovered(token, runs);
}

void IoWorker::follow(const FollowRequest& request) {
    Q_EMIT followed(std::make_shared<const FollowReply>(readGrowth(request)));
}

void IoWorker::importModel(quint64 token, const QString& path) {
    ImportedModelPtr model;
    guarded([&] { model = std::make_shared<const ImportedModel>(import_model(path.toStdString())); });
    Q_EMIT modelImported(token, path, model);
}

void IoWorker::readHealthy(quint64 token, const QString& folder, double rate) {
    HealthyBandPtr band;
    guarded([&] {
        try {
            band = std::make_shared<const HealthyBand>(healthy_runs({folder.toStdString()}), rate);
        } catch (const InputError& error) {
            // Of too few runs the line names no file.
            const std::string line = error.what();
            throw line.starts_with(folder.toStdString()) ? error
                                                         : InputError(folder.toStdString() + ": " + line);
        }
    });
    Q_EMIT healthyRead(token, folder, band);
}

void IoWorker::loadCheckpoint(quint64 token, const CheckpointSource& source) {
    CheckpointPtr checkpoint;
    guarded([&] { checkpoint = loaded(source); });
    Q_EMIT checkpointLoaded(token, checkpoint);
}

void IoWorker::fetchCheckpoints(const MeasureRequestPtr& request) {
    auto fetched = std::make_shared<MeasureRequest>(*request);
    for (MeasurePlan& plan : fetched->runs) {
        if (!plan.from) continue;
        try {
            plan.replay.checkpoint = loaded(*plan.from);
        } catch (const std::exception& error) {
            plan.failed = QString::fromUtf8(error.what());
        }
    }
    Q_EMIT checkpointsFetched(fetched);
}

}  // namespace normscope::app
