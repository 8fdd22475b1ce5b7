// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/training_time.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "core/run/complete.h"
#include "core/run/probe_steps.h"
#include "core/run/probes_preset.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace normscope::app {

namespace {

constexpr std::size_t kRows = 20;  // the median of so many steps

/// What the time of a step depends on, apart from the length of the batch.
std::string sizesOf(const Recipe& recipe) {
    const StackSpec& s = recipe.stack;
    std::string key;
    for (const int size : {s.depth, s.d_model, s.heads, s.kv_heads, s.d_ff, s.context, s.vocab,
                           static_cast<int>(recipe.train.precision)})
        key += std::to_string(size) + ' ';
    return key;
}

double sequencesOf(const TrainSpec& train) {
    return static_cast<double>(train.batch) * train.accumulate;
}

double medianOf(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

/// Nullopt where it is not valid.
std::optional<Recipe> completedOf(Recipe recipe) {
    try {
        complete_without_data(recipe);
        return recipe;
    } catch (const InputError&) {
        return {};
    }
}

/// Of the whole batch, by the probes that share its passes: their times divide those of the passes among
/// them. 0 where none was measured.
double secondsOfAnOperation(const LabRun& run) {
    std::vector<const ProbeInfo*> measured;
    double seconds = 0;
    for (const ProbeInfo& probe : probe_registry()) {
        if (probe.cost == ProbeCost::Expensive ||
            (!needs_forward(probe.needs) && !needs_backward(probe.needs)))
            continue;
        const ProbeResult* sample = run.data->sample_at(probe.id, 0);
        if (!sample || !(sample->cost_ms > 0) || run.drafts.count(probe.id)) continue;
        seconds += sample->cost_ms / 1e3;
        measured.push_back(&probe);
    }
    if (measured.empty()) return 0;  // as in each frame of a drag
    const std::optional<Recipe> recipe = completedOf(run.recipe);
    if (!recipe) return 0;
    const ProbeShape shape = probe_shape(*recipe);
    double own = 0, shared = 0;
    for (const ProbeInfo* probe : measured) {
        own += sample_operations({probe->id, 0}, shape);
        shared = std::max(shared, shared_operations(shape, probe->needs));
    }
    return seconds / (own + shared);
}

}  // namespace

bool TrainingTime::note(const LabRun& run) {
    if (run.fixed() || run.isTraining()) return false;
    if (!run.trained()) {
        if (const double seconds = secondsOfAnOperation(run); seconds > 0) {
            Known& known = known_[sizesOf(run.recipe)];
            const double before = known.operation_s;
            known.operation_s = before > 0 ? std::min(before, seconds) : seconds;
            return known.operation_s != before;
        }
        return false;
    }
    const auto* speed = run.data->steps.find("tokens_per_s");
    if (!speed) return false;
    std::vector<double> last;
    for (std::size_t i = speed->size(); i-- > 0 && last.size() < kRows;)
        if ((*speed)[i] > 0) last.push_back((*speed)[i]);
    if (last.empty()) return false;
    Known& known = known_[sizesOf(run.live)];
    const double sequence = run.live.stack.context / medianOf(std::move(last));
    known.sequence_s = known.sequence_s > 0 ? std::min(known.sequence_s, sequence) : sequence;
    return false;
}

double TrainingTime::seconds(const Recipe& recipe) const {
    const auto found = known_.find(sizesOf(recipe));
    if (found == known_.end()) return 0;
    const std::optional<Recipe> completed = completedOf(recipe);
    if (!completed) return 0;
    const double step = found->second.sequence_s > 0
                            ? found->second.sequence_s * sequencesOf(recipe.train)
                            : found->second.operation_s * step_operations(probe_shape(*completed));
    const ProbesShare share = predicted_share(*completed);
    const double steps = recipe.train.steps, first = std::min<double>(steps, kDenseSteps);
    return step * (first * (1 + share.first) + (steps - first) * (1 + share.later));
}

QString durationText(double seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds)) return {};
    constexpr double kLong = 95;
    const auto rounded = [](double value) {
        return value < 10 ? std::max(1.0, std::round(value)) : 5 * std::round(value / 5);
    };
    if (seconds < kLong) return QObject::tr("%1 s").arg(rounded(seconds));
    if (seconds < kLong * 60) return QObject::tr("%1 min").arg(std::round(seconds / 60));
    return QObject::tr("%1 h").arg(std::round(seconds / 3600));
}

}  // namespace normscope::app
