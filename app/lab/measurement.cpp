// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/measurement.h"

#include "app/lab/state/lab_state.h"
#include "app/lab/state/replay_points.h"
#include "core/probe/registry.h"
#include "core/run/known_series.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

Measurement::Measurement(LabState& state)
    : state_(state), measuring_(state.requests, "measure", Pending<Measuring>::Replies::OfNewest) {
    state_.onReply(state_.engine(), &Engine::replayed, this, &Measurement::applyReplayed);
    state_.onReply(state_.engine(), &Engine::measured, this, &Measurement::applyMeasured);
    state_.onReply(state_.io(), &IoWorker::checkpointsFetched, this, &Measurement::applyFetched);
}

/// The probes without a sample at one of these steps: those of the shown panels, and of the recipe.
std::vector<std::string> Measurement::missing(const LabRun& run, bool of_recipe, std::int64_t first,
                                              std::int64_t last) const {
    std::vector<std::string> wanted = state_.exploration.probes(), probes;
    if (const Recipe* recipe = of_recipe ? run.data->recipe.get() : nullptr)
        for (const ProbePlan& probe : recipe->probes)
            if (std::find(wanted.begin(), wanted.end(), probe.id) == wanted.end()) wanted.push_back(probe.id);
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(probes), [&](const std::string& id) {
        bool sampled = true;
        for (std::int64_t s = first; s <= last; ++s) sampled = sampled && run.data->sample_of(id, s);
        return find_probe(id) && !sampled;
    });
    return probes;
}

std::vector<MeasurePlan> Measurement::lacking(std::int64_t around, QStringList& why_not) const {
    const std::int64_t step = std::min<std::int64_t>(state_.shown.step, state_.now.lastStep());
    std::vector<MeasurePlan> plans;
    for (const LabRun& run : state_.now.runs) {
        const QString name = QString::fromStdString(run.data->name);
        if (!run.trained()) continue;
        if (run.data->unread) {
            if (const QString line = notReadYet(state_.now); !why_not.contains(line)) why_not << line;
            continue;
        }
        const std::int64_t end = run.data->steps.step.back();
        if (end < step) {
            why_not << tr("%1 has no step %2: it ends at %3").arg(name).arg(step).arg(end);
            continue;
        }
        // A move of a knob near the step bounds them.
        std::int64_t first = std::max<std::int64_t>(0, step - around), last = std::min(end, step + around);
        const auto obstacleAt = [&](std::int64_t at) {
            return replayObstacle(*run.data, nearestCheckpoint(run, first), at);
        };
        while (first < step && !(obstacleAt(first).empty() && obstacleAt(step).empty())) ++first;
        while (last > step && !obstacleAt(last).empty()) --last;
        const std::vector<std::string> probes = missing(run, around > 0, first, last);
        if (probes.empty()) continue;
        const std::string obstacle = obstacleAt(step);
        if (!obstacle.empty()) {
            why_not << tr("%1 cannot be measured at step %2: %3")
                           .arg(name)
                           .arg(step)
                           .arg(QString::fromStdString(obstacle));
            continue;
        }
        const KnownCheckpoint* known = nearestCheckpoint(run, first);
        MeasurePlan plan{{replayHeader(run), nullptr, first, probes, last}};
        if (known) plan.from = known->source;
        plans.push_back(std::move(plan));
    }
    return plans;
}

QString Measurement::obstacle() const {
    if (state_.now.exploring()) return tr("Nothing is recorded yet");
    QStringList why_not;
    if (!lacking(0, why_not).empty()) return {};
    return why_not.isEmpty() ? tr("Every panel shown is measured at this step")
                             : why_not.join(QStringLiteral("; "));
}

QString Measurement::status() const {
    const Measuring* now = measuring_.newest();
    if (!now) return {};
    const LabRun* run = state_.now.find(now->waiting.front());
    const QString name = run ? QString::fromStdString(run->data->name) : QString();
    const bool replaying = now->steps_done >= 0 && now->steps_done < now->last;
    const QString steps = now->step == now->last ? tr("step %1").arg(now->step)
                                                 : tr("steps %1 to %2").arg(now->step).arg(now->last);
    return tr("measuring %1\nat %2%3 …")
        .arg(name, steps)
        .arg(replaying ? tr(", replay at %1").arg(now->steps_done) : QString());
}

void Measurement::measureHere() {
    measure(0);
}
void Measurement::measureAround() {
    measure(kAround);
}

void Measurement::measure(std::int64_t around) {
    if (running()) return cancel();
    QStringList why_not;
    auto request = std::make_shared<MeasureRequest>(MeasureRequest{0, lacking(around, why_not)});
    if (request->runs.empty()) {
        const QString every = tr("Every step around this one is measured");
        Q_EMIT state_.problem(around == 0 || state_.now.exploring() ? obstacle()
                              : why_not.isEmpty()                   ? every
                                                                    : why_not.join(QStringLiteral("; ")));
        return;
    }
    if (!why_not.isEmpty()) Q_EMIT state_.problem(why_not.join(QStringLiteral("; ")));
    const ReplayPlan& front = request->runs.front().replay;
    Measuring asked{front.step, front.last, {}, -1, false};
    for (const MeasurePlan& plan : request->runs) asked.waiting.push_back(plan.replay.header.id);
    request->token = measuring_.ask(std::move(asked));
    // HDF5 is used only in the files' thread.
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), request] { io->fetchCheckpoints(request); });
    Q_EMIT changed();
}

void Measurement::applyFetched(const MeasureRequestPtr& request) {
    Measuring* now = measuring_.find(request->token);
    if (!now || std::exchange(now->fetched, true)) return;
    MeasureRequest sound{request->token, {}};
    for (const MeasurePlan& plan : request->runs)
        if (plan.failed.isEmpty()) sound.runs.push_back(plan);
    state_.engine()->measureAt(std::move(sound));
    for (const MeasurePlan& plan : request->runs)
        if (!plan.failed.isEmpty())
            applyMeasured(request->token, QString::fromStdString(plan.replay.header.id), nullptr,
                          plan.failed);
}

void Measurement::applyReplayed(quint64 token, const QString& id, qint64 steps_done) {
    Measuring* now = measuring_.find(token);
    if (!now || now->waiting.front() != id.toStdString()) return;
    now->steps_done = std::max<std::int64_t>(now->steps_done, steps_done);
    Q_EMIT changed();
}

void Measurement::applyMeasured(quint64 token, const QString& id, const ProbeResultsPtr& results,
                                const QString& failed) {
    Measuring* now = measuring_.find(token);
    if (!now || std::erase(now->waiting, id.toStdString()) == 0) return;  // stale, or already applied
    now->steps_done = -1;
    if (now->waiting.empty()) measuring_.take(token);
    if (!failed.isEmpty()) Q_EMIT state_.problem(failed);
    LabRun* run = state_.now.find(id.toStdString());
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
        state_.files.recorded();
        Q_EMIT state_.dataChanged(panels);
    }
    Q_EMIT changed();
}

void Measurement::cancel() {
    if (!running()) return;
    measuring_.drop();
    state_.engine()->measureAt({state_.requests.next(), {}});
    Q_EMIT changed();
}

}  // namespace normscope::app
