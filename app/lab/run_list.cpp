// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/run_list.h"

#include "app/lab/state/edits.h"
#include "app/lab/state/lab_state.h"
#include "core/run/complete.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <utility>

namespace normscope::app {

RunList::RunList(LabState& state, Edits& edits) : state_(state), edits_(edits) {
    state_.onReply(state_.io(), &IoWorker::modelImported, this, &RunList::applyImported);
}

void RunList::select(int index) {
    state_.selectRun(index);
}

void RunList::setLinked(bool linked) {
    if (state_.now.linked == linked) return;
    state_.now.linked = linked;
    Q_EMIT state_.runsChanged();
}

QUndoStack* RunList::undoStack() {
    return &edits_.undoStack();
}

void RunList::compare(const std::vector<Recipe>& recipes, const QString& text,
                      const std::vector<std::string>& names) {
    std::vector<LabRun> runs;
    for (const Recipe& recipe : recipes) runs.push_back(makeRun(state_.newId(), recipe));
    for (std::size_t i = 0; i < std::min(runs.size(), names.size()); ++i) runs[i].given_name = names[i];
    state_.shown.step = ShownPosition::kNewest;
    edits_.commit(withRuns(state_.now, std::move(runs)), text);
    select(0);
}

void RunList::add(const Recipe& recipe) {
    Comparison after = state_.now;
    after.runs.push_back(makeRun(state_.newId(), recipe));
    edits_.commit(std::move(after),
                  tr("compare with %1").arg(QString::fromStdString(default_run_name(recipe))));
}

void RunList::addSeeds(int count) {
    edits_.commit(withSeeds(state_.now, count, [this] { return state_.newId(); }),
                  tr("add %n seed(s)", nullptr, count));
}

void RunList::remove(int index) {
    if (state_.now.runs.size() < 2 || index < 0 || index >= static_cast<int>(state_.now.runs.size())) return;
    const LabRun& run = state_.now.runs[static_cast<std::size_t>(index)];
    if (run.isTraining()) {
        Q_EMIT state_.problem(tr("A run in training cannot be removed: stop it first"));
        return;
    }
    const QString text = tr("remove %1").arg(QString::fromStdString(run.data->name));
    std::vector<LabRun> runs = state_.now.runs;
    runs.erase(runs.begin() + index);
    edits_.commit(withRuns(state_.now, std::move(runs)), text);
}

void RunList::rename(int index, const QString& name) {
    if (index < 0 || index >= static_cast<int>(state_.now.runs.size())) return;
    const QString given = name.simplified();
    const LabRun& run = state_.now.runs[static_cast<std::size_t>(index)];
    if (given == QString::fromStdString(run.data->name) || (given.isEmpty() && run.given_name.empty()))
        return;
    edits_.commit(withName(state_.now, index, given.toStdString()),
                  tr("rename %1").arg(QString::fromStdString(run.data->name)));
}

void RunList::loadPreset(const QString& name) {
    try {
        useRecipe(load_recipe(name.toStdString()), tr("preset %1").arg(name));
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
    }
}

void RunList::useRecipe(const Recipe& recipe, const QString& text) {
    edits_.commit(withRecipe(state_.now, recipe), text);
}

void RunList::pinSelected() {
    edits_.commit(withPinned(state_.now, state_.newId()), tr("duplicate as reference"));
}

// --- models of other programs

void RunList::importModel(const QString& path) {
    QMetaObject::invokeMethod(
        state_.io(), [io = state_.io(), token = state_.files.additions.ask({Addition::From::Model}), path] {
            io->importModel(token, path);
        });
}

namespace {

/// Of a file of the usual name that of its folder.
QString modelName(const QString& path) {
    const QFileInfo file(path);
    const bool usual = file.fileName().startsWith(QStringLiteral("model."));
    return usual && !file.dir().isRoot() ? file.dir().dirName() : file.completeBaseName();
}

}  // namespace

void RunList::applyImported(quint64 token, const QString& path, const ImportedModelPtr& model) {
    if (!state_.files.additions.take(token) || !model) return;
    try {
        for (const std::string& note : model->notes)
            if (!note.starts_with("keys without effect"))
                Q_EMIT state_.problem(
                    tr("%1: %2").arg(QFileInfo(path).fileName(), QString::fromStdString(note)));
        Recipe recipe = model->recipe;
        complete_without_data(recipe);  // the engine fills in what depends on the data
        Comparison after = state_.now;
        after.runs.push_back(makeRun(state_.newId(), recipe));
        after.runs.back().weights = std::make_shared<const StartWeights>(
            StartWeights{modelName(path).toStdString(), path.toStdString(), model->weights});
        edits_.commit(std::move(after), tr("import %1").arg(QFileInfo(path).fileName()));
        select(static_cast<int>(state_.now.runs.size()) - 1);
    } catch (const std::exception& error) {
        Q_EMIT state_.problem(tr("%1: %2").arg(path, QString::fromUtf8(error.what())));
    }
}

}  // namespace normscope::app
