// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window that shows the runs: chips, knobs, transport. One chip, one colour and one lane a
// group of runs.
#include "app/lab/lab.h"
#include "app/window/main_window.h"
#include "app/window/presentation_headline.h"
#include "app/window/sweep_controller.h"
#include "core/run/complete.h"
#include "core/stack/scheme_rows.h"
#include "widgets/figures/knobs/recipe_keys.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/plots/glyph.h"
#include "widgets/presentation/presentation.h"
#include "widgets/runs/comparison_title.h"
#include "widgets/runs/device_button.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "widgets/stack/stack_view.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>

namespace normscope::app {

namespace {

/// The defaults of the knobs. Keys set by a block family have the defaults of the shown family.
Recipe defaultsFor(const Recipe& shown) {
    Recipe defaults;
    const Block block = defaults.stack.block;
    apply_block_preset(defaults.stack, shown.stack.block);
    defaults.stack.block = block;
    defaults.stack.kv_heads = shown.stack.heads;
    defaults.stack.d_ff = 4 * shown.stack.d_model;
    complete(defaults.stack, shown.stack.vocab);
    return defaults;
}

/// The measured steps of the runs of a lane: by any probe in any of them, and by all probes shown in all of
/// them.
widgets::StepLane laneOf(const std::vector<const RunData*>& runs, const QString& name, int index,
                         const std::vector<std::string>& shown) {
    widgets::StepLane lane;
    lane.name = name;
    lane.run = index;
    for (const RunData* run : runs) {
        if (!run->steps.step.empty()) lane.recorded = std::max<qint64>(lane.recorded, run->steps.step.back());
        for (const auto& [probe, samples] : run->probes) {
            if (probe == "flight") continue;  // the flight recorder's steps: no panel draws them
            for (const ProbeResult& sample : samples) lane.some.push_back(sample.step);
        }
    }
    std::sort(lane.some.begin(), lane.some.end());
    lane.some.erase(std::unique(lane.some.begin(), lane.some.end()), lane.some.end());
    const auto measured = [&](const RunData* run, qint64 step) {
        return std::all_of(shown.begin(), shown.end(),
                           [&](const std::string& probe) { return run->sample_of(probe, step); });
    };
    std::copy_if(lane.some.begin(), lane.some.end(), std::back_inserter(lane.by_all), [&](qint64 step) {
        return std::all_of(runs.begin(), runs.end(), [&](const RunData* run) { return measured(run, step); });
    });
    return lane;
}

QString memoryText(const DeviceUse& use) {
    if (use.memory.total > 0) return freeMemoryText(use.memory);
    return QObject::tr("%1 MiB resident").arg(use.resident >> 20);
}

double last(const RunData& run, const char* column) {
    const auto* values = run.steps.find(column);
    return values && !values->empty() ? values->back() : std::nan("");
}

/// "2 of 3 stalled"; empty where all have one outcome, which the chip's word states.
QString outcomesOf(const widgets::RunGroup& group) {
    return group.outcomes.size() < 2 ? QString() : widgets::outcomeText(group);
}

/// A line for each run of a group.
QString seedLines(const widgets::RunGroup& group, const Lab& lab) {
    QStringList lines;
    for (const std::size_t i : group.members) {
        const LabRun& run = lab.runs()[i];
        const std::string& text = run.rejection.empty() ? run.data->outcome.text : run.rejection;
        QString line = MainWindow::tr("seed %1: %2")
                           .arg(run.live.train.seed)
                           .arg(widgets::outcomeWord(run.data->outcome.state));
        if (!text.empty()) line += QStringLiteral(", ") + QString::fromStdString(text);
        lines << line;
    }
    return lines.join(u'\n');
}

std::vector<widgets::ComparedRun> comparedRuns(const Lab& lab) {
    std::vector<widgets::ComparedRun> all;
    const std::vector<std::size_t> shown = lab.onePerGroup();
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab.runs()[shown[g]];
        widgets::ComparedRun compared{static_cast<int>(shown[g]), static_cast<int>(g),
                                      QString::fromStdString(run.data->name)};
        compared.fixed = run.pinned;
        compared.values.push_back(widgets::recipeValues(run.recipe));
        for (const std::size_t i : lab.groups().groups[g].members) {
            compared.selected |= static_cast<int>(i) == lab.selectedRun();
            if (i != shown[g]) compared.values.push_back(widgets::recipeValues(lab.runs()[i].recipe));
        }
        all.push_back(std::move(compared));
    }
    return all;
}

/// On which runs the knobs act.
QString scopeOf(const Lab& lab) {
    const auto& groups = lab.groups().groups;
    const auto free =
        std::count_if(lab.runs().begin(), lab.runs().end(), [](const LabRun& run) { return !run.pinned; });
    if (lab.linked() && free > 1)
        return free == 2 ? MainWindow::tr("linked, both runs") : MainWindow::tr("linked, %1 runs").arg(free);
    for (const widgets::RunGroup& group : groups)
        for (const std::size_t i : group.members)
            if (static_cast<int>(i) == lab.selectedRun())
                return MainWindow::tr("%1 only").arg(
                    group.size() > 1 ? group.name : QString::fromStdString(lab.selected().data->name));
    return {};
}

}  // namespace

