// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/remedies.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr double kSmallStep = 0.2;
constexpr double kDistinct = 1.25;  // factor from which on two residual steps are two trials
constexpr int kWarmup = 50;

bool is_low(Precision precision) {
    return precision == Precision::Fp16 || precision == Precision::Bf16;
}

/// Whether a number of the run left the range of its format: then the format itself is one possible cause.
bool overflowed(const RunData& run) {
    if (run.outcome.state == RunState::Diverged && run.outcome.layer >= 0) return true;
    return std::any_of(run.events.begin(), run.events.end(),
                       [](const RunEvent& event) { return event.kind == "overflow"; });
}

/// Builds the list; each trial is a copy of the recipe with an edit.
class List {
  public:
    explicit List(const Recipe& recipe) : recipe_(without_planned_steps(recipe)) {}

    template <class Edit>
    void add(std::string id, std::string name, std::string sentence, Edit&& edit) {
        Recipe edited = recipe_;
        edit(edited);
        if (same_recipe(edited, recipe_)) return;
        all_.push_back({std::move(id), std::move(name), std::move(sentence), std::move(edited)});
    }
    std::vector<Remedy> take() { return std::move(all_); }

  private:
    Recipe recipe_;
    std::vector<Remedy> all_;
};

void add_residual_steps(List& list, const StackSpec& stack) {
    const double now = stack.residual_step, by_depth = 1 / std::sqrt(2.0 * stack.depth);
    std::vector<double> steps{kSmallStep};
    if (std::max(by_depth / kSmallStep, kSmallStep / by_depth) > kDistinct) steps.push_back(by_depth);
    for (const double step : steps) {
        if (!(now > step * kDistinct)) continue;
        // Two digits are what the name and the sentence state, so they are what is tried.
        const double tried = std::stod(number_text(step));
        list.add("residual_step_" + number_text(tried), "Δt " + number_text(tried),
                 "Residual step " + number_text(now) + " → " + number_text(tried),
                 [&](Recipe& r) { r.stack.residual_step = tried; });
    }
}

void add_initialisations(List& list, const StackSpec& stack) {
    const auto with_rule = [](InitRule rule) {
        return [rule](Recipe& r) {
            r.stack.init = InitSpec{};
            r.stack.init.rule = rule;
        };
    };
    if (stack.init.rule != InitRule::Gpt2)
        list.add("init_gpt2", "Init GPT-2", "Initialisation of GPT-2: output projections ÷ √(2N)",
                 with_rule(InitRule::Gpt2));
    if (stack.init.rule != InitRule::DeepNorm && stack.scheme != Scheme::DeepNorm)
        list.add("init_deepnorm", "Init DeepNorm", "Initialisation of DeepNorm, its scheme unchanged",
                 with_rule(InitRule::DeepNorm));
}

void add_schemes(List& list, const StackSpec& stack) {
    const auto with_scheme = [](Scheme scheme) {
        return [scheme](Recipe& r) {
            r.stack.scheme = scheme;
            r.stack.layers.clear();  // they were overrides of another scheme
        };
    };
    if (stack.scheme != Scheme::DeepNorm || stack.init.rule != InitRule::DeepNorm)
        list.add("deepnorm", "DeepNorm", "DeepNorm with its own initialisation", [&](Recipe& r) {
            with_scheme(Scheme::DeepNorm)(r);
            r.stack.init = InitSpec{};
            r.stack.init.rule = InitRule::DeepNorm;
        });
    if (stack.scheme != Scheme::Pre)
        list.add("pre", "Pre-LN", "A norm before each sub-layer", with_scheme(Scheme::Pre));
    if (stack.scheme != Scheme::Peri && stack.scheme != Scheme::Sandwich)
        list.add("peri", "Peri-LN", "A norm before and after each sub-layer", with_scheme(Scheme::Peri));
}

void add_training(List& list, const TrainSpec& train) {
    for (const int divisor : {10, 3}) {
        const double lr = train.optimizer.lr / divisor;
        list.add("lr_over_" + std::to_string(divisor), "rate ÷ " + std::to_string(divisor),
                 "Learning rate " + number_text(train.optimizer.lr) + " → " + number_text(lr),
                 [&](Recipe& r) { r.train.optimizer.lr = lr; });
    }
    if (train.schedule.warmup < kWarmup && train.steps > kWarmup)
        list.add("warmup_50", "warm-up 50", "Warm-up of " + std::to_string(kWarmup) + " steps",
                 [](Recipe& r) { r.train.schedule.warmup = kWarmup; });
    const double clip = train.optimizer.clip > 0 ? train.optimizer.clip / 10 : 1;
    list.add("clip_" + number_text(clip), "clip " + number_text(clip),
             "Gradient norm clipped at " + number_text(clip) +
                 (train.optimizer.clip > 0 ? " instead of " + number_text(train.optimizer.clip) : ""),
             [&](Recipe& r) { r.train.optimizer.clip = clip; });
}

}  // namespace

bool has_failed(const Outcome& outcome) {
    return outcome.state == RunState::Diverged || outcome.state == RunState::Stalled ||
           outcome.state == RunState::Collapsed;
}

std::string remedies_obstacle(const RunData& run) {
    if (!run.recipe.get()) return "its recipe cannot be read: " + run.recipe.problem();
    for (const RunEvent& event : run.events)
        if (event.kind == "weights") return "it began with weights " + event.text;
    return {};
}

std::vector<Remedy> remedies(const Recipe& recipe, const RunData& run) {
    List list(recipe);
    if (is_low(recipe.train.precision) && overflowed(run))
        list.add("fp32", "FP32", "Precision float32", [](Recipe& r) { r.train.precision = Precision::Fp32; });
    add_residual_steps(list, recipe.stack);
    add_initialisations(list, recipe.stack);
    add_schemes(list, recipe.stack);
    add_training(list, recipe.train);
    return list.take();
}

}  // namespace normscope
