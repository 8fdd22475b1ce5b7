// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/draft.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"
#include "core/findings/training_measures.h"
#include "core/run/memory_need.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

constexpr std::int64_t kSteps = 16;
constexpr std::ptrdiff_t kLast = 4;
constexpr double kMargin = 1;  // nat above the first loss, as Verdict
// A gain is beyond noise above both: nat, and standard errors.
constexpr double kMinGain = 0.05, kErrors = 2;

double value_of(const StepRecord& record, const char* name) {
    for (const auto& [key, value] : record.values)
        if (key == name) return value;
    return kNaN;
}

/// The last 4 of the first `count` values; fewer where there are fewer.
std::vector<double> last_of(const std::vector<double>& values, std::size_t count) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
    return {end - std::min<std::ptrdiff_t>(kLast, end - values.begin()), end};
}

double last_gradient(const FirstSteps& first, std::size_t count) {
    return geometric_median(finite_values(last_of(first.gradient, count)));
}

bool within_bounds(double gradient) {
    return gradient >= Verdict::kVanishing && gradient <= Verdict::kExploding;
}

/// Why the steps are not sound; empty if they are.
std::string unsound(const FirstSteps& first, const Outcome& outcome) {
    const auto n = static_cast<std::int64_t>(first.loss.size());
    const double loss = mean(last_of(first.loss, first.loss.size()));
    const double gradient = last_gradient(first, first.gradient.size());
    if (n == 0) return "no step";
    if (outcome.state == RunState::Diverged || outcome.state == RunState::Failed)
        return std::string(run_state_word(outcome.state)) + " at step " + std::to_string(n - 1);
    if (!(loss < first.loss.front() + kMargin)) return "loss " + number_text(loss);
    if (2 * first.overflows > n)
        return std::to_string(first.overflows) + " of " + std::to_string(n) + " steps overflow";
    if (!within_bounds(gradient)) return "gradient " + number_text(gradient);
    return {};
}

/// A number of nat with its standard error.
struct Measured {
    double value, error;
    bool beyond_noise() const { return value > kMinGain && value > noise(); }
    /// Not below zero by as much.
    bool not_negative() const { return value > -std::max(kMinGain, noise()); }

  private:
    double noise() const { return std::isfinite(error) ? kErrors * error : 0; }
};

/// What a draft fell.
Measured fallen(const FirstSteps& draft, double ln_vocab) {
    const std::vector<double> last = last_of(draft.loss, draft.loss.size());
    const double begin = std::isnan(ln_vocab) ? draft.loss.front() : std::min(draft.loss.front(), ln_vocab);
    // Not below 0, which an unchanged recipe gains; and NaN stays NaN.
    const double fell = begin - mean(last);
    return {fell < 0 ? 0 : fell, standard_error(last)};
}

/// What a draft leads the control by.
Measured lead(const FirstSteps& draft, const DraftControl& control) {
    const std::size_t n = draft.loss.size();
    constexpr double kUnlimited = std::numeric_limits<double>::infinity();
    if (control.first.loss.size() < n) return {kUnlimited, 0};
    const std::vector<double> own = last_of(draft.loss, n), its = last_of(control.first.loss, n);
    std::vector<double> differences;
    for (std::size_t i = 0; i < own.size(); ++i) differences.push_back(its[i] - own[i]);
    const double level = mean(differences), error = standard_error(differences);
    if (!std::isfinite(mean(its))) return {kUnlimited, 0};
    if (control.kind != DraftControl::Kind::Slow) return {level, error};
    return {draft.loss.front() - mean(own) - (control.first.loss.front() - mean(its)), error};
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
        first.gradient.push_back(gradient ? (*gradient)[i] : kNaN);
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

bool DraftControl::loss_can_fall() const {
    return !(ln_vocab - unigram_entropy < kMinGain);  // where either is unknown, too
}

const char* control_word(DraftControl::Kind kind) {
    constexpr const char* kWords[] = {"failing", "slow", "later"};
    return kWords[static_cast<int>(kind)];
}

DraftControl control_of(const RunData& run, std::int64_t count) {
    DraftControl control;
    control.first = first_steps(run, count);
    control.ln_vocab = run.ln_vocab > 0 ? run.ln_vocab : kNaN;
    control.unigram_entropy = run.unigram_entropy;
    const Recipe* recipe = run.recipe.get();
    if (!recipe) return control;
    const std::int64_t steps = draft_steps(*recipe);
    const bool whole = static_cast<std::int64_t>(run.steps.rows()) <= steps;  // its draft is all of it
    const bool stalled = run.outcome.state == RunState::Stalled;
    if ((whole && !stalled) || !unsound(first_steps(run, steps), {}).empty()) return control;
    const TrainingMeasures measures = training_measures(*recipe, run);
    const bool later = !stalled || !measures.healthy_gradient() || measures.reached_unigram();
    control.kind = later && !whole ? DraftControl::Kind::Later : DraftControl::Kind::Slow;
    return control;
}

DraftResult evaluate_draft(FirstSteps first, const Outcome& outcome, const DraftControl& control) {
    DraftResult result;
    result.loss = mean(last_of(first.loss, first.loss.size()));
    result.gradient = last_gradient(first, first.gradient.size());
    result.gain = result.error = kNaN;
    result.why_not = unsound(first, outcome);
    if (!first.loss.empty()) {
        const Measured fell = fallen(first, control.ln_vocab), leads = lead(first, control);
        const Measured& gain = leads.value < fell.value ? leads : fell;
        result.gain = gain.value;
        result.error = gain.error;
        result.by_gradient = !control.loss_can_fall();
        const bool gained = result.by_gradient ? leads.not_negative()
                            : control.kind == DraftControl::Kind::Later
                                ? fell.beyond_noise() && leads.not_negative()
                                : gain.beyond_noise();
        if (result.why_not.empty() && !gained) result.why_not = "gain " + number_text(gain.value);
    }
    result.enough = result.why_not.empty();
    result.first = std::move(first);
    return result;
}

DraftResult infeasible_draft(std::string why) {
    DraftResult result;
    result.loss = result.gradient = result.gain = result.error = kNaN;
    result.why_not = std::move(why);
    return result;
}

DraftResult draft(const Recipe& recipe, const DraftControl& control, ThreadPool& pool, Corpora* corpora,
                  Device& device, const std::atomic<bool>* cancel) {
    try {
        Draft run(recipe, pool.threads(), corpora, device);
        while (!run.ended()) {
            if (cancel && cancel->load(std::memory_order_relaxed)) throw Cancelled{};
            run.advance(pool);
        }
        return evaluate_draft(run.first(), run.outcome(), control);
    } catch (const InputError& error) {
        return infeasible_draft(error.what());
    }
}

}  // namespace normscope