QStringList comparisonNames(const Lab& lab) {
    const widgets::RunGroups& groups = lab.groups();
    QStringList names, groups_named;
    if (const QFileInfo file(lab.sessionPath()); !lab.sessionPath().isEmpty())
        names << file.fileName() << file.completeBaseName();
    for (const widgets::RunGroup& group : groups.groups)
        groups_named << (group.size() > 1 ? QStringLiteral("%1 ×%2").arg(group.name).arg(group.size())
                                          : QString::fromStdString(lab.runs()[group.members[0]].data->name));
    names << groups_named.join(QStringLiteral(" | "));
    if (groups.any()) names << groups.count();
    const std::size_t runs = lab.runs().size();
    return names << (runs == 1 ? MainWindow::tr("1 run") : MainWindow::tr("%1 runs").arg(runs));
}

void MainWindow::showRuns() {
    show_runs_later_.stop();
    const widgets::RunGroups& groups = lab_->groups();
    const std::vector<std::size_t> shown = lab_->onePerGroup();
    std::vector<Recipe> recipes;
    // A chip describes what is drawn: knobs moved after training belong to another run.
    for (const std::size_t i : shown) {
        const LabRun& run = lab_->runs()[i];
        recipes.push_back(run.trained() || run.underWay() ? run.live : run.recipe);
    }
    auto differences = widgets::runDifferences(recipes);
    // A run that is named after its scheme need not state it again.
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab_->runs()[shown[g]];
        const QString scheme = QString::fromUtf8(scheme_row(recipes[g].stack.scheme).title);
        if (QString::fromStdString(run.data->name).startsWith(scheme))
            differences[g].removeIf([](const QString& text) { return text.startsWith(u"scheme "); });
    }
    std::vector<widgets::RunLabel> labels;
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab_->runs()[shown[g]];
        const widgets::RunGroup& group = groups.groups[g];
        RunState state = run.data->outcome.state;
        if (state == RunState::Prepared && !run.rejection.empty()) state = RunState::Failed;
        if (group.size() > 1) state = group.outcomes.front().first;
        if (state == RunState::Running && !lab_->playing()) state = RunState::Paused;
        widgets::RunLabel label{
            QString::fromStdString(run.id),
            QString::fromStdString(run.data->name),
            static_cast<int>(g),
            differences[g].join(QStringLiteral(" · ")),
            state,
            QString::fromStdString(run.rejection.empty() ? run.data->outcome.text : run.rejection)};
        if (group.size() > 1) {
            label.name = group.name;
            label.runs = static_cast<int>(group.size());
            label.counted = outcomesOf(group);
            label.differs.clear();  // the group's name states it
            label.detail = seedLines(group, *lab_);
        }
        labels.push_back(std::move(label));
    }
    strip_->setRuns(labels);
    strip_->setSelected(QString::fromStdString(lab_->selected().id));
    showTitle();
    showKnobs();
}

