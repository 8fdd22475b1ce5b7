// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/story_guide.h"

#include "app/lab/lab.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/experiment.h"
#include "widgets/story/story_strip.h"

#include <cmath>

namespace normscope::app {

namespace {

constexpr int kStoryInterval = 100;  // ms between checks
constexpr double kNear = 0.05;       // a knob within 5 % of its value in the story is there

}  // namespace

StoryGuide::StoryGuide(Lab& lab, widgets::StoryStrip& strip, QObject* parent)
    : QObject(parent), lab_(lab), strip_(strip), later_(this, kStoryInterval, [this] { follow(); }) {
    const auto later = [this] {
        if (strip_.story()) later_.request();
    };
    for (const auto signal : {&Lab::runsChanged, &Lab::viewChanged, &Lab::trainingChanged})
        connect(&lab_, signal, this, later);
    connect(&lab_, &Lab::dataChanged, this, later);
    connect(&lab_, &Lab::dataChanged, this, &StoryGuide::pauseAtStep);
    connect(&lab_, &Lab::trainingChanged, this, [this] {
        if (!lab_.training().playing()) pause_.reset();
    });
    connect(&strip_, &widgets::StoryStrip::stepShown, this, &StoryGuide::showStep);
    connect(&strip_, &widgets::StoryStrip::ended, this, [this] {
        action_.reset();
        lab_.training().setReplacesRuns(false);
        Q_EMIT actionChanged();
    });
}

void StoryGuide::start(const Story& story) {
    std::vector<Recipe> recipes;
    std::vector<std::string> names;
    for (const Story::Run& run : story.runs) {
        recipes.push_back(run.recipe);
        // A name like that of the recipe follows its knobs.
        names.push_back(run.name == default_run_name(run.recipe) ? std::string() : run.name);
    }
    lab_.runs().compare(recipes, tr("story %1").arg(QString::fromStdString(story.title)), names);
    lab_.runs().setLinked(true);
    lab_.training().setReplacesRuns(true);  // its pages are about runs by their places
    strip_.start(story);
}

void StoryGuide::showStep() {
    const StoryStep& step = strip_.story()->steps[strip_.at()];
    done_ = 0;
    training_requested_ = false;
    lab_.view().setStep(step.step ? *step.step : LabView::kNewest);
    for (const StoryAction& action : step.actions)
        if (action.kind == StoryAction::Kind::Knob) {
            // The knobs act on the runs of the story's step.
            lab_.runs().setLinked(!action.run);
            if (action.run && *action.run < lab_.comparison().runs.size())
                lab_.runs().select(static_cast<int>(*action.run));
        }
    action_.reset();
    follow();
    Q_EMIT actionChanged();
}

bool StoryGuide::done(const StoryAction& action) const {
    if (action.kind == StoryAction::Kind::Train) return training_requested_ && !lab_.training().playing();
    const std::vector<LabRun>& runs = lab_.comparison().runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (action.run ? *action.run != i : runs[i].fixed()) continue;
        const HotKnobs knobs = hot_knobs(runs[i].recipe);
        for (const RecipeKey* key : hot_keys())
            if (key->name == action.key &&
                std::abs(knobs.*key->role.knob - action.to) > kNear * std::abs(action.to))
                return false;
    }
    return true;
}

void StoryGuide::follow() {
    if (!strip_.story()) return;
    const StoryStep& step = strip_.story()->steps[strip_.at()];
    std::vector<const RunData*> runs;
    for (const LabRun& run : lab_.comparison().runs) runs.push_back(run.data.get());
    StoryFinding finding = check(*strip_.story(), step, runs);
    const std::size_t before = done_;
    while (done_ < step.actions.size()) {
        const StoryAction& action = step.actions[done_];
        if (action.kind == StoryAction::Kind::Train && trainsForThisStep()) training_requested_ = true;
        if (!done(action)) break;
        ++done_;
        training_requested_ = false;
    }
    const bool all_done = done_ == step.actions.size(), holds = finding.verdict == StoryVerdict::Holds;
    // Runs of before what the step asks for say nothing against it.
    if (!all_done && !holds) finding.verdict = StoryVerdict::NotYet;
    strip_.setFinding(finding);
    const bool pending = !all_done && !training_requested_ && !holds;
    const bool changed = before != done_ || pending != action_.has_value();
    action_ = pending ? std::optional(step.actions[done_]) : std::nullopt;
    if (changed) Q_EMIT actionChanged();
}

/// Not if the training is that of another step of the story, which was shown when it began.
bool StoryGuide::trainsForThisStep() const {
    return lab_.training().playing() && (!pause_ || pause_->asked_at == strip_.at());
}

/// A reader may turn the page while it trains: the training still pauses where the page before asked for it.
void StoryGuide::pauseAtStep() {
    if (!strip_.story() || !lab_.training().playing()) return pause_.reset();
    const StoryStep& step = strip_.story()->steps[strip_.at()];
    const bool asks = done_ < step.actions.size() && step.actions[done_].kind == StoryAction::Kind::Train;
    if (asks && !pause_ && step.actions[done_].until) pause_ = {strip_.at(), *step.actions[done_].until};
    training_requested_ |= asks && trainsForThisStep();
    if (!pause_ || lab_.comparison().lastStep() + 1 < pause_->until) return;
    lab_.training().pause();
    follow();
    pause_.reset();
}

}  // namespace normscope::app
