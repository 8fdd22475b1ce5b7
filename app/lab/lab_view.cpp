// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab_view.h"

#include "app/lab/healthy_reference.h"
#include "app/lab/state/lab_state.h"
#include "widgets/figures/groups/grouped_figure.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/figures/parts/recipe_facts.h"

#include <QTimer>
#include <algorithm>

namespace normscope::app {

namespace {

template <class T>
std::vector<T> chosen(const std::vector<T>& all, const std::vector<std::size_t>& which) {
    std::vector<T> some;
    for (const std::size_t i : which)
        if (i < all.size()) some.push_back(all[i]);
    return some;
}

}  // namespace

LabView::LabView(LabState& state, const HealthyReference& healthy) : state_(state), healthy_(healthy) {}

qint64 LabView::step() const {
    return state_.shown.step;
}

int LabView::selectedLayer() const {
    return state_.shown.layer;
}

int LabView::selectedHead() const {
    return state_.shown.head;
}

void LabView::setStep(qint64 step) {
    const qint64 next = step >= state_.now.lastStep() ? kNewest : std::max<qint64>(0, step);
    if (next == state_.shown.step) return;
    state_.shown.step = next;
    Q_EMIT state_.viewChanged();
}

void LabView::selectLayer(int layer, int head) {
    ShownPosition& shown = state_.shown;
    if (layer == shown.layer && head == shown.head) return;
    shown.layer = layer;
    shown.head = head;
    Q_EMIT state_.viewChanged();
}

void LabView::setVisibleProbes(const std::vector<std::string>& probes) {
    if (state_.exploration.setProbes(probes, state_.now)) state_.requestExplore();
}

const std::vector<std::string>& LabView::visibleProbes() const {
    return state_.exploration.probes();
}

bool LabView::exact() const {
    return state_.exploration.exact();
}

// --- figures

double LabView::trainingSeconds(const Recipe& recipe) const {
    return state_.training_time.seconds(recipe);
}

QString LabView::hint() const {
    std::vector<const LabRun*> untrained;
    for (const LabRun& run : state_.now.runs)
        if (!run.trained() && !run.fixed()) untrained.push_back(&run);
    if (untrained.empty()) return {};
    double seconds = 0;
    bool one_length = true;
    for (const LabRun* run : untrained) {
        seconds += state_.training_time.seconds(run->recipe);
        one_length &= run->recipe.train.steps == untrained.front()->recipe.train.steps;
    }
    QString text = untrained.size() == 1   ? tr("Press Space to train it")
                   : untrained.size() == 2 ? tr("Press Space to train both runs")
                                           : tr("Press Space to train all runs");
    if (one_length) text += tr(": %1 steps").arg(untrained.front()->recipe.train.steps);
    if (const QString about = durationText(seconds); !about.isEmpty()) text += tr(", about %1").arg(about);
    return text;
}

widgets::PanelInput LabView::panelInput(const std::string& panel,
                                        const widgets::PanelOptions& options) const {
    widgets::PanelInput input;
    for (const LabRun& run : state_.now.runs) {
        const bool measured_here = !run.committed() && !run.fixed();
        input.runs.push_back(run.data.get());
        const auto ghost = state_.ghosts.data.find(run.id);
        input.ghosts.push_back(ghost == state_.ghosts.data.end() ? nullptr : ghost->second.get());
        input.previews.push_back(run.preview.get());
        const auto& probes = widgets::panelInfo(panel).probes;
        const bool outdated = std::any_of(probes.begin(), probes.end(), [&](const std::string& probe) {
            const auto measured = run.measured_for.find(probe);
            return run.drafts.count(probe) > 0 ||
                   (measured != run.measured_for.end() && measured->second < state_.exploration.generation());
        });
        input.draft.push_back(measured_here && outdated);
        input.pending.push_back(!exact() && measured_here && run.rejection.empty());
    }
    input.ghost_name = state_.ghosts.name;
    input.step = state_.shown.step;
    input.exploring = state_.now.exploring();
    input.hint = hint();
    input.selected_layer = state_.shown.layer;
    input.selected_head = state_.shown.head;
    input.options = options;
    input.healthy = healthy_.band();
    return input;
}

widgets::FigureKey LabView::figureKey(const std::string& panel, const widgets::PanelOptions& options) const {
    const widgets::PanelInput input = panelInput(panel, options);
    widgets::FigureKey key{panel,
                           options,
                           {},
                           input.step,
                           input.exploring,
                           input.hint,
                           input.selected_layer,
                           input.selected_head};
    for (std::size_t i = 0; i < state_.now.runs.size(); ++i) {
        const LabRun& run = state_.now.runs[i];
        const auto ghost = state_.ghosts.data.find(run.id);
        widgets::FigureKey::Run drawn{run.data,
                                      ghost == state_.ghosts.data.end() ? nullptr : ghost->second,
                                      run.preview,
                                      run.data->steps.rows(),
                                      0,
                                      run.data->events.size(),
                                      run.data->outcome.state,
                                      input.draft[i],
                                      input.pending[i],
                                      run.data->unread != nullptr};
        for (const auto& [probe, samples] : run.data->probes) drawn.samples += samples.size();
        for (const std::string& probe : widgets::panelInfo(panel).probes)
            if (const auto measured = run.measured_for.find(probe); measured != run.measured_for.end())
                drawn.measured.emplace_back(measured->second, !run.drafts.count(probe));
        if (key.exploring && panel == "training") {
            // Before training the losses' figure shows names, floors and the number of steps alone: a moved
            // knob, which replaces the data, need not rebuild and repaint it.
            drawn = {};
            key.hint += QStringLiteral("\n%1 %2 %3 %4 %5")
                            .arg(QString::fromStdString(run.data->name))
                            .arg(run.data->ln_vocab)
                            .arg(run.data->unigram_entropy)
                            .arg(run.data->entropy_rate)
                            .arg(widgets::recipeFacts(run.data->recipe).steps.value_or(0));
        }
        key.runs.push_back(std::move(drawn));
    }
    if (const widgets::RunGroups& grouped = groups(); grouped.any()) {
        for (std::size_t i = 0; i < state_.now.runs.size(); ++i) key.group_of.push_back(grouped.groupOf(i));
        key.selected_run = state_.now.selected;
    }
    key.healthy = healthy_.version();
    if (!key.exploring) key.scale = scales_.version(key);
    return key;
}

const widgets::RunGroups& LabView::groups() const {
    std::vector<GroupedRun> runs;
    std::set<std::uint64_t> seeds;
    for (const LabRun& run : state_.now.runs) {
        runs.push_back({run.committed() ? run.live : run.recipe, run.data->name, run.given_name,
                        run.data->outcome.state, run.pinned});
        seeds.insert(runs.back().recipe.train.seed);
    }
    if (grouped_runs_ && *grouped_runs_ == runs) return groups_;
    std::vector<const RunData*> data;
    std::vector<const Recipe*> recipes;
    std::vector<bool> alone;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        data.push_back(state_.now.runs[i].data.get());
        recipes.push_back(&runs[i].recipe);
        // Comparing recipes takes a part of a frame: not where one seed shows that there is no group.
        alone.push_back(!group_seeds_ || seeds.size() < 2 || runs[i].pinned);
    }
    groups_ = widgets::groupSeeds(data, recipes, alone);
    for (widgets::RunGroup& group : groups_.groups)
        if (const std::string& given = runs[group.members.front()].given_name; !given.empty())
            group.name = QString::fromStdString(given);
    grouped_runs_ = std::move(runs);
    return groups_;
}

