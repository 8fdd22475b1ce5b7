// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/start_weights.h"

#include "core/recipe/recipe.h"
#include "core/run/experiment.h"

#include <algorithm>

namespace normscope::app {

namespace {

constexpr const char* kKind = "weights";
const std::string kFrom = "from ";

/// The event of imported weights; null where the weights were drawn from the seed.
const RunEvent* eventOf(const RunData& run) {
    const auto event = std::find_if(run.events.begin(), run.events.end(), [](const RunEvent& e) {
        return e.step == 0 && e.kind == kKind && e.text.compare(0, kFrom.size(), kFrom) == 0;
    });
    return event == run.events.end() ? nullptr : &*event;
}

}  // namespace

RunEvent weightsEvent(const StartWeights& weights) {
    return {0, kKind, kFrom + weights.source};
}

Checkpoint startCheckpoint(const RunData& run, const StartWeights& weights) {
    Recipe recipe = run.recipe.value("run " + run.id);
    auto corpus = complete_and_validate(recipe);
    Experiment experiment(recipe, run.id, run.name, std::move(corpus));
    experiment.load_weights(weights.tensors, weights.source);
    return experiment.checkpoint();
}

bool startedFromWeights(const RunData& run) {
    return eventOf(run) != nullptr;
}

StartWeightsPtr startWeightsOf(const RunData& run, Checkpoint start) {
    const RunEvent* event = eventOf(run);
    if (!event) return nullptr;
    return std::make_shared<const StartWeights>(
        StartWeights{run.name, event->text.substr(kFrom.size()), std::move(start.params)});
}

StartWeightsPtr startWeightsOf(const RunData& run, const Session& session) {
    const auto start = std::find_if(
        session.checkpoints.begin(), session.checkpoints.end(),
        [&](const EmbeddedCheckpoint& inside) { return inside.run_id == run.id && inside.step == 0; });
    if (!startedFromWeights(run) || start == session.checkpoints.end()) return nullptr;
    return startWeightsOf(run, load_checkpoint(start->session_path, start->run_id, start->step));
}

}  // namespace normscope::app
