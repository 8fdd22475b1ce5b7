// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/io_worker.h"

#include "core/session/checkpoint.h"
#include "core/session/recovery.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QTimer>

namespace normscope::app {

/// One live recording. The recorder is opened with the first samples: under SWMR their shapes must be known
/// before.
struct IoWorker::Recording {
    Recording(const QString& file, RunDataPtr first_header)
        : path(file), header(std::move(first_header)), checkpoints(file.toStdString()) {}

    QString path;
    RunDataPtr header;
    std::unique_ptr<Recorder> recorder;
    CheckpointPair checkpoints;
    RunDelta waiting;  ///< what came before the first samples
};

IoWorker::IoWorker(QString recordings_folder) : folder_(std::move(recordings_folder)) {
    qRegisterMetaType<SaveRequest>();
    qRegisterMetaType<OpenedSessionPtr>();
    qRegisterMetaType<ImportedModelPtr>();
    qRegisterMetaType<QList<InterruptedRun>>();
    qRegisterMetaType<QList<RecoveredRun>>();
    qRegisterMetaType<CheckpointSource>();
    heartbeat_ = new QTimer(this);
    heartbeat_->setInterval(1000);
    connect(heartbeat_, &QTimer::timeout, this, &IoWorker::heartbeat);
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

template <class Work>
bool IoWorker::guarded(Work&& work) {
    try {
        work();
        return true;
    } catch (const std::exception& error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
        return false;
    }
}

QString IoWorker::newPath(const std::string& id) const {
    const QString stem = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd'T'HH-mm-ss-zzz")) +
                         QLatin1Char('-') + QString::fromStdString(id);
    return QDir(folder_).filePath(stem + QStringLiteral(".h5"));
}

void IoWorker::continueAt(const QString& id, const QString& path) {
    continued_[id] = path;
}

void IoWorker::beginRecording(const RunDataPtr& header) {
    const QString id = QString::fromStdString(header->id);
    if (!QDir().mkpath(folder_)) {
        Q_EMIT problem(
            tr("%1: the folder of recordings can not be made; this run is not recorded").arg(folder_));
        return;
    }
    const auto known = continued_.extract(id);
    recordings_[id] = std::make_unique<Recording>(known ? known.mapped() : newPath(header->id), header);
    if (!heartbeat_->isActive()) heartbeat_->start();
}

void IoWorker::record(const QString& id, const RunDeltaPtr& delta) {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;  // recording failed earlier and was reported then
    Recording& r = *found->second;
    const bool ok = guarded([&] {
        if (!r.recorder) {
            // A run that goes on knows its series; one that begins learns them with its first samples.
            const bool continues = r.header->steps.rows() > 0;
            if (!continues && delta->probes.empty()) {
                r.waiting.events.insert(r.waiting.events.end(), delta->events.begin(), delta->events.end());
                if (delta->outcome) r.waiting.outcome = delta->outcome;
                return;
            }
            r.recorder = std::make_unique<Recorder>(
                r.path.toStdString(),
                continues ? recording_schema(*r.header) : recording_schema(*r.header, delta->probes),
                continues ? r.header.get() : nullptr);
            append(*r.recorder, r.waiting);
        }
        append(*r.recorder, *delta);
    });
    if (!ok) recordings_.erase(found);
}

void IoWorker::saveCheckpoint(const QString& id, const CheckpointPtr& checkpoint) {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;
    guarded([&] {
        CheckpointPair& pair = found->second->checkpoints;
        checkpoint->step == 0 ? pair.save_start(*checkpoint) : pair.save(*checkpoint);
    });
}

void IoWorker::endRecording(const QString& id) {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;
    guarded([&] {
        if (found->second->recorder) found->second->recorder->close();
    });
    recordings_.erase(found);
    if (recordings_.empty()) heartbeat_->stop();
}

void IoWorker::heartbeat() {
    for (auto it = recordings_.begin(); it != recordings_.end();) {
        Recorder* recorder = it->second->recorder.get();
        const bool ok = !recorder || guarded([&] { recorder->heartbeat(); });
        it = ok ? std::next(it) : recordings_.erase(it);
    }
}

void IoWorker::saveSession(const SaveRequest& request) {
    std::vector<const RunData*> runs;
    for (const auto& run : request.runs) runs.push_back(run.get());
    auto checkpoints = request.checkpoints;
    if (guarded([&] {
            for (const auto& [place, weights] : request.weights)
                checkpoints.push_back({runs[place]->id, std::make_shared<const Checkpoint>(
                                                            startCheckpoint(*runs[place], *weights))});
            save_session(request.path.toStdString(), runs, request.view_json, checkpoints);
        }))
        Q_EMIT sessionSaved(request.token, request.path);
    else
        Q_EMIT savingFailed(request.token);
}

void IoWorker::openSession(quint64 token, const QString& path) {
    guarded([&] {
        auto opened =
            std::make_shared<OpenedSession>(OpenedSession{path, open_session(path.toStdString()), {}});
        for (const RunData& run : opened->session.runs)
            if (auto weights = startWeightsOf(run, opened->session))
                opened->weights[run.id] = std::move(weights);
        for (const auto& warning : opened->session.warnings) Q_EMIT problem(QString::fromStdString(warning));
        Q_EMIT sessionOpened(token, opened);
    });
}

void IoWorker::findInterrupted() {
    QList<InterruptedRun> found;
    const QDir folder(folder_);
    for (const QFileInfo& file : folder.entryInfoList({QStringLiteral("*.h5")}, QDir::Files, QDir::Name)) {
        if (file.fileName().contains(QLatin1String(".ckpt."))) continue;
        try {
            const RunData run = recover(file.filePath().toStdString());
            if (run.outcome.state == RunState::Interrupted && run.steps.rows() > 0)
                found.append({file.filePath(), QString::fromStdString(run.name), run.steps.step.back()});
        } catch (const std::exception&) {
            // Not a recording that can be offered: a person who opens it by hand is told why.
        }
    }
    Q_EMIT interruptedFound(found);
}

void IoWorker::recoverRuns(quint64 token, const QStringList& paths) {
    QList<RecoveredRun> runs;
    for (const QString& path : paths)
        guarded([&] {
            RecoveredRun run{path, nullptr, nullptr, nullptr, nullptr};
            run.data = std::make_shared<const RunData>(recover(path.toStdString()));
            const CheckpointPair pair(path.toStdString());
            const auto kept = [](std::optional<Checkpoint> checkpoint) {
                return checkpoint ? std::make_shared<const Checkpoint>(std::move(*checkpoint)) : nullptr;
            };
            guarded([&] { run.start = kept(pair.start()); });
            run.checkpoint = kept(pair.newest());
            // Recordings of earlier versions had the one of step 0 among the others.
            if (!run.start && run.checkpoint && run.checkpoint->step == 0) run.start = run.checkpoint;
            if (!run.checkpoint) run.checkpoint = run.start;
            if (run.start) run.weights = startWeightsOf(*run.data, *run.start);
            if (!run.weights && startedFromWeights(*run.data))
                Q_EMIT problem(
                    tr("%1: the weights that the run started from are not kept beside it; a new run "
                       "of its recipe draws its own")
                        .arg(path));
            runs.append(std::move(run));
        });
    Q_EMIT runsRecovered(token, runs);
}

void IoWorker::importModel(quint64 token, const QString& path) {
    guarded([&] {
        Q_EMIT modelImported(token, path,
                             std::make_shared<const ImportedModel>(import_model(path.toStdString())));
    });
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
