// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/training.h"

#include "core/probe/registry.h"
#include "core/run/checkpoints/checkpoint_memory.h"

#include <algorithm>
#include <numeric>

namespace normscope::app {

namespace {

using CheckpointPtrs = std::vector<CheckpointPtr>;

/// Adds to those known what training took, in the order of their steps.
void add(std::vector<KnownCheckpoint>& list, const std::string& id, const CheckpointPtrs& taken) {
    for (const CheckpointPtr& checkpoint : taken) {
        std::erase_if(list, [&](const KnownCheckpoint& known) { return known.step == checkpoint->step; });
        const auto after = std::find_if(list.begin(), list.end(), [&](const KnownCheckpoint& known) {
            return known.step > checkpoint->step;
        });
        list.insert(after, {checkpoint->step, {id, checkpoint}});
    }
}

/// One budget for the checkpoints that all runs hold in memory; those that lie in files cost none.
void thinCheckpoints(std::vector<LabRun>& runs) {
    std::vector<HeldCheckpoints> held(runs.size());
    std::vector<std::vector<std::int64_t>> gone(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        held[i].keep = runs[i].recipe.train.checkpoint_keep;
        for (const KnownCheckpoint& known : runs[i].checkpoints)
            if (const auto* memory = std::get_if<CheckpointPtr>(&known.source.from))
                held[i].held.push_back({known.step, bytes_of(**memory)});
        for (const RunEvent& event : runs[i].data->events)
            if (event.kind == "spike") held[i].spikes.push_back(event.step);
    }
    for (const auto& [run, place] : excess_checkpoints(held)) gone[run].push_back(held[run].held[place].step);
    for (std::size_t i = 0; i < runs.size(); ++i)
        std::erase_if(runs[i].checkpoints, [&](const KnownCheckpoint& known) {
            return std::count(gone[i].begin(), gone[i].end(), known.step) > 0;
        });
}

}  // namespace

std::uint64_t Training::begin(Comparison& now, std::vector<RunPlan>& plans, Data before) {
    for (const RunPlan& plan : plans) {
        NORMSCOPE_ASSERT(now.find(plan.id), "only runs of the comparison are started");
        before.try_emplace(plan.id, now.find(plan.id)->data);
    }
    const std::uint64_t token = starts_.ask(std::move(before));
    for (RunPlan& plan : plans) {
        plan.training = token;
        LabRun* run = now.find(plan.id);
        run->training = token;
        run->data = std::make_shared<RunData>(*run->data);  // an undo entry may hold the one before training
        run->data->outcome = {RunState::Running, -1, "", -1};
        run->not_recorded.clear();
    }
    playing_ = true;
    return token;
}

/// The engine has started a run or rejected it: its data before; null where the reply is stale.
std::shared_ptr<RunData> Training::answered(std::uint64_t token, const std::string& id) {
    Data* start = starts_.find(token);
    if (!start) return nullptr;
    auto before = start->extract(id);
    if (start->empty()) starts_.take(token);
    return before ? before.mapped() : nullptr;
}

bool Training::rejected(std::uint64_t token, const std::string& id, Comparison& now) {
    const std::shared_ptr<RunData> before = answered(token, id);
    LabRun* run = before ? now.find(id) : nullptr;
    if (!run || run->training != token) return false;  // undone since
    run->training = 0;
    const std::string name = run->data->name;
    run->data = std::make_shared<RunData>(*before);
    run->data->name = name;
    if (run->isTraining())
        run->data->outcome.state = run->trained() ? RunState::Interrupted : RunState::Prepared;
    playing_ = playing_ && now.anyTraining();
    return true;
}

void Training::applyRun(const RunFrame& part, LabRun& run, const std::vector<std::string>& shown,
                        std::uint64_t explored, Changes& changes) {
    if (part.header) {
        const RunData old = *run.data;
        run.data = std::make_shared<RunData>(*part.header);
        if (part.header->probes.empty()) run.data->probes = old.probes;
        changes.runs = true;
    }
    if (!(part.delta.steps.empty() && part.delta.probes.empty()) && run.data->steps.rows() == 0) {
        // From the first step on, samples of the recipe's probes come from training; those requested only by
        // a panel are kept at step 0, where the weights are the same.
        const Recipe& recorded = run.data->recipe.value("run " + run.id);
        std::erase_if(run.data->probes, [&](const auto& probe) {
            return run.measured_for[probe.first] < explored || run.drafts.count(probe.first) > 0 ||
                   std::any_of(recorded.probes.begin(), recorded.probes.end(),
                               [&](const ProbePlan& p) { return p.id == probe.first; });
        });
        for (const auto& panel : shown) changes.panels.insert(QString::fromStdString(panel));
    }
    append(*run.data, part.delta);
    for (const RunEvent& event : part.delta.events)
        if (event.kind == kWatchEvent)
            changes.watched << QObject::tr("%1, step %2: %3")
                                   .arg(QString::fromStdString(run.data->name))
                                   .arg(event.step)
                                   .arg(QString::fromStdString(event.text));
    changes.results |= !part.delta.empty();
    add(run.checkpoints, run.id, part.checkpoints);
    changes.notices |= run.gate_warnings != part.gate_warnings;
    run.gate_warnings = part.gate_warnings;
    for (const ProbeResult& result : part.delta.probes)
        changes.panels.insert(QString::fromStdString(result.probe));
    if (!part.delta.steps.empty() || !part.delta.events.empty() || part.delta.outcome)
        changes.panels.insert(QStringLiteral("training"));
    if (!part.delta.outcome) return;
    changes.runs = true;
    changes.failures |= part.delta.outcome->state == RunState::Failed;
    for (const ProbeInfo& probe : probe_registry()) changes.panels.insert(QLatin1String(probe.id));
}

double Training::stepMs() const {
    return std::accumulate(rates_.begin(), rates_.end(), 0.0,
                           [](double sum, const auto& rates) { return sum + rates.second.step_ms; });
}

double Training::probeOverhead() const {
    double largest = 0;
    for (const auto& [engine, rates] : rates_) largest = std::max(largest, rates.probe_overhead);
    return largest;
}

DeviceUse Training::deviceUse() const {
    DeviceUse all;
    for (const auto& [engine, rates] : rates_) {
        const DeviceUse& use = rates.device;
        all.backend += (all.backend.empty() || use.backend.empty() ? "" : ", ") + use.backend;
        if (all.memory.total == 0) all.memory = use.memory;
        if (all.resident == 0) all.resident = use.resident;
    }
    return all;
}

Changes Training::take(const Frame& frame, Comparison& now, const std::vector<std::string>& shown,
                       std::uint64_t explored) {
    Changes changes;
    bool any = false, saved = false;
    for (const RunFrame& part : frame.runs) {
        if (part.header) answered(part.training, part.id);
        LabRun* run = now.find(part.id);
        if (!run || part.training == 0 || run->training != part.training) continue;
        any = true;
        saved |= !part.checkpoints.empty();
        applyRun(part, *run, shown, explored, changes);
    }
    if (saved) thinCheckpoints(now.runs);
    if (any) {
        rates_[frame.engine] = {frame.ms, frame.probe_overhead, frame.device};
    }
    if (frame.complete && rates_.size() > 1) rates_.erase(frame.engine);
    // The frame covers only what the engine trains; a pending start may not have reached it yet.
    if (frame.complete && !now.anyTraining()) playing_ = false;
    return changes;
}

}  // namespace normscope::app
