// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/runs_controller.h"

#include "app/lab/lab.h"
#include "app/lab/notes.h"
#include "app/window/studies/sweep_controller.h"
#include "core/base/strict_json.h"
#include "core/findings/in_words.h"
#include "core/recipe/presets.h"
#include "core/run/complete.h"
#include "core/stack/scheme_rows.h"
#include "core/stack/warnings.h"
#include "widgets/figures/groups/gradient_ribbons.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/figures/runs/run_diff.h"
#include "widgets/knobs/diff_list.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/knobs/path_knob.h"
#include "widgets/panels/panel_grid.h"
#include "widgets/presentation/presentation_foot.h"
#include "widgets/runs/comparison_title.h"
#include "widgets/runs/run_strip.h"
#include "widgets/stack/stack_view.h"

#include <QFileInfo>
#include <algorithm>

namespace normscope::app {

namespace {

constexpr int kInterval = 100;  // ms

/// The built-in presets with their display titles.
std::vector<widgets::NamedRecipe> namedPresets() {
    std::vector<widgets::NamedRecipe> named;
    for (const Preset& preset : presets())
        named.push_back(
            {QString::fromLatin1(preset.name),
             QString::fromStdString(strict_json(preset.json, preset.name).value("title", preset.name)),
             read_recipe(preset.name)});
    return named;
}

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

/// "2 of 3 stalled"; empty where all have one outcome, which the chip's word states.
QString outcomesOf(const widgets::RunGroup& group) {
    return group.outcomes.size() < 2 ? QString() : widgets::outcomeText(group);
}

/// A line for each run of a group.
QString seedLines(const widgets::RunGroup& group, const Lab& lab) {
    QStringList lines;
    for (const std::size_t i : group.members) {
        const LabRun& run = lab.comparison().runs[i];
        const std::string text = run.rejection.empty() ? read_aloud(run.data->outcome.text) : run.rejection;
        QString line = RunsController::tr("seed %1: %2")
                           .arg(run.live.train.seed)
                           .arg(widgets::outcomeWord(run.data->outcome.state));
        if (!text.empty()) line += QStringLiteral(", ") + QString::fromStdString(text);
        lines << line;
    }
    return lines.join(u'\n');
}

std::vector<widgets::ComparedRun> comparedRuns(const Lab& lab) {
    std::vector<widgets::ComparedRun> all;
    const std::vector<std::size_t> shown = lab.view().onePerGroup();
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab.comparison().runs[shown[g]];
        widgets::ComparedRun compared{static_cast<int>(shown[g]), static_cast<int>(g),
                                      QString::fromStdString(run.data->name)};
        compared.fixed = run.fixed();
        compared.recipes.push_back(run.recipe);
        for (const std::size_t i : lab.view().groups().groups[g].members) {
            compared.selected |= static_cast<int>(i) == lab.comparison().selected;
            if (i != shown[g]) compared.recipes.push_back(lab.comparison().runs[i].recipe);
        }
        all.push_back(std::move(compared));
    }
    return all;
}

/// On which runs the knobs act.
QString scopeOf(const Lab& lab) {
    const auto& groups = lab.view().groups().groups;
    const auto free = std::count_if(lab.comparison().runs.begin(), lab.comparison().runs.end(),
                                    [](const LabRun& run) { return !run.fixed(); });
    if (lab.comparison().linked && free > 1)
        return free == 2 ? RunsController::tr("linked, both runs")
                         : RunsController::tr("linked, %1 runs").arg(free);
    for (const widgets::RunGroup& group : groups)
        for (const std::size_t i : group.members)
            if (static_cast<int>(i) == lab.comparison().selected)
                return RunsController::tr("%1 only").arg(
                    group.size() > 1 ? group.name
                                     : QString::fromStdString(lab.comparison().selectedRun().data->name));
    return {};
}

/// Another run whose scheme has another name and places the same norms, with the same recipe otherwise.
QString identicalTo(const Lab& lab, const LabRun& run) {
    for (const LabRun& other : lab.comparison().runs) {
        if (other.id == run.id || other.fixed() || other.recipe.stack.scheme == run.recipe.stack.scheme)
            continue;
        Recipe renamed = other.recipe;
        renamed.stack.scheme = run.recipe.stack.scheme;
        if (widgets::sameNorms(other.recipe.stack.scheme, run.recipe.stack.scheme) &&
            same_recipe(renamed, run.recipe))
            return RunsController::tr("%1 and %2 place the same norms: these two runs are the same")
                .arg(QString::fromUtf8(scheme_row(run.recipe.stack.scheme).title),
                     QString::fromUtf8(scheme_row(other.recipe.stack.scheme).title));
    }
    return {};
}

/// -1 where no run has this id.
int indexOf(const Lab& lab, const QString& id) {
    for (std::size_t i = 0; i < lab.comparison().runs.size(); ++i)
        if (QString::fromStdString(lab.comparison().runs[i].id) == id) return static_cast<int>(i);
    return -1;
}

}  // namespace

