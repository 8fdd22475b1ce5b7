// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"
#include "core/base/assert.h"
#include "core/recipe/keys.h"

#include <QString>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace normscope::app {

/// The runs side by side, as a value: the runs, the selected one, and whether the knobs act on all. An edit
/// is a pure function that returns the comparison after it; undo keeps the runs before it.
struct Comparison {
    std::vector<LabRun> runs;
    int selected = 0;
    bool linked = true;

    const LabRun* find(const std::string& id) const;
    LabRun* find(const std::string& id);
    const LabRun& selectedRun() const {
        NORMSCOPE_ASSERT(selected >= 0 && selected < std::ssize(runs),
                         "a run is selected, there is always one");
        return runs[static_cast<std::size_t>(selected)];
    }
    bool anyTraining() const;
    /// Whether the knobs of a trained run require a new run.
    bool changesPending() const;
    /// No run is trained.
    bool exploring() const;
    /// The largest recorded step; -1 before training.
    qint64 lastStep() const;
};

/// What holds for every comparison of a laboratory: it has a run, one is selected, every run has data, and no
/// two have the same id. Ends a development build where it does not.
void assertSound(const Comparison& now);

/// The runs that an edit changes.
using RunIds = std::set<std::string>;

/// Keys in which the runs differ, lists excluded.
std::vector<KeyRef> differingKeys(const Comparison& now);
/// The runs that a knob changes: where the knobs are not linked, or the runs differ, only the selected one
/// with its other seeds. Pinned runs are skipped.
RunIds targetsOf(const Comparison& now, KeyRef key);
/// The reason why something needs data that are not read yet, in one line; empty: everything is read.
QString notReadYet(const Comparison& now);
/// The run that is recorded there, here or by another process; null: none.
const LabRun* recordedIn(const Comparison& now, const QString& path);
/// The run and those whose knobs differ from its own in the seed alone, one of each seed.
RunIds seedsOf(const Comparison& now, const std::string& id);
/// Adds to each run, next to it, runs of its recipe with the next seeds. Not for pinned runs and imported
/// models.
Comparison withSeeds(Comparison now, int count, const std::function<std::string()>& new_id);

/// Replaces the runs; the selection is kept by run id, else by index.
Comparison withRuns(Comparison now, std::vector<LabRun> runs);
/// One key of these runs. Throws InputError for an invalid value.
Comparison withKey(Comparison now, const RunIds& targets, KeyRef key, const FieldValue& value);
/// One key of these runs as another recipe has it.
Comparison withKeyOf(Comparison now, const RunIds& targets, KeyRef key, const Recipe& from);
/// A recipe for the selected run. A trained or pinned run keeps its data, and the recipe requires a new run.
Comparison withRecipe(Comparison now, const Recipe& recipe);
/// Adds an unchanging copy of the selected run after all others, ignored by knobs and training.
Comparison withPinned(Comparison now, const std::string& id);

/// The runs of an undo entry: knobs, pins and weights are those of `then`, later recordings are kept.
Comparison restored(const Comparison& now, std::vector<LabRun> then);

/// The runs of an undo entry, with what was recorded of them until they were replaced by others.
std::vector<LabRun> withLaterRecordings(std::vector<LabRun> then, const std::vector<LabRun>& replaced);

/// New runs of the trained runs whose knobs moved on; `fresh` are their ids.
struct NewRuns {
    Comparison after;
    std::vector<std::string> fresh;
};
/// Added after all others, whose colours stay; the trained ones get the knobs that they were trained with.
NewRuns withNewRuns(Comparison now, const std::function<std::string()>& new_id);
/// In place of the trained ones, under the names that were given to them.
NewRuns withReplacedRuns(Comparison now, const std::function<std::string()>& new_id);

/// The name of a run of this recipe: without what all runs share.
std::string nameOf(const Comparison& now, Recipe recipe);
/// Names untrained runs after their recipes, each differently.
void nameUntrained(Comparison& now);

/// One run under another name, made different from the others'; an empty one gives it back its own.
Comparison withName(Comparison now, int index, const std::string& name);

}  // namespace normscope::app
