// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/remedies.h"

#include "core/base/number_text.h"
#include "core/findings/sentence.h"
#include "core/findings/training_measures.h"
#include "core/train/optimizers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope {

namespace {

constexpr double kSmallStep = 0.2;
constexpr double kDistinct = 1.25;  // factor from which on two residual steps are two trials
constexpr int kWarmup = 50;
// Of "too small" and "clipped" in the header.
constexpr double kLabRate = 3e-3, kFarFromLab = 30, kBelowLab = 3;
constexpr double kMostlyDead = 0.5, kMostlyClipped = 0.9, kTightClip = 10, kSmallUpdate = 1e-3,
                 kDecayed = 0.5;
constexpr double kUsualEps = 1e-8, kMinEps = 1e-15;

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

    /// Of the remedies that are added from here on.
    void set_kind(RemedyKind kind) { kind_ = kind; }
    template <class Edit>
    void add(std::string id, std::string name, std::string sentence, Edit&& edit, std::string reason = {}) {
        Recipe edited = recipe_;
        edit(edited);
        if (same_recipe(edited, recipe_)) return;
        all_.push_back({std::move(id), std::move(name), std::move(sentence), std::move(reason), kind_,
                        std::move(edited)});
    }
    std::vector<Remedy> take() { return std::move(all_); }

