// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/draft.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"
#include "core/run/memory_need.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

constexpr std::int64_t kSteps = 16;
constexpr std::ptrdiff_t kLast = 4;
constexpr double kMargin = 1;  // nat above the first loss, as Verdict

double value_of(const StepRecord& record, const char* name) {
    for (const auto& [key, value] : record.values)
        if (key == name) return value;
    return std::numeric_limits<double>::quiet_NaN();
}

/// The last 4 of the first `count` values.
std::vector<double> last_of(const std::vector<double>& values, std::size_t count) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
    return {end - std::min<std::ptrdiff_t>(kLast, end - values.begin()), end};
}

/// A recipe with nothing but the steps of training.
Recipe bare(Recipe recipe) {
    recipe.probes.clear();
    recipe.watch.clear();
    recipe.train.validate_every = 0;
    return recipe;
}

}  // namespace

std::int64_t draft_steps(const Recipe& recipe) {
    return std::min<std::int64_t>(recipe.train.schedule.warmup + kSteps, recipe.train.steps);
}

FirstSteps first_steps(const RunData& run, std::int64_t count) {
    FirstSteps first;
    const std::vector<double>*loss = run.steps.find("loss"), *gradient = run.steps.find("grad_ratio");
    for (std::size_t i = 0; loss && i < loss->size() && run.steps.step[i] < count; ++i) {
        first.loss.push_back((*loss)[i]);
        first.gradient.push_back(gradient ? (*gradient)[i] : std::numeric_limits<double>::quiet_NaN());
    }
    for (const RunEvent& event : run.events)
        first.overflows += event.kind == "overflow" && event.step < count;
    return first;
}

Draft::Draft(Recipe recipe, int threads, Corpora* corpora, Device& device) {
    auto corpus = complete_and_validate(recipe, corpora);
    steps_ = draft_steps(recipe);
    recipe = bare(std::move(recipe));
    require_device(recipe, threads, device);
    experiment_ = std::make_unique<Experiment>(recipe, "draft", "draft", std::move(corpus), device);
}

void Draft::advance(ThreadPool& pool) {
    NORMSCOPE_ASSERT(!ended(), "a draft is not advanced past its end");
    const RunDelta delta = experiment_->advance(pool);
    for (const StepRecord& record : delta.steps) {
        first_.loss.push_back(value_of(record, "loss"));
        first_.gradient.push_back(value_of(record, "grad_ratio"));
    }
    for (const RunEvent& event : delta.events) first_.overflows += event.kind == "overflow";
}

DraftResult evaluate_draft(FirstSteps first, const Outcome& outcome) {
    DraftResult result;
    const bool steps = !first.loss.empty();
    result.loss = mean(last_of(first.loss, kSteps));
    result.gradient = geometric_median(finite_values(last_of(first.gradient, first.gradient.size())));
    const auto n = static_cast<std::int64_t>(first.loss.size());
    if (!steps)
        result.why_not = "no step";
    else if (outcome.state == RunState::Diverged || outcome.state == RunState::Failed)
        result.why_not = std::string(run_state_word(outcome.state)) + " at step " + std::to_string(n - 1);
    else if (!(result.loss < first.loss.front() + kMargin))
        result.why_not = "loss " + number_text(result.loss);
    else if (2 * first.overflows > n)
        result.why_not = std::to_string(first.overflows) + " of " + std::to_string(n) + " steps overflow";
    else if (!(result.gradient >= Verdict::kVanishing && result.gradient <= Verdict::kExploding))
        result.why_not = "gradient " + number_text(result.gradient);
    result.enough = result.why_not.empty();
    result.first = std::move(first);
    return result;
}

DraftResult infeasible_draft(std::string why) {
    DraftResult result;
    result.loss = result.gradient = std::numeric_limits<double>::quiet_NaN();
    result.why_not = std::move(why);
    return result;
}

std::vector<std::size_t> ranked(const std::vector<DraftResult>& drafts) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < drafts.size(); ++i)
        if (drafts[i].enough) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return drafts[a].loss < drafts[b].loss; });
    return order;
}

DraftResult draft(const Recipe& recipe, ThreadPool& pool, Corpora* corpora, Device& device,
                  const std::atomic<bool>* cancel) {
    try {
        Draft run(recipe, pool.threads(), corpora, device);
        while (!run.ended()) {
            if (cancel && cancel->load(std::memory_order_relaxed)) throw Cancelled{};
            run.advance(pool);
        }
        return evaluate_draft(run.first(), run.outcome());
    } catch (const InputError& error) {
        return infeasible_draft(error.what());
    }
}

}  // namespace normscope
