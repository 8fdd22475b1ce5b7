// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/training_time.h"

#include "core/probe/interface/operations.h"

#include <QObject>
#include <algorithm>
#include <cmath>

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

}  // namespace

void TrainingTime::note(const LabRun& run) {
    if (run.fixed() || run.isTraining()) return;
    if (!run.trained()) {
        const double sequences = std::min(sequencesOf(run.recipe.train), double(kProbeSequences));
        for (const char* probe : {"growth", "gradients"}) {
            const ProbeResult* sample = run.data->sample_at(probe, 0);
            if (!sample || !(sample->cost_ms > 0) || run.drafts.count(probe)) continue;
            double& best = known_[sizesOf(run.recipe)].probe_ms.try_emplace(probe, HUGE_VAL).first->second;
            best = std::min(best, sample->cost_ms / sequences);
        }
        return;
    }
    const auto* speed = run.data->steps.find("tokens_per_s");
    if (!speed) return;
    std::vector<double> last;
    for (std::size_t i = speed->size(); i-- > 0 && last.size() < kRows;)
        if ((*speed)[i] > 0) last.push_back((*speed)[i]);
    if (last.empty()) return;
    const double tokens = sequencesOf(run.live.train) * run.live.stack.context;
    Known& known = known_[sizesOf(run.live)];
    const double step = tokens / medianOf(std::move(last)) / sequencesOf(run.live.train);
    known.step_s = known.step_s > 0 ? std::min(known.step_s, step) : step;
}

double TrainingTime::seconds(const Recipe& recipe) const {
    const auto found = known_.find(sizesOf(recipe));
    if (found == known_.end()) return 0;
    const double sequences = sequencesOf(recipe.train) * recipe.train.steps;
    if (found->second.step_s > 0) return found->second.step_s * sequences;
    // The two cheap probes are charged most of a forward and backward pass.
    double ms = 0;
    for (const auto& [_, best] : found->second.probe_ms) ms += best;
    return ms / 1e3 * sequences;
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