void LabView::setGroupSeeds(bool grouped) {
    if (group_seeds_ == grouped) return;
    group_seeds_ = grouped;
    grouped_runs_.reset();
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.viewChanged();
}

std::vector<std::size_t> LabView::onePerGroup() const {
    const auto seedOf = [&](std::size_t run) { return state_.now.runs[run].recipe.train.seed; };
    const auto selected = static_cast<std::size_t>(state_.now.selected);
    std::vector<std::size_t> shown;
    for (const widgets::RunGroup& group : groups().groups) {
        const auto& members = group.members;
        auto best = std::find(members.begin(), members.end(), selected);
        if (best == members.end())
            best = std::find_if(members.begin(), members.end(),
                                [&](std::size_t run) { return seedOf(run) == seedOf(selected); });
        shown.push_back(best == members.end() ? members.front() : *best);
    }
    return shown;
}

widgets::Figure LabView::figure(const std::string& panel, const widgets::PanelOptions& options) const {
    const widgets::PanelInput input = panelInput(panel, options);
    const bool outline = std::any_of(input.runs.begin(), input.runs.end(),
                                     [](const RunData* run) { return run->unread != nullptr; });
    widgets::Figure figure;
    if (outline && groups().any() && widgets::panelInfo(panel).draws_steps) {
        // Medians are of steps, not of the blocks of an overview.
        figure = widgets::startFigure(widgets::panelInfo(panel));
        figure.empty_text = notReadYet(state_.now);
    } else {
        figure = figureOf(panel, options, input);
        // Initial states have one step: nothing of this is on the path of a dragged knob.
        const bool complete = input.exploring || scales_.apply(figure, figureKey(panel, options), input,
                                                               [&](const widgets::PanelInput& at) {
                                                                   return figureOf(panel, options, at);
                                                               });
        if (!complete && !extending_) {
            extending_ = true;
            QTimer::singleShot(0, const_cast<LabView*>(this), &LabView::extendScales);
        }
    }
    if (outline)
        figure.subtitle += (figure.subtitle.isEmpty() ? QString() : QStringLiteral(" · ")) +
                           tr("overview, the file is not read to its end yet");
    return figure;
}

void LabView::extendScales() {
    extending_ = false;
    // Each asks for the next part itself where it is not complete.
    for (const auto& [panel, options] : scales_.incomplete()) figure(panel, options);
    if (!extending_) Q_EMIT scalesChanged();
}

widgets::Figure LabView::figureOf(const std::string& panel, const widgets::PanelOptions& options,
                                  widgets::PanelInput input) const {
    if (!groups().any()) return widgets::buildPanel(panel, input);
    const widgets::PanelInfo& info = widgets::panelInfo(panel);
    if (widgets::isGroupable(info, widgets::resolveOptions(info, options)))
        return widgets::groupedFigure(info, input, groups(), {});
    const std::vector<std::size_t> shown = onePerGroup();
    input.runs = chosen(input.runs, shown);
    input.ghosts = chosen(input.ghosts, shown);
    input.previews = chosen(input.previews, shown);
    input.draft = chosen(input.draft, shown);
    input.pending = chosen(input.pending, shown);
    widgets::Figure figure = widgets::buildPanel(panel, input);
    const std::uint64_t seed = state_.now.selectedRun().recipe.train.seed;
    const bool one = std::all_of(shown.begin(), shown.end(), [&](std::size_t run) {
        return state_.now.runs[run].recipe.train.seed == seed;
    });
    figure.subtitle += (figure.subtitle.isEmpty() ? QString() : QStringLiteral(" · ")) +
                       (one ? tr("seed %1").arg(seed) : tr("one run of each group"));
    return figure;
}

}  // namespace normscope::app
