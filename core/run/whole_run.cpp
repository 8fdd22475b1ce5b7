// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/whole_run.h"

#include "core/run/memory_need.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

constexpr std::size_t kLast = 20;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> last_of(const StepTable& steps, const char* name) {
    const std::vector<double>* column = steps.find(name);
    if (!column) return {};
    return {column->end() - static_cast<std::ptrdiff_t>(std::min(kLast, column->size())), column->end()};
}

}  // namespace

RunData whole_run(Recipe recipe, const std::string& name, ThreadPool& pool, Corpora* corpora, Device& device,
                  const std::atomic<bool>* cancel) {
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
    std::vector<double> gradient = last_of(run.steps, "grad_ratio");
    std::erase_if(gradient, [](double g) { return !std::isfinite(g); });
    values.loss = values.loss_error = values.gradient = kUnknown;
    const auto n = static_cast<double>(loss.size());
    if (!loss.empty()) {
        double sum = 0, squares = 0;
        for (const double l : loss) sum += l;
        values.loss = sum / n;
        for (const double l : loss) squares += (l - values.loss) * (l - values.loss);
        if (loss.size() > 1) values.loss_error = std::sqrt(squares / (n - 1) / n);
    }
    if (!gradient.empty()) {
        std::nth_element(gradient.begin(),
                         gradient.begin() + static_cast<std::ptrdiff_t>(gradient.size() / 2), gradient.end());
        values.gradient = gradient[gradient.size() / 2];
    }
    return values;
}

}  // namespace normscope
