// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/complete_run.h"

#include "core/base/statistics.h"
#include "core/run/memory_need.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr std::size_t kLast = 20;

std::vector<double> last_of(const StepTable& steps, const char* name) {
    const std::vector<double>* column = steps.find(name);
    if (!column) return {};
    return {column->end() - static_cast<std::ptrdiff_t>(std::min(kLast, column->size())), column->end()};
}

}  // namespace

RunData complete_run(Recipe recipe, const std::string& name, ThreadPool& pool, Corpora* corpora,
                     Device& device, const std::atomic<bool>* cancel) {
    auto corpus = complete_and_validate(recipe, corpora);
    require_device(recipe, pool.threads(), device);
    Experiment experiment(recipe, "a", name, std::move(corpus), device);
    RunData run = experiment.header();
    while (!experiment.ended() && experiment.steps_done() < recipe.train.steps) {
        if (cancel && cancel->load(std::memory_order_relaxed)) throw Cancelled{};
        append(run, experiment.advance(pool));
    }
    return run;
}

FinalValues final_values(const RunData& run) {
    FinalValues values;
    values.rows = static_cast<std::int64_t>(run.steps.rows());
    const std::vector<double> loss = last_of(run.steps, "loss");
    values.loss = mean(loss);
    values.loss_error = standard_error(loss);
    values.gradient = geometric_median(finite_values(last_of(run.steps, "grad_ratio")));
    return values;
}

}  // namespace normscope
