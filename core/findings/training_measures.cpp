// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/training_measures.h"

#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/probe/interface/operations.h"
#include "core/train/optimizers.h"
#include "core/train/verdict.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace normscope {

namespace {

constexpr std::ptrdiff_t kLastSteps = 20;  // as Verdict

std::vector<double> column(const RunData& run, const char* name) {
    const std::vector<double>* found = run.steps.find(name);
    return found ? *found : std::vector<double>();
}

std::vector<double> last_steps(const std::vector<double>& values) {
    return {values.end() - std::min<std::ptrdiff_t>(kLastSteps, std::ssize(values)), values.end()};
}

double share_of(std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNaN;
}

void measure_gradients(TrainingMeasures& measures, const Recipe& recipe, const RunData& run) {
    const OptimizerSpec& optimizer = recipe.train.optimizer;
    const std::vector<double> norms = finite_values(column(run, "grad_norm"));
    const double weights =
        std::sqrt(probe_shape(recipe.stack, recipe.train.batch, recipe.train.accumulate).parameters());
    std::vector<double> factors, rms;
    std::size_t dead = 0;
    for (const double norm : norms) {
        const bool clipped = optimizer.clip > 0 && norm > optimizer.clip;
        if (clipped) factors.push_back(norm / optimizer.clip);
        rms.push_back((clipped ? optimizer.clip : norm) / weights);
        dead += rms.back() < optimizer.eps;
    }
    measures.clipped = optimizer.clip > 0 ? share_of(factors.size(), norms.size()) : kNaN;
    measures.clip_factor = median(factors);
    measures.gradient_rms = median(rms);
    measures.dead = divides_by_size(optimizer.kind) ? share_of(dead, norms.size()) : kNaN;
}

double median_update(const RunData& run) {
    std::vector<double> largest;
    const auto samples = run.probes.find("updates");
    if (samples == run.probes.end()) return kNaN;
    for (const ProbeResult& sample : samples->second) {
        // Of a trial, or of weights alone: no step of the run.
        if (sample.labels.count("update")) continue;
        const NamedArray* ratios = sample.find("update_ratio");
        const std::vector<double> known = ratios ? finite_values(ratios->data) : std::vector<double>();
        if (!known.empty()) largest.push_back(*std::max_element(known.begin(), known.end()));
    }
    return median(largest);
}

}  // namespace

bool TrainingMeasures::healthy_gradient() const {
    return gradient_ratio >= Verdict::kVanishing && gradient_ratio <= Verdict::kExploding;
}

bool TrainingMeasures::reached_unigram() const {
    return over_unigram <= 1 + kAtUnigram;
}

TrainingMeasures training_measures(const Recipe& recipe, const RunData& run) {
    TrainingMeasures measures{};
    measures.steps = static_cast<std::int64_t>(run.steps.rows());
    measure_gradients(measures, recipe, run);
    const auto skipped = std::count_if(run.events.begin(), run.events.end(),
                                       [](const RunEvent& event) { return event.kind == "overflow"; });
    measures.skipped = share_of(static_cast<std::size_t>(skipped), run.steps.rows());
    measures.update = median_update(run);
    const std::vector<double> rates = finite_values(column(run, "lr"));
    measures.peak_rate =
        rates.empty() ? recipe.train.optimizer.lr : *std::max_element(rates.begin(), rates.end());
    double rate_sum = 0;
    for (const double rate : rates) rate_sum += rate;
    const bool decoupled = recipe.train.optimizer.kind != OptimizerKind::Adam;
    measures.decay = decoupled && !rates.empty() ? recipe.train.optimizer.weight_decay * rate_sum : kNaN;
    const std::vector<double> losses = column(run, "loss");
    const double last = mean(last_steps(losses));
    measures.fall = losses.empty() ? kNaN : losses.front() - last;
    measures.over_unigram = run.unigram_entropy > 0 ? last / run.unigram_entropy : kNaN;
    measures.gradient_ratio = geometric_median(last_steps(finite_values(column(run, "grad_ratio"))));
    return measures;
}

}  // namespace normscope
