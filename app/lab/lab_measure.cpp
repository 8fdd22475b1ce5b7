// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory that measures a step by replay.
#include "app/lab/lab.h"
#include "core/probe/registry.h"
#include "core/run/known_series.h"
#include "core/session/run_header.h"

#include <algorithm>

namespace normscope::app {

namespace {

/// Its newest checkpoint at or before a step.
const KnownCheckpoint* nearestCheckpoint(const LabRun& run, std::int64_t step) {
    const KnownCheckpoint* best = nullptr;
    for (const KnownCheckpoint& known : run.checkpoints)
        if (known.step <= step && (!best || known.step > best->step)) best = &known;
    return best;
}

/// The same question before a checkpoint is read: whether events of its own step precede it is only known
/// from the checkpoint.
std::string obstacleFrom(const std::vector<RunEvent>& events, const KnownCheckpoint* known,
                         std::int64_t step) {
    if (!known) return replay_obstacle(events, nullptr, step);
    if (const auto* memory = std::get_if<std::shared_ptr<const Checkpoint>>(&known->source.from))
        return replay_obstacle(events, memory->get(), step);
    Checkpoint unread;
    unread.step = known->step;
    std::vector<RunEvent> later;
    std::copy_if(events.begin(), events.end(), std::back_inserter(later),
                 [&](const RunEvent& event) { return event.step != known->step; });
    return replay_obstacle(later, &unread, step);
}

}  // namespace

std::vector<MeasurePlan> Lab::lacking(QStringList& why_not) const {
    const std::int64_t step = std::min(step_, lastStep());
    std::vector<MeasurePlan> plans;
    for (const LabRun& run : now_.runs) {
        const QString name = QString::fromStdString(run.data->name);
        if (!run.trained()) continue;
        if (run.data->unread) {
            if (const QString line = notReadYet(); !why_not.contains(line)) why_not << line;
            continue;
        }
        if (run.data->steps.step.back() < step) {
            why_not << tr("%1 has no step %2: it ends at %3")
                           .arg(name)
                           .arg(step)
                           .arg(run.data->steps.step.back());
            continue;
        }
        std::vector<std::string> probes;
        const std::vector<std::string>& shown = exploration_.probes();
        std::copy_if(shown.begin(), shown.end(), std::back_inserter(probes),
                     [&](const std::string& id) { return find_probe(id) && !run.data->sample_of(id, step); });
        if (probes.empty()) continue;
        const KnownCheckpoint* known = nearestCheckpoint(run, step);
        const std::string obstacle = obstacleFrom(run.data->events, known, step);
        if (!obstacle.empty()) {
            why_not << tr("%1 cannot be measured at step %2: %3")
                           .arg(name)
                           .arg(step)
                           .arg(QString::fromStdString(obstacle));
            continue;
        }
        MeasurePlan plan{{run_header(*run.data), nullptr, step, std::move(probes)}};
        plan.replay.header.id = run.id;
        plan.replay.header.events = run.data->events;
        if (known) plan.from = known->source;
        plans.push_back(std::move(plan));
    }
    return plans;
}

QString Lab::measureObstacle() const {
    if (exploring()) return tr("Nothing is recorded yet");
    QStringList why_not;
    if (!lacking(why_not).empty()) return {};
    return why_not.isEmpty() ? tr("Every panel shown is measured at this step")
                             : why_not.join(QStringLiteral("; "));
}

QString Lab::measuringStatus() const {
    const Measuring* now = measuring_.newest();
    if (!now) return {};
    const LabRun* run = now_.find(now->waiting.front());
    const QString name = run ? QString::fromStdString(run->data->name) : QString();
    const bool replaying = now->steps_done >= 0 && now->steps_done < now->step;
    return tr("measuring %1\nat step %2%3 …")
        .arg(name)
        .arg(now->step)
        .arg(replaying ? tr(", replay at %1").arg(now->steps_done) : QString());
}

void Lab::measureHere() {
    if (measuring()) return endMeasuring();
    QStringList why_not;
    auto request = std::make_shared<MeasureRequest>(MeasureRequest{0, lacking(why_not)});
    if (request->runs.empty()) {
        Q_EMIT problem(measureObstacle());
        return;
    }
    if (!why_not.isEmpty()) Q_EMIT problem(why_not.join(QStringLiteral("; ")));
    Measuring asked{request->runs.front().replay.step, {}, -1, false};
    for (const MeasurePlan& plan : request->runs) asked.waiting.push_back(plan.replay.header.id);
    request->token = measuring_.ask(std::move(asked));
    // HDF5 is used only in the files' thread.
    QMetaObject::invokeMethod(io_.get(), [io = io_.get(), request] { io->fetchCheckpoints(request); });
    Q_EMIT measuringChanged();
}

void Lab::applyFetched(const MeasureRequestPtr& request) {
    Measuring* now = measuring_.find(request->token);
    if (!now || std::exchange(now->fetched, true)) return;
    MeasureRequest sound{request->token, {}};
    for (const MeasurePlan& plan : request->runs)
        if (plan.failed.isEmpty()) sound.runs.push_back(plan);
    engine_->measureAt(std::move(sound));
    for (const MeasurePlan& plan : request->runs)
        if (!plan.failed.isEmpty())
            applyMeasured(request->token, QString::fromStdString(plan.replay.header.id), nullptr,
                          plan.failed);
}

void Lab::applyReplayed(quint64 token, const QString& id, qint64 steps_done) {
    Measuring* now = measuring_.find(token);
    if (!now || now->waiting.front() != id.toStdString()) return;
    now->steps_done = std::max<std::int64_t>(now->steps_done, steps_done);
    Q_EMIT measuringChanged();
}

void Lab::applyMeasured(quint64 token, const QString& id, const ProbeResultsPtr& results,
                        const QString& failed) {
    Measuring* now = measuring_.find(token);
    if (!now || std::erase(now->waiting, id.toStdString()) == 0) return;  // stale, or already applied
    now->steps_done = -1;
    if (now->waiting.empty()) measuring_.take(token);
    if (!failed.isEmpty()) Q_EMIT problem(failed);
    LabRun* run = now_.find(id.toStdString());
    QStringList panels;
    if (run && results) {
        // A recording only grows at its end, so these samples are not in it: they are in the window, and in
        // the session that is saved from it, in the order of their steps.
        KnownSeries known(*run->data);
        std::vector<RunEvent> events;
        for (ProbeResult result : *results) {
            known.fit(result, events);
            panels << QString::fromStdString(result.probe);
            run->replayed.emplace(result.probe, result.step);
            insert_sample(*run->data, std::move(result));
        }
    }
    if (!panels.isEmpty()) {
        files_.recorded();
        Q_EMIT dataChanged(panels);
    }
    Q_EMIT measuringChanged();
}

void Lab::endMeasuring() {
    if (!measuring()) return;
    measuring_.drop();
    engine_->measureAt({requests_.next(), {}});
    Q_EMIT measuringChanged();
}

}  // namespace normscope::app
