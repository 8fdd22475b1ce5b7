// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remedies.h"

#include "app/lab/forks.h"
#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "app/lab/training_control.h"

#include <memory>
#include <utility>

namespace normscope::app {

namespace {

/// Drafts that take longer are made on request.
constexpr double kMaxSeconds = 30;

bool hasRemedies(const LabRun& run) {
    return !run.fixed() && run.trained() && !run.data->unread && has_failed(run.data->outcome);
}

/// Other than those of the runs, but for trials that have no name of their own yet.
std::string nameOfTrial(const LabRun& failed, const Remedy& remedy, const std::vector<LabRun>& runs,
                        const std::set<std::string>& unnamed = {}) {
    const bool same_scheme = remedy.recipe.stack.scheme == failed.live.stack.scheme;
    const std::string base = same_scheme ? failed.data->name + " · " + remedy.name : remedy.name;
    std::set<std::string> taken;
    for (const LabRun& run : runs)
        if (!unnamed.count(run.id)) taken.insert(run.data->name);
    std::string name = base;
    for (int n = 2; taken.count(name); ++n) name = base + " · " + std::to_string(n);
    return name;
}

/// The failed run's watchpoints are not the trial's: a pause would leave the table of trials without its
/// values.
Recipe recipeOfTrial(Recipe recipe) {
    recipe.watch.clear();
    return recipe;
}

}  // namespace

Remedies::Remedies(LabState& state, Edits& edits, TrainingControl& training, Forks& forks)
    : state_(state),
      edits_(edits),
      training_(training),
      forks_(forks),
      drafting_(state.requests, "draft", Pending<Drafting>::Replies::OfNewest) {
    state_.onReply(state_.engine(), &Engine::drafted, this, &Remedies::applyDrafted);
    connect(&state_, &LabState::runsChanged, this, &Remedies::update);
}

const LabRun* Remedies::failedRun() const {
    if (const LabRun& selected = state_.now.selectedRun(); hasRemedies(selected)) return &selected;
    for (const LabRun& run : state_.now.runs)
        if (hasRemedies(run)) return &run;
    return nullptr;
}

const RemedyTrials* Remedies::trials() const {
    const LabRun* run = failedRun();
    const auto found = run ? remedies_.find(run->id) : remedies_.end();
    return found == remedies_.end() ? nullptr : &found->second;
}

void Remedies::update() {
    const LabRun* run = failedRun();
    const std::string id = run ? run->id : std::string();
    const bool other = id != shown_;
    shown_ = id;
    if (!run) {
        if (!other) return;
        cancelDrafts();
        Q_EMIT changed();
        return;
    }
    RemedyTrials& trials = remedies_[id];
    const bool fresh = !trials.match(*run);
    if (fresh) trials = trialsOf(*run);
    if (!fresh && !other) return;
    if (trials.requested || !(trials.seconds > kMaxSeconds)) return draft();
    cancelDrafts();  // those of another run
    Q_EMIT changed();
}

void Remedies::cancelDrafts() {
    if (!drafting_.waiting()) return;
    drafting_.drop();
    state_.engine()->draft({state_.requests.next(), {}, {}, {}});
}

void Remedies::leaveSession() {
    cancelDrafts();
    shown_.reset();
}

void Remedies::draft() {
    const LabRun* run = failedRun();
    if (!run) return;
    RemedyTrials& trials = remedies_[run->id];
    DraftRequest request{0, run->data->backend, trials.control, {}};
    Drafting asked{run->id, {}};
    for (std::size_t i = 0; i < trials.remedies.size(); ++i)
        if (!trials.drafts[i]) {
            request.items.push_back({i, trials.remedies[i].recipe});
            asked.remedies.insert(i);
        }
    trials.requested = true;
    cancelDrafts();
    if (!request.items.empty()) {
        request.token = drafting_.ask(std::move(asked));
        state_.engine()->draft(std::move(request));
    }
    Q_EMIT changed();
}

void Remedies::applyDrafted(quint64 token, qulonglong index, const DraftResultPtr& result) {
    Drafting* asked = drafting_.find(token);
    if (!asked || asked->remedies.erase(index) == 0) return;
    auto& drafts = remedies_[asked->run].drafts;
    if (index < drafts.size()) drafts[index] = *result;
    if (asked->remedies.empty()) drafting_.take(token);
    Q_EMIT changed();
}

std::optional<std::int64_t> Remedies::branchStep(std::size_t which) const {
    const LabRun* failed = failedRun();
    const RemedyTrials* shown = trials();
    if (!failed || !shown || which >= shown->remedies.size()) return {};
    return forks_.branchStep(*failed, recipeOfTrial(shown->remedies[which].recipe));
}

void Remedies::tryOut(const std::vector<std::size_t>& which) {
    const LabRun* found = failedRun();
    if (!found || which.empty()) return;
    const LabRun failed = *found;
    const std::vector<Remedy> remedies = remedies_[failed.id].remedies;
    if (which.size() == 1 && branchStep(which.front())) {
        const Remedy& remedy = remedies.at(which.front());
        return forks_.forkAs(failed, recipeOfTrial(remedy.recipe),
                             nameOfTrial(failed, remedy, state_.now.runs));
    }
    Comparison after = state_.now;
    std::vector<std::string> ids;
    for (const std::size_t index : which) {
        ids.push_back(state_.newId());
        after.runs.push_back(makeRun(ids.back(), recipeOfTrial(remedies.at(index).recipe)));
    }
    edits_.commit(std::move(after),
                  which.size() == 1 ? tr("try %1").arg(QString::fromStdString(remedies[which.front()].name))
                                    : tr("try %n remedies", nullptr, static_cast<int>(which.size())));
    if (which.size() > 1) remedies_[failed.id].tried = ids;
    std::vector<RunPlan> plans;
    std::set<std::string> unnamed(ids.begin(), ids.end());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        LabRun* run = state_.now.find(ids[i]);
        auto named = std::make_shared<RunData>(*run->data);  // the undo entry holds the other
        named->name = nameOfTrial(failed, remedies[which[i]], state_.now.runs, unnamed);
        run->data = std::move(named);
        unnamed.erase(ids[i]);
        plans.push_back(planOf(*run));
    }
    training_.begin(std::move(plans));
    Q_EMIT changed();
}

std::map<std::string, std::vector<std::string>> Remedies::tried() const {
    std::map<std::string, std::vector<std::string>> tried;
    for (const auto& [id, trials] : remedies_)
        if (!trials.tried.empty() && state_.now.find(id)) tried[id] = trials.tried;
    return tried;
}

void Remedies::restoreTried(const std::map<std::string, std::vector<std::string>>& tried) {
    for (const auto& [id, runs] : tried) {
        const LabRun* run = state_.now.find(id);
        if (!run || run->fixed() || !run->trained() || !has_failed(run->data->outcome)) continue;
        RemedyTrials& trials = remedies_[id];
        if (!trials.match(*run)) trials = trialsOf(*run);
        trials.tried = runs;
    }
    Q_EMIT changed();
}

}  // namespace normscope::app