QStringList comparisonNames(const Lab& lab) {
    const widgets::RunGroups& groups = lab.view().groups();
    QStringList names, groups_named;
    if (const QFileInfo file(lab.session().path()); !lab.session().path().isEmpty())
        names << file.fileName() << file.completeBaseName();
    for (const widgets::RunGroup& group : groups.groups)
        groups_named << (group.size() > 1
                             ? QStringLiteral("%1 ×%2").arg(group.name).arg(group.size())
                             : QString::fromStdString(lab.comparison().runs[group.members[0]].data->name));
    names << groups_named.join(QStringLiteral(" | "));
    if (groups.any()) names << groups.count();
    const std::size_t runs = lab.comparison().runs.size();
    return names << (runs == 1 ? RunsController::tr("1 run") : RunsController::tr("%1 runs").arg(runs));
}

RunsController::RunsController(Lab& lab, const SweepController& sweeps, const Views& views, QWidget* window)
    : QObject(window),
      lab_(lab),
      sweeps_(sweeps),
      views_(views),
      window_(window),
      presets_(namedPresets()),
      show_later_(this, kInterval, [this] { show(); }),
      title_later_(this, kInterval, [this] { showLate(); }) {
    connectLab();
    connectStrip();
    connectKnobs();
    connectStack();
    connect(&sweeps_, &SweepController::shownChanged, this, &RunsController::showKnobs);
}

void RunsController::connectLab() {
    connect(&lab_, &Lab::runsChanged, this, &RunsController::showSoon);
    connect(&lab_, &Lab::noticesChanged, this, &RunsController::showSoon);
    connect(&lab_.notes(), &Notes::changed, this, &RunsController::showSoon);
    connect(&lab_.knobs(), &Knobs::draggingChanged, this, [this](bool dragging) {
        if (!dragging) show();
    });
    connect(&lab_, &Lab::viewChanged, this, [this] {
        if (lab_.view().selectedLayer() >= 0)
            views_.stack->select(lab_.view().selectedLayer(), views_.stack->selectedSublayer());
        showRibbons();
    });
    const auto later = [this] { title_later_.request(); };
    connect(&lab_, &Lab::trainingChanged, this, later);
    connect(&lab_.measurement(), &Measurement::changed, this, later);
    connect(&lab_, &Lab::dataChanged, this, later);
    connect(&lab_.session(), &LabSession::pathChanged, this, &RunsController::showTitle);
    connect(&lab_.session(), &LabSession::saved, this, &RunsController::showTitle);
    connect(lab_.runs().undoStack(), &QUndoStack::cleanChanged, this, &RunsController::showTitle);
}

/// While a knob is dragged the figures come first: they would wait for chips, knobs and stack at every move.
void RunsController::showSoon() {
    if (!lab_.knobs().dragging()) return show();
    show_later_.request();
}

void RunsController::showLate() {
    showTitle();
    showRibbons();
}

