// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/replay.h"

#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/run/probe_steps.h"
#include "core/run/watched_step.h"

#include <algorithm>

namespace normscope {

namespace {

std::string at_step(std::int64_t step) {
    return "step " + std::to_string(step);
}

/// Whether a knob event of the checkpoint's own step was before the checkpoint: then its knobs are those that
/// the event "Δt 1 → 0.2, clip 1 → 2" arrived at.
bool holds(const Checkpoint& checkpoint, const std::string& event) {
    const std::string interventions = "interventions ", arrow = " → ";
    if (event.starts_with(interventions)) {
        const Recipe* then = checkpoint.recipe.get();
        return then && event.ends_with(arrow + interventions_text(then->interventions));
    }
    for (const RecipeKey* key : hot_keys()) {
        const std::string name = std::string(key->role.label) + " ";
        std::size_t at = event.find(name);
        while (at != std::string::npos && at != 0 && event.compare(at - 2, 2, ", ") != 0)
            at = event.find(name, at + 1);
        if (at == std::string::npos) continue;
        const std::size_t after = event.find(arrow, at);
        if (after == std::string::npos) return false;
        const std::size_t begin = after + arrow.size();
        const std::string value = event.substr(begin, event.find(',', begin) - begin);
        const auto knob = std::find_if(checkpoint.scalars.begin(), checkpoint.scalars.end(),
                                       [&](const auto& scalar) { return scalar.first == key->last_part(); });
        if (knob == checkpoint.scalars.end()) return false;
        if (value != plain_number(knob->second)) return false;
    }
    return true;
}

}  // namespace

std::string replay_obstacle(const std::vector<RunEvent>& events, const Checkpoint* checkpoint,
                            std::int64_t step) {
    const std::int64_t from = checkpoint ? checkpoint->step : 0;
    if (from > step) return "the checkpoint of " + at_step(from) + " is after " + at_step(step);
    const RunEvent* last_here = nullptr;  // several moves at the checkpoint's step: the last decides
    for (const RunEvent& event : events) {
        if (event.kind == kExternalEvent) return "another program trained it (" + event.text + ")";
        if (!checkpoint && event.kind == "weights")
            return "it began with weights " + event.text + ", and there is no checkpoint of step 0";
        if (event.kind == kLengthEvent && event.step >= from)
            return "its length was changed from " + event.text + " steps after " + at_step(event.step);
        if (event.kind != "knob" || event.step < from || event.step > step) continue;
        if (checkpoint && event.step == from) {
            last_here = &event;
            continue;
        }
        return "a knob was moved at " + at_step(event.step) + " (" + event.text + "), after " +
               (checkpoint ? "the checkpoint of " + at_step(from) : at_step(0));
    }
    if (last_here && !holds(*checkpoint, last_here->text))
        return "a knob was moved at " + at_step(from) + " (" + last_here->text +
               "), after the checkpoint of that step";
    return {};
}

Device& replay_device(const RunData& run) {
    for (const KnownDevice& known : known_devices())
        if (known.missing.empty() && known.backend == run.backend) return device_named(run.backend);
    return cpu_device();
}

Replay::Replay(ReplayPlan plan, Device& device) : plan_(std::move(plan)) {
    const std::string where = "run " + plan_.header.id;
    std::string obstacle;
    for (const std::int64_t step : {plan_.step, std::max(plan_.step, plan_.last)})
        if (obstacle.empty()) obstacle = replay_obstacle(plan_.header.events, plan_.checkpoint.get(), step);
    if (!obstacle.empty())
        throw InputError(where + ": " + at_step(plan_.step) + " cannot be replayed: " + obstacle);
    for (const std::string& id : plan_.probes)
        if (!find_probe(id))
            throw InputError("probe", "\"" + id + "\" is not known", "see normscope-cli probe --help");
    Recipe recipe = plan_.header.recipe.value(where);
    auto corpus = complete_and_validate(recipe);
    recipe_ = recipe;
    recipe.probes.clear();  // nothing is measured in between
    recipe.watch.clear();
    // Interventions may have been other ones at the checkpoint: Experiment::restore() takes those.
    experiment_ =
        std::make_unique<Experiment>(recipe, plan_.header.id, plan_.header.name, std::move(corpus), device);
    experiment_->select(probe_selections(recipe_.value(where)));
    if (plan_.checkpoint) experiment_->restore(*plan_.checkpoint);
    plan_.checkpoint.reset();
}

void Replay::advance(ThreadPool& pool) {
    const std::int64_t before = steps_done();
    if (!experiment_->ended()) experiment_->advance(pool);
    if (steps_done() == before)
        throw InputError("run " + plan_.header.id, "ends at " + at_step(before),
                         "a step up to " + std::to_string(before));
}

std::vector<ProbeResult> Replay::measure(ThreadPool& pool, const std::atomic<bool>* cancel) {
    std::vector<ProbeResult> results;
    experiment_->measure(plan_.probes, pool, cancel, [&](ProbeResult r) {
        stamp_training_batch(r);
        results.push_back(std::move(r));
    });
    if (plan_.step < plan_.last)
        ++plan_.step;
    else
        finished_ = true;
    return results;
}

Checkpoint Replay::checkpoint() const {
    Checkpoint state = experiment_->checkpoint();
    state.recipe = recipe_;
    return state;
}

std::vector<ProbeResult> replay(ReplayPlan plan, ThreadPool& pool, const std::atomic<bool>* cancel,
                                const std::function<void(std::int64_t)>& progress) {
    Replay run(std::move(plan));
    std::vector<ProbeResult> results;
    while (!run.finished()) {
        if (cancel && cancel->load(std::memory_order_relaxed)) throw Cancelled{};
        if (run.arrived()) {
            for (ProbeResult& result : run.measure(pool, cancel)) results.push_back(std::move(result));
            continue;
        }
        run.advance(pool);
        if (progress) progress(run.steps_done());
    }
    return results;
}

}  // namespace normscope
