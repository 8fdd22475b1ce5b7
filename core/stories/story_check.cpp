// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stories/story_check.h"

#include "core/base/number_text.h"
#include "core/model/gradient_ratio.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/experiment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>

namespace normscope {

namespace {

using Quantity = StoryPredicate::Quantity;

constexpr std::ptrdiff_t kMeanOf = 20;

bool has_ended(const RunData& run) {
    const RunState state = run.outcome.state;
    return state != RunState::Prepared && state != RunState::Running && state != RunState::Paused;
}

/// The row of a step, by default the last row of a run that has ended; −1 where there is none.
std::ptrdiff_t row_of(const RunData& run, std::optional<std::int64_t> step) {
    const auto& steps = run.steps.step;
    if (!step) return has_ended(run) ? static_cast<std::ptrdiff_t>(steps.size()) - 1 : -1;
    const auto at = std::find(steps.begin(), steps.end(), *step);
    return at == steps.end() ? -1 : at - steps.begin();
}

/// The mean of a column over up to 20 rows that end with this one.
double mean_up_to(const std::vector<double>& column, std::ptrdiff_t row) {
    const auto begin = column.begin() + std::max<std::ptrdiff_t>(0, row + 1 - kMeanOf);
    const auto end = column.begin() + row + 1;
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

/// Of a probe's sample at exactly this step.
const NamedArray* sampled(const RunData& run, const char* probe, const char* array, std::int64_t step) {
    const ProbeResult* sample = run.sample_of(probe, step);
    return sample ? sample->find(array) : nullptr;
}

struct Value {
    bool known = false;  ///< recorded
    double value = 0;
};

Value scalar_value(const RunData& run, const SweepScalar& scalar, std::optional<std::int64_t> step) {
    if (!step && !has_ended(run)) return {};
    if (!step && run.steps.step.empty()) return {};
    const std::int64_t at = step ? *step : run.steps.step.back();
    const ProbeResult* sample = run.sample_of(scalar.probe, at);
    const NamedArray* array = sample ? sample->find(scalar.array) : nullptr;
    if (!array) return {};
    const auto value = value_over(*sample, *array, scalar.over);
    return value ? Value{true, *value} : Value{};
}

Value value_of(const RunData& run, const StoryPredicate& predicate, std::optional<std::int64_t> step) {
    const Quantity quantity = predicate.quantity;
    if (quantity == Quantity::Scalar) return scalar_value(run, predicate.scalar, step);
    if (quantity == Quantity::GrowthRatio) {
        const NamedArray* rms = sampled(run, "growth", "rms", *step);
        return rms && !rms->data.empty() ? Value{true, rms->data.back() / rms->data.front()} : Value{};
    }
    if (quantity == Quantity::MedianToken) {
        const NamedArray* median = sampled(run, "transport", "median_token", *step);
        return median && median->data.size() >= 3 ? Value{true, median->data[2]} : Value{};
    }
    const bool loss = quantity == Quantity::Loss;
    const std::vector<double>* column = run.steps.find(loss ? "loss" : "grad_ratio");
    if (const std::ptrdiff_t row = column ? row_of(run, step) : -1; row >= 0)
        return {true, loss || !step ? mean_up_to(*column, row) : (*column)[static_cast<std::size_t>(row)]};
    if (loss || !step) return {};
    // Before training the probe's sample on the held-out batch.
    const NamedArray* hidden = sampled(run, "gradients", "hidden", *step);
    return hidden && hidden->data.size() >= 3 ? Value{true, gradient_ratio(hidden->data)} : Value{};
}

/// The step of a predicate in this run; nullopt where it counts from a knob move and no knob was moved.
std::optional<std::int64_t> step_in(const RunData& run, const StoryPredicate& predicate) {
    if (!predicate.after_knob) return predicate.step;
    const auto event = std::find_if(run.events.rbegin(), run.events.rend(),
                                    [](const RunEvent& e) { return e.kind == "knob"; });
    return event == run.events.rend() ? std::nullopt : std::optional(event->step + *predicate.step);
}

std::string where_of(const StoryPredicate& predicate, std::optional<std::int64_t> step) {
    if (step) return "at step " + std::to_string(*step);
    if (predicate.after_knob) return std::to_string(*predicate.step) + " steps after the knob move";
    return "at the end";
}

StoryFinding check_outcome(const StoryPredicate& predicate, const RunData& run) {
    const std::string line =
        run.name + ": " + run_state_word(run.outcome.state) + ", stated " + run_state_word(predicate.state);
    if (!has_ended(run)) return {StoryVerdict::NotYet, line};
    return {run.outcome.state == predicate.state ? StoryVerdict::Holds : StoryVerdict::Fails, line};
}

void move(Recipe& recipe, const StoryAction& knob) {
    HotKnobs knobs = hot_knobs(recipe);
    for (const RecipeKey* key : hot_keys())
        if (key->name == knob.key) knobs.*key->role.knob = knob.to;
    set_hot_knobs(recipe, knobs);
}

/// The probe that a predicate reads; null: the step table.
const char* probe_of(const StoryPredicate& predicate) {
    switch (predicate.quantity) {
        case Quantity::GrowthRatio:
            return "growth";
        case Quantity::MedianToken:
            return "transport";
        case Quantity::Scalar:
            return predicate.scalar.probe.c_str();
        default:
            return nullptr;
    }
}

/// The probes that predicates read, at those steps alone; the step table has the rest.
std::vector<ProbePlan> plans_of(const Story& story) {
    std::map<std::string, std::set<std::int64_t>> steps;
    for (const StoryStep& step : story.steps)
        for (const StoryPredicate& predicate : step.holds)
            if (const char* probe = probe_of(predicate))
                steps[probe].insert({0, predicate.after_knob ? 0 : predicate.step.value_or(0)});
    std::vector<ProbePlan> plans;
    for (const auto& [probe, at] : steps) {
        std::string list;
        for (const std::int64_t step : at) list += (list.empty() ? "" : ",") + std::to_string(step);
        plans.push_back({probe, 0, list});
    }
    return plans;
}

}  // namespace

StoryFinding check(const Story& story, const StoryPredicate& predicate,
                   const std::vector<const RunData*>& runs) {
    const auto at = [&](std::size_t i) { return i < runs.size() ? runs[i] : nullptr; };
    const RunData* run = at(predicate.run);
    const RunData* other = predicate.of_run ? at(*predicate.of_run) : run;
    if (!run || !other) {
        const std::size_t missing = run ? *predicate.of_run : predicate.run;
        return {StoryVerdict::NotYet, story.runs[missing].name + ": not in the comparison"};
    }
    if (predicate.quantity == Quantity::Outcome) return check_outcome(predicate, *run);
    const auto step = step_in(*run, predicate);
    const auto measured = [&](const RunData& of) {
        return predicate.after_knob && !step ? Value{} : value_of(of, predicate, step);
    };
    const Value value = measured(*run);
    const SweepScalar other_array{predicate.scalar.probe, predicate.of_array, predicate.scalar.over};
    const Value limit = !predicate.of_array.empty() ? scalar_value(*run, other_array, step)
                        : predicate.of_run          ? measured(*other)
                                                    : Value{true, predicate.value};
    StoryFinding finding;
    const std::string quantity = predicate.quantity == Quantity::Scalar
                                     ? predicate.scalar.title()
                                     : story_quantity_words()[static_cast<std::size_t>(predicate.quantity)];
    finding.line = run->name + ": " + quantity + " " + where_of(predicate, step) + " is " +
                   (value.known ? number_text(value.value, 3) : "not recorded") + ", stated " +
                   (predicate.greater ? "> " : "< ") +
                   (predicate.times != 1 ? number_text(predicate.times, 3) + " times " : "") +
                   (predicate.of_run ? other->name + "'s " : "") +
                   (predicate.of_array.empty() ? "" : predicate.of_array + " ") +
                   (limit.known ? number_text(limit.value, 3) : "value");
    if (!value.known || !limit.known) {
        const bool ended = (value.known || has_ended(*run)) && (limit.known || has_ended(*other));
        finding.verdict = ended ? StoryVerdict::Fails : StoryVerdict::NotYet;
    } else {
        const double bar = predicate.times * limit.value;
        const bool holds = predicate.greater ? value.value > bar : value.value < bar;
        finding.verdict = holds ? StoryVerdict::Holds : StoryVerdict::Fails;  // NaN: neither
    }
    return finding;
}

StoryFinding check(const Story& story, const StoryStep& step, const std::vector<const RunData*>& runs) {
    StoryFinding worst;
    bool first = true;
    for (const StoryPredicate& predicate : step.holds) {
        StoryFinding finding = check(story, predicate, runs);
        const auto rank = [](StoryVerdict v) {
            return v == StoryVerdict::Fails ? 2 : v == StoryVerdict::NotYet ? 1 : 0;
        };
        if (first || rank(finding.verdict) > rank(worst.verdict)) worst = std::move(finding);
        first = false;
    }
    return worst;
}

std::vector<StoryFinding> walk(const Story& story, ThreadPool& pool, std::int64_t shift) {
    struct Walker {
        Recipe recipe, begun;  ///< as set by the knobs; that of the experiment
        std::unique_ptr<Experiment> experiment;
        RunData data;
    };
    const std::vector<ProbePlan> probes = plans_of(story);
    const auto begin = [&](Walker& walker, const std::string& name) {
        Recipe recipe = walker.begun = walker.recipe;
        std::vector<ProbePlan> of_run = probes;
        for (const ProbePlan& plan : recipe.probes)
            for (ProbePlan& own : of_run)
                if (own.id == plan.id) own.formats = plan.formats;
        recipe.probes = std::move(of_run);
        complete_and_validate(recipe);
        walker.experiment = std::make_unique<Experiment>(recipe, "a", name);
        walker.data = walker.experiment->header();
        // As the window measures it before training.
        std::set<std::string> first{"gradients"};
        for (const ProbePlan& plan : probes) first.insert(plan.id);
        for (const std::string& probe : first)
            if (probe != "updates") insert_sample(walker.data, walker.experiment->measure(probe, pool));
    };
    std::vector<Walker> walkers;
    for (const Story::Run& run : story.runs) {
        walkers.push_back({run.recipe, {}, nullptr, {}});
        begin(walkers.back(), run.name);
    }
    std::vector<StoryFinding> found;
    for (const StoryStep& step : story.steps) {
        for (const StoryAction& action : step.actions)
            for (std::size_t i = 0; i < walkers.size(); ++i) {
                Walker& walker = walkers[i];
                const bool in_training = walker.experiment->steps_done() > 0 && !walker.experiment->ended();
                if (action.kind == StoryAction::Kind::Knob) {
                    if (action.run && *action.run != i) continue;
                    move(walker.recipe, action);
                    if (!in_training) continue;
                    append(walker.data, walker.experiment->set_knobs(hot_knobs(walker.recipe)));
                    walker.begun = walker.recipe;
                    continue;
                }
                if (!in_training && !(walker.recipe == walker.begun)) begin(walker, story.runs[i].name);
                const std::int64_t last = action.until ? *action.until + shift : walker.recipe.train.steps;
                while (!walker.experiment->ended() && walker.experiment->steps_done() < last)
                    append(walker.data, walker.experiment->advance(pool));
            }
        std::vector<const RunData*> runs;
        for (const Walker& walker : walkers) runs.push_back(&walker.data);
        found.push_back(check(story, step, runs));
    }
    return found;
}

}  // namespace normscope