void RunsController::connectStrip() {
    using widgets::RunStrip;
    RunStrip* strip = views_.strip;
    QStringList names, titles;
    for (const widgets::NamedRecipe& preset : presets_) {
        names << preset.name;
        titles << preset.title;
    }
    strip->setPresets(names, titles);
    connect(strip, &RunStrip::runSelected, this, [this](const QString& id) {
        if (const int run = indexOf(lab_, id); run >= 0) lab_.runs().select(run);
    });
    connect(strip, &RunStrip::runMenuRequested, this, [this, strip](const QString& id, const QPoint& at) {
        Q_EMIT strip->runSelected(id);
        Q_EMIT runMenuRequested(at);
    });
    connect(strip, &RunStrip::runRenamed, this, [this](const QString& id, const QString& name) {
        if (const int run = indexOf(lab_, id); run >= 0) lab_.runs().rename(run, name);
    });
    connect(strip, &RunStrip::compareRequested, this, &RunsController::addComparison);
    connect(strip, &RunStrip::presetChosen, &lab_.runs(), &RunList::loadPreset);
}

void RunsController::connectKnobs() {
    connect(views_.knobs, &widgets::KnobPanel::keyDragStarted, &lab_.knobs(), &Knobs::beginDrag);
    connect(views_.knobs, &widgets::KnobPanel::keyChanging, &lab_.knobs(), &Knobs::dragKey);
    connect(views_.knobs, &widgets::KnobPanel::keyCommitted, this,
            [this](KeyRef key, const FieldValue&, const FieldValue& value) {
                lab_.knobs().commitKey(key, value);
                if (key->name == "data.source" && lab_.comparison().selectedRun().needsFile())
                    qobject_cast<widgets::PathKnob*>(views_.knobs->row(QStringLiteral("data.path")))
                        ->chooseFile();
            });
    connect(views_.knobs, &widgets::KnobPanel::runKeyCommitted, &lab_,
            [this](int run, KeyRef key, const FieldValue&, const FieldValue& value) {
                lab_.knobs().commitKeyOf(run, key, value);
            });
    connect(views_.knobs, &widgets::KnobPanel::linkToggled, &lab_.runs(), &RunList::setLinked);
    views_.knobs->differences()->setPresets(presets_);
    QStringList precisions;
    for (const Precision precision : cpu_precisions()) precisions << QLatin1String(word_of(precision));
    views_.knobs->setAvailable(QStringLiteral("precision"), precisions, tr("Not available on this machine"));
    QStringList sources;
    for (const char* word : words_of<DataSource>()) sources << QLatin1String(word);
    sources.removeOne(QLatin1String(word_of(DataSource::External)));
    views_.knobs->setAvailable(QStringLiteral("data.source"), sources,
                               tr("Of a run that another program trained and recorded"));
    connect(views_.knobs->differences(), &widgets::DiffList::keyResetRequested, &lab_.knobs(),
            &Knobs::resetKey);
}

void RunsController::connectStack() {
    connect(views_.stack, &widgets::StackView::normToggled, &lab_.knobs(), &Knobs::setNorm);
    connect(views_.stack, &widgets::StackView::layersEdited, &lab_.knobs(), &Knobs::setLayers);
    connect(views_.stack, &widgets::StackView::layerHovered, views_.grid, &widgets::PanelGrid::showLayer);
    connect(views_.stack, &widgets::StackView::layerSelected, this,
            [this](int layer) { lab_.view().selectLayer(layer); });
}

