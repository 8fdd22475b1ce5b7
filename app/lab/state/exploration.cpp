// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/exploration.h"

#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {
constexpr std::chrono::milliseconds kRecent{120};
}

RunPlan planOf(const LabRun& run) {
    RunPlan plan;
    plan.id = run.id;
    plan.name = run.data->name;
    plan.recipe = run.recipe;
    plan.weights = run.weights;
    return plan;
}

bool Exploration::setProbes(const std::vector<std::string>& probes, const Comparison& now) {
    probes_ = probes;
    return std::any_of(now.runs.begin(), now.runs.end(), [&](const LabRun& run) {
        if (run.committed() || run.fixed() || run.needsFile()) return false;
        return std::any_of(probes.begin(), probes.end(),
                           [&](const std::string& probe) { return !run.data->probes.count(probe); });
    });
}

std::optional<ExploreRequest> Exploration::request(const Comparison& now) {
    again_ = firstDue();
    if (again_) return std::nullopt;
    ExploreRequest request{0, {}, probes_};
    for (const LabRun& run : now.runs) {
        if (run.fixed() || run.needsFile() || (run.committed() && !run.needsNewRun())) continue;
        request.runs.push_back(planOf(run));
        if (run.committed()) request.runs.back().name = nameOf(now, run.recipe);
    }
    if (request.runs.empty() || probes_.empty()) {
        asked_.drop();
        generation_ = requests_.next();
        return std::nullopt;
    }
    request.generation = generation_ = asked_.ask({});
    return request;
}

bool Exploration::rejected(std::uint64_t generation) {
    return asked_.take(generation).has_value();
}

void Exploration::startOver(Comparison& now) {
    asked_.drop();
    generation_ = requests_.next();
    again_ = false;
    drafts_drawn_.clear();
    for (LabRun& run : now.runs)
        for (const auto& [probe, samples] : run.data->probes) run.measured_for[probe] = generation_;
}

void Exploration::applyRun(const RunFrame& part, LabRun& run, const Frame& frame, Changes& changes) {
    const bool committed = run.committed();
    if (committed && !run.needsNewRun()) return;  // training began while this was measured
    if (!part.rejected.empty()) {
        if (run.rejection != part.rejected) {  // else already reported
            run.rejection = part.rejected;
            changes.notices = true;
            changes.problems << QString::fromStdString(part.rejected);
        }
        // Earlier samples are kept, drawn as drafts.
        for (const std::string& probe : probes_) changes.panels.insert(QString::fromStdString(probe));
        return;
    }
    if (part.header) {
        changes.notices |= !run.rejection.empty() || (!committed && run.gate_warnings != part.gate_warnings);
        run.rejection.clear();
        if (!committed) run.gate_warnings = part.gate_warnings;
        // Values that depend on the data; of the data before where the knobs have moved since the request.
        const Recipe* completed = part.header->recipe.get();
        if (completed && !again_ && run.recipe.stack.vocab == 0)
            run.recipe.stack.vocab = completed->stack.vocab;
        if (!committed) run.live = run.recipe;
    }
    const RunData& old = committed && run.preview ? *run.preview : *run.data;
    auto next = std::make_shared<RunData>(part.header ? *part.header : old);
    if (!committed || run.preview) next->probes = old.probes;
    for (const ProbeResult& result : part.delta.probes) {
        next->probes[result.probe] = {result};
        run.measured_for[result.probe] = frame.generation;
        if (part.draft)
            run.drafts.insert(result.probe);
        else
            run.drafts.erase(result.probe);
        changes.panels.insert(QString::fromStdString(result.probe));
    }
    if (committed) {
        run.preview = std::move(next);
        return;
    }
    next->name = run.data->name;
    changes.runs |=
        std::isnan(run.data->ln_vocab) != std::isnan(next->ln_vocab) || run.data->ln_vocab != next->ln_vocab;
    run.data = std::move(next);
}

Changes Exploration::take(const Frame& frame, Comparison& now) {
    Changes changes;
    if (frame.complete)
        asked_.take(frame.generation);
    else
        asked_.find(frame.generation)->answered = true;
    for (const RunFrame& part : frame.runs)
        if (LabRun* run = now.find(part.id)) applyRun(part, *run, frame, changes);
    changes.panels.insert(QStringLiteral("training"));  // floors, names, the hint
    const auto now_is = std::chrono::steady_clock::now();
    for (const RunFrame& part : frame.runs)
        for (const ProbeResult& result : part.delta.probes) measured_at_[result.probe] = now_is;
    // Redrawn once as drafts, until their frame arrives; not those that follow a drag a few frames later.
    const auto recent = [&](const std::string& probe) {
        const auto at = measured_at_.find(probe);
        return at != measured_at_.end() && now_is - at->second < kRecent;
    };
    for (const std::string& probe : probes_)
        if (!frame.complete && !recent(probe) &&
            std::any_of(now.runs.begin(), now.runs.end(), [&](const LabRun& run) {
                const auto measured = run.measured_for.find(probe);
                return measured != run.measured_for.end() && measured->second < frame.generation &&
                       !drafts_drawn_.count(probe);
            })) {
            drafts_drawn_.insert(probe);
            changes.panels.insert(QString::fromStdString(probe));
        }
    for (const RunFrame& part : frame.runs)
        for (const ProbeResult& result : part.delta.probes) drafts_drawn_.erase(result.probe);
    return changes;
}

}  // namespace normscope::app