  private:
    Recipe recipe_;
    RemedyKind kind_ = RemedyKind::Training;
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
        list.add("init_gpt2", "Init GPT-2", "Initialisation of GPT-2: output projections divided by √(2N)",
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

bool tightly_clipped(const RunData& run, const TrainingMeasures& measures) {
    return run.outcome.state == RunState::Stalled && measures.clipped >= kMostlyClipped &&
           measures.clip_factor >= kTightClip;
}

/// Whether the warm-up takes more than half of the run.
bool long_warmup(const TrainSpec& train) {
    return train.steps > 0 && 2 * static_cast<std::int64_t>(train.schedule.warmup) > train.steps;
}

/// Whether the measurements point to steps that were too small: see remedies().
bool steps_too_small(const TrainSpec& train, const RunData& run, const TrainingMeasures& measures) {
    if (run.outcome.state != RunState::Stalled) return false;
    const bool adam = divides_by_size(train.optimizer.kind);
    const bool low_rate = (adam ? kBelowLab * measures.peak_rate <= kLabRate : measures.healthy_gradient()) &&
                          measures.over_unigram > 1 + kAtUnigram;
    return measures.dead >= kMostlyDead || measures.update < kSmallUpdate || low_rate ||
           (long_warmup(train) && measures.healthy_gradient()) || (!adam && tightly_clipped(run, measures));
}

/// "the highest rate of a step was 10⁻⁶, the loss ended 28 % above the unigram entropy".
std::string low_rate_reason(const TrainingMeasures& measures) {
    std::string reason = "the highest rate of a step was " + number_text(measures.peak_rate);
    if (measures.over_unigram > 1)
        reason += ", the loss ended " + percent(measures.over_unigram - 1) + " above the unigram entropy";
    if (std::isfinite(measures.update))
        reason += ", the largest change of a group of weights was " + number_text(measures.update) +
                  " of its norm (median)";
    return reason;
}

void add_rates(List& list, const OptimizerSpec& optimizer, bool too_small, const TrainingMeasures& measures) {
    const auto add = [&](const std::string& id, const std::string& name, double lr,
                         const std::string& reason) {
        list.add(
            id, name, "Learning rate " + number_text(optimizer.lr) + " → " + number_text(lr),
            [&](Recipe& r) { r.train.optimizer.lr = lr; }, reason);
    };
    const bool adam = divides_by_size(optimizer.kind);
    const std::string low = too_small ? low_rate_reason(measures) : "";
    for (const int factor : {3, 10}) {
        const double lr = optimizer.lr * factor;
        // A rate that is the laboratory's but for rounding counts as within it.
        if (too_small && lr > 0 && (!adam || lr <= kLabRate * (1 + 1e-9)))
            add("lr_times_" + std::to_string(factor), "rate × " + std::to_string(factor), lr, low);
    }
    if (adam && optimizer.lr > 0) {
        const std::string id = "lr_" + plain_number(kLabRate), name = "rate " + number_text(kLabRate);
        if (too_small && kLabRate > kFarFromLab * optimizer.lr) add(id, name, kLabRate, low);
        if (!too_small && optimizer.lr > kFarFromLab * kLabRate) add(id, name, kLabRate, "");
    }
    if (too_small) return;
    const std::string large = std::isfinite(measures.update)
                                  ? "the largest change of a group of weights in an update was " +
                                        number_text(measures.update) + " of its norm (median)"
                                  : "";
    for (const int divisor : {10, 3})
        add("lr_over_" + std::to_string(divisor),
            divisor == 3 ? "a third of the rate" : "a tenth of the rate", optimizer.lr / divisor, large);
}

void add_eps(List& list, const OptimizerSpec& optimizer, const TrainingMeasures& measures) {
    if (!(measures.dead >= kMostlyDead) || !(measures.gradient_rms > 0)) return;
    // Two decades under the gradient, so that it acts on the smaller entries too, which are most of them.
    const double under = std::pow(10, std::floor(std::log10(measures.gradient_rms)) - 2);
    const double eps = std::clamp(under, kMinEps, kUsualEps);
    if (!(eps < optimizer.eps)) return;
    list.add(
        "eps_" + plain_number(eps), "ε " + number_text(eps),
        "Adam's ε " + number_text(optimizer.eps) + " → " + number_text(eps),
        [&](Recipe& r) { r.train.optimizer.eps = eps; },
        "at " + percent(measures.dead) +
            " of the steps the gradient after clipping, per weight, was below ε; its median is " +
            number_text(measures.gradient_rms));
}

void add_clips(List& list, const OptimizerSpec& optimizer, bool tight, bool too_small,
               const TrainingMeasures& measures) {
    const auto add = [&](double clip, const std::string& reason) {
        list.add(
            "clip_" + number_text(clip), "clip " + number_text(clip),
            "Gradient norm clipped at " + number_text(clip) +
                (optimizer.clip > 0 ? " instead of " + number_text(optimizer.clip) : ""),
            [&](Recipe& r) { r.train.optimizer.clip = clip; }, reason);
    };
    if (tight) {
        const std::string reason = percent(measures.clipped) +
                                   " of the steps were clipped, by a median factor of " +
                                   number_text(measures.clip_factor);
        list.add(
            "clip_off", "clip off", "Gradient norm not clipped instead of at " + number_text(optimizer.clip),
            [](Recipe& r) { r.train.optimizer.clip = 0; }, reason);
        add(optimizer.clip < 0.1 ? 1 : 10 * optimizer.clip, reason);
    }
    if (!too_small) add(optimizer.clip > 0 ? optimizer.clip / 10 : 1, "");
}

void add_warmups(List& list, const TrainSpec& train, bool too_small) {
    const auto add = [&](int warmup, const std::string& sentence, const std::string& reason) {
        list.add(
            "warmup_" + std::to_string(warmup), "warm-up " + std::to_string(warmup), sentence,
            [&](Recipe& r) { r.train.schedule.warmup = warmup; }, reason);
    };
    const int now = train.schedule.warmup;
    if (long_warmup(train))
        add(train.steps / 10,
            "Warm-up of " + std::to_string(train.steps / 10) + " steps instead of " + std::to_string(now),
            "the warm-up took " + std::to_string(std::min(now, train.steps)) + " of the " +
                std::to_string(train.steps) + " steps");
    if (!too_small && now < kWarmup && train.steps > kWarmup)
        add(kWarmup, "Warm-up of " + std::to_string(kWarmup) + " steps", "");
}

void add_training(List& list, const TrainSpec& train, const RunData& run, const TrainingMeasures& measures) {
    const OptimizerSpec& optimizer = train.optimizer;
    const bool too_small = steps_too_small(train, run, measures);
    if (is_low(train.precision) && overflowed(run))
        list.add(
            "fp32", "FP32", "Precision float32", [](Recipe& r) { r.train.precision = Precision::Fp32; },
            measures.skipped > 0 ? percent(measures.skipped) + " of the updates were skipped" : "");
    add_rates(list, optimizer, too_small, measures);
    add_eps(list, optimizer, measures);
    add_clips(list, optimizer, tightly_clipped(run, measures), too_small, measures);
    add_warmups(list, train, too_small);
    if (measures.decay >= kDecayed) {
        const double decay = optimizer.weight_decay / 10;
        list.add(
            "decay_" + plain_number(decay), "decay " + number_text(decay),
            "Weight decay " + number_text(optimizer.weight_decay) + " → " + number_text(decay),
            [&](Recipe& r) { r.train.optimizer.weight_decay = decay; },
            "weight decay · learning rate, summed over the steps, was " + number_text(measures.decay));
    }
    if (divides_by_size(optimizer.kind)) {
        const double beta = optimizer.betas[1] < 0.99 ? 0.999 : 0.95;
        list.add("beta2_" + plain_number(beta), "β₂ " + number_text(beta, 3),
                 "Adam's β₂ " + number_text(optimizer.betas[1], 3) + " → " + number_text(beta, 3) +
                     ", an experiment",
                 [&](Recipe& r) { r.train.optimizer.betas[1] = beta; });
    }
}

}  // namespace

const char* remedy_kind_word(RemedyKind kind) {
    constexpr const char* kWords[] = {"training", "weights", "stack"};
    return kWords[static_cast<int>(kind)];
}

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
    add_training(list, recipe.train, run, training_measures(recipe, run));
    list.set_kind(RemedyKind::Weights);
    add_initialisations(list, recipe.stack);
    list.set_kind(RemedyKind::Stack);
    add_residual_steps(list, recipe.stack);
    add_schemes(list, recipe.stack);
    return list.take();
}

}  // namespace normscope