void RunsController::show() {
    show_later_.cancel();
    const widgets::RunGroups& groups = lab_.view().groups();
    const std::vector<std::size_t> shown = lab_.view().onePerGroup();
    std::vector<Recipe> recipes;
    // A chip describes what is drawn: knobs moved after training belong to another run.
    for (const std::size_t i : shown) {
        const LabRun& run = lab_.comparison().runs[i];
        recipes.push_back(run.trained() || run.isTraining() ? run.live : run.recipe);
    }
    auto differences = widgets::runDifferences(recipes);
    // A run that is named after its scheme need not state it again.
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab_.comparison().runs[shown[g]];
        const QString scheme = QString::fromUtf8(scheme_row(recipes[g].stack.scheme).title);
        if (QString::fromStdString(run.data->name).startsWith(scheme))
            differences[g].removeIf([](const QString& text) { return text.startsWith(u"scheme "); });
    }
    std::vector<widgets::RunLabel> labels;
    for (std::size_t g = 0; g < shown.size(); ++g) {
        const LabRun& run = lab_.comparison().runs[shown[g]];
        const widgets::RunGroup& group = groups.groups[g];
        RunState state = run.data->outcome.state;
        if (state == RunState::Prepared && !run.rejection.empty()) state = RunState::Failed;
        if (group.size() > 1) state = group.outcomes.front().first;
        if (state == RunState::Running && !run.followed && !lab_.training().playing())
            state = RunState::Paused;
        widgets::RunLabel label{
            QString::fromStdString(run.id),
            QString::fromStdString(run.data->name),
            static_cast<int>(g),
            differences[g].join(QStringLiteral(" · ")),
            state,
            run.followed ? Following::lineOf(run)
                         : QString::fromStdString(run.rejection.empty() ? read_aloud(run.data->outcome.text)
                                                                        : run.rejection)};
        if (const QString note = lab_.notes().ofRun(run.id); !note.isEmpty())
            label.detail += (label.detail.isEmpty() ? QString() : QStringLiteral("\n")) + note;
        if (group.size() > 1) {
            label.name = group.name;
            label.runs = static_cast<int>(group.size());
            label.counted = outcomesOf(group);
            label.differs.clear();  // the group's name states it
            label.detail = seedLines(group, lab_);
        }
        labels.push_back(std::move(label));
    }
    views_.strip->setRuns(labels);
    views_.strip->setSelected(QString::fromStdString(lab_.comparison().selectedRun().id));
    showTitle();
    showKnobs();
}

void RunsController::showTitle() {
    const QString name =
        lab_.session().path().isEmpty() ? tr("untitled") : QFileInfo(lab_.session().path()).fileName();
    window_->setWindowTitle(QStringLiteral("%1[*] — Normscope").arg(name));
    window_->setWindowModified(lab_.session().unsaved());
    views_.strip->title()->setNames(comparisonNames(lab_));
    views_.strip->title()->setState(lab_.session().unsaved()          ? tr("not saved")
                                    : lab_.session().path().isEmpty() ? QString()
                                                                      : tr("saved"));
}

void RunsController::showKnobs() {
    const Recipe& shown = lab_.comparison().selectedRun().recipe;
    views_.knobs->setRecipe(shown, defaultsFor(shown));
    views_.foot->setRecipe(shown);
    views_.knobs->setCompared(comparedRuns(lab_));
    views_.knobs->setScope(sweeps_.shown() ? tr("base of the next sweep") : scopeOf(lab_),
                           tr("one run alone"));
    views_.knobs->setLinked(lab_.comparison().linked);
    views_.stack->setSpec(shown.stack);
    showNotices();
}

void RunsController::showNotices() {
    const LabRun& run = lab_.comparison().selectedRun();
    QStringList warned;
    if (run.external())
        warned << tr("Another program trained this run: its knobs describe it and change nothing");
    if (run.needsFile())
        warned << (run.recipe.stack.of_images()
                       ? tr("Choose the folder of CIFAR-10's files (Data and precision): nothing is measured "
                            "before")
                   : run.recipe.train.data.source == DataSource::Tokens
                       ? tr("Choose a token file (Data and precision): nothing is measured before")
                       : tr("Choose a text file (Data and precision): nothing is measured before"));
    if (const QString line = identicalTo(lab_, run); !line.isEmpty()) warned << line;
    if (!run.not_recorded.empty()) warned << QString::fromStdString(run.not_recorded);
    for (const std::string& line : warnings(run.recipe.stack)) warned << QString::fromStdString(line);
    for (const std::string& line : run.gate_warnings) warned << QString::fromStdString(line);
    views_.knobs->notices()->setNotices(QString::fromStdString(run.rejection), warned);
}

void RunsController::showRibbons() {
    const widgets::RunGroups& groups = lab_.view().groups();
    views_.stack->setRibbons(widgets::gradientRibbons(lab_.view().panelInput("gradients", {}), groups),
                             groups.groupOf(static_cast<std::size_t>(lab_.comparison().selected)));
}

void RunsController::addComparison() {
    lab_.runs().add(lab_.comparison().selectedRun().recipe);
}

void RunsController::renameSelected() {
    views_.strip->editName(QString::fromStdString(lab_.comparison().selectedRun().id));
}

}  // namespace normscope::app