void MainWindow::showTitle() {
    const QString name =
        lab_->sessionPath().isEmpty() ? tr("untitled") : QFileInfo(lab_->sessionPath()).fileName();
    setWindowTitle(QStringLiteral("%1[*] — Normscope").arg(name));
    setWindowModified(lab_->unsaved());
    strip_->title()->setNames(comparisonNames(*lab_));
    strip_->title()->setState(lab_->unsaved()                 ? tr("not saved")
                              : lab_->sessionPath().isEmpty() ? QString()
                                                              : tr("saved"));
}

void MainWindow::showKnobs() {
    const Recipe& shown = lab_->selected().recipe;
    knobs_->setRecipe(shown, defaultsFor(shown));
    presentation_->foot()->setRecipe(shown);
    knobs_->setCompared(comparedRuns(*lab_));
    knobs_->setScope(sweeps_->shown() ? tr("base of the next sweep") : scopeOf(*lab_), tr("one run alone"));
    knobs_->setLinked(lab_->linked());
    stack_->setSpec(shown.stack);
    showNotices();
}

void MainWindow::showTransport() {
    std::vector<widgets::StepMark> marks;
    std::vector<widgets::StepLane> lanes;
    qint64 planned = 0;
    double tokens = 0;
    const auto& groups = lab_->groups().groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<const RunData*> members;
        for (const std::size_t i : groups[g].members) {
            const LabRun& run = lab_->runs()[i];
            planned = std::max<qint64>(planned, run.live.train.steps - 1);
            for (const RunEvent& event : run.data->events)
                marks.push_back({event.step, static_cast<int>(g),
                                 event.kind == "outcome" ? run.data->outcome.state : RunState::Running,
                                 QString::fromStdString(event.text)});
            members.push_back(run.data.get());
            if (run.underWay() && run.trained()) tokens += last(*run.data, "tokens_per_s");
        }
        lanes.push_back(laneOf(members, groups[g].name, static_cast<int>(g), lab_->visibleProbes()));
    }
    const double unknown = std::nan("");
    transport_->setRange(lab_->lastStep(), planned);
    const qint64 step = lab_->exploring() ? 0 : std::min(lab_->step(), lab_->lastStep());
    presentation_->foot()->scrubber()->setMarks(marks);
    presentation_->foot()->scrubber()->setLanes(lanes);
    presentation_->show({lab_->lastStep(), planned, step, lab_->playing(), presentationHeadline(*lab_)});
    transport_->setMarks(std::move(marks));
    transport_->setLanes(std::move(lanes));
    transport_->setStep(step);
    transport_->setPlaying(lab_->playing(), lab_->anyUnderWay());
    transport_->setPreviewPending(lab_->changesPending());
    transport_->setMeasuring(lab_->measuringStatus());
    const QString obstacle = lab_->measureObstacle();
    transport_->setMeasurable(obstacle.isEmpty(), obstacle);
    const QString no_fork = lab_->forkObstacle();
    transport_->setForkable(no_fork.isEmpty(), no_fork);
    const bool rates = lab_->anyUnderWay() && !lab_->exploring();
    transport_->setRates(rates ? tokens : unknown, rates ? lab_->stepMs() : unknown,
                         rates ? 100 * lab_->probeOverhead() : unknown);
    const DeviceUse& use = lab_->deviceUse();
    const bool known = rates && !use.backend.empty();
    transport_->setDeviceUse(known ? QString::fromStdString(use.backend) : QString(),
                             known ? memoryText(use) : QString());
    transport_->device()->setTraining(lab_->anyUnderWay());
}

}  // namespace normscope::app
