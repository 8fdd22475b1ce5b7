// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/remedy_trials.h"

#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

/// Milliseconds of a step of the run, the median of its first ones: the later ones may have shared the cores.
double stepMs(const RunData& run) {
    const std::vector<double>* ms = run.steps.find("step_ms");
    if (!ms || ms->empty()) return std::nan("");
    std::vector<double> first(ms->begin(), ms->begin() + std::min<std::ptrdiff_t>(20, std::ssize(*ms)));
    std::nth_element(first.begin(), first.begin() + std::ssize(first) / 2, first.end());
    return first[first.size() / 2];
}

}  // namespace

bool RemedyTrials::match(const LabRun& of) const {
    return run == of.id && outcome.state == of.data->outcome.state && outcome.step == of.data->outcome.step &&
           same_recipe(recipe, of.live);
}

bool RemedyTrials::done() const {
    return std::all_of(drafts.begin(), drafts.end(), [](const auto& draft) { return draft.has_value(); });
}

std::vector<std::size_t> RemedyTrials::shown() const {
    return shown_remedies(remedies, drafts);
}

std::vector<std::size_t> RemedyTrials::not_enough() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < drafts.size(); ++i)
        if (drafts[i] && !drafts[i]->enough) found.push_back(i);
    return found;
}

RemedyTrials trialsOf(const LabRun& run) {
    RemedyTrials trials;
    trials.run = run.id;
    trials.recipe = run.live;
    trials.outcome = run.data->outcome;
    trials.obstacle = remedies_obstacle(*run.data);
    if (trials.obstacle.empty() && run.weights) trials.obstacle = "it began with weights from a file";
    if (!trials.obstacle.empty()) return trials;
    trials.remedies = remedies(run.live, *run.data);
    trials.drafts.resize(trials.remedies.size());
    std::int64_t steps = 0, longest = draft_steps(run.live);
    for (const Remedy& remedy : trials.remedies) {
        steps += draft_steps(remedy.recipe);
        longest = std::max(longest, draft_steps(remedy.recipe));
    }
    trials.control = control_of(*run.data, longest);
    trials.seconds = stepMs(*run.data) / 1e3 * static_cast<double>(steps);
    return trials;
}

}  // namespace normscope::app
