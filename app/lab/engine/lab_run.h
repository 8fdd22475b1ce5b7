// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"
#include "core/recipe/recipe.h"
#include "core/session/recording_mark.h"
#include "core/session/run_data.h"
#include "core/session/session.h"

#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// An available checkpoint of a run, and its source.
struct KnownCheckpoint {
    std::int64_t step = 0;
    CheckpointSource source;
};

/// Where another process writes a run that is shown as it grows.
struct Followed {
    std::string path;         ///< of its recording, which is never written here
    RecordingMark mark;       ///< what of it is in the run's data
    std::string writer = {};  ///< "process 812"; empty: not asked yet
    int failures = 0;         ///< readings in a row that failed
};

/// One run of the comparison. Cheap to copy: an undo entry is a list of these.
struct LabRun {
    std::string id;
    Recipe recipe;                  ///< as set by the knobs
    Recipe live;                    ///< the recipe of `data`, including hot knobs moved during training
    std::shared_ptr<RunData> data;  ///< never null; grows while the run trains
    std::shared_ptr<const RunData>
        preview;          ///< of a trained run whose knobs moved: step 0 with the new knobs
    bool pinned = false;  ///< keeps its data: unaffected by knobs and training
    std::vector<KnownCheckpoint> checkpoints;
    /// The request for which each probe was measured; a probe with a pending newer one is drawn as a draft.
    std::map<std::string, std::uint64_t> measured_for;
    std::set<std::string> drafts;  ///< probes whose sample is of part of the probe batch: the whole follows
    StartWeightsPtr weights = {};  ///< imported start weights; null: drawn from the seed
    /// The reason why the engine rejects `recipe`, in one line; empty = valid.
    std::string rejection = {};
    /// Warnings about its weights, one line each: gates at or below 0.
    std::vector<std::string> gate_warnings = {};

    /// The reason why training is no longer recorded: "not recorded: …", one line; empty = recorded.
    std::string not_recorded = {};

    /// The file that its training is recorded in; empty: none yet.
    std::string recording = {};

    /// The session file that its data were read from, until a recording begins; empty: none.
    std::string session = {};

    /// Set while another process writes the run: its data grow as the recording does.
    std::shared_ptr<Followed> followed = {};

    /// Samples that were measured by replay, by probe and step: a recording does not have them.
    std::set<std::pair<std::string, std::int64_t>> replayed = {};

    /// Given by the user; empty: named after its recipe. `drawn_name` is the one that it had before.
    std::string given_name = {}, drawn_name = {};

    /// The training start of `data`; frames of others are ignored. 0: none.
    std::uint64_t training = 0;

    bool trained() const { return data->steps.rows() > 0; }
    /// Training here has begun and not ended.
    bool isTraining() const { return !followed && unfinished(); }
    /// The same, here or in the process that writes it.
    bool unfinished() const {
        return data->outcome.state == RunState::Running || data->outcome.state == RunState::Paused;
    }
    /// Another program trained and recorded it: here it is only shown.
    bool external() const { return live.train.data.source == DataSource::External; }
    /// Unaffected by knobs and training: a reference, written by another process, or another program's.
    bool fixed() const { return pinned || followed || external(); }
    /// It ended before its last step, by hand or by an error, and can be resumed.
    bool resumable() const {
        return !fixed() && (data->outcome.state == RunState::Failed ||
                            (data->outcome.state == RunState::Interrupted && trained()));
    }
    /// Its data belong to `live`, independent of its knobs.
    bool committed() const { return trained() || unfinished(); }
    /// Its knobs differ from those it was trained with.
    bool needsNewRun() const { return committed() && !pinned && !same_recipe(recipe, live); }
    /// Its data are to come from files that are not chosen yet: it is neither measured nor trained.
    bool needsFile() const {
        return is_from_files(recipe.train.data.source) && recipe.train.data.path.empty();
    }
    /// The last recorded step; -1 before.
    std::int64_t lastStep() const { return trained() ? data->steps.step.back() : -1; }
};

/// A run without measurements.
LabRun makeRun(std::string id, const Recipe& recipe);

/// The run as one that was stopped by hand at its last row; without a row, as one that was not started.
LabRun stopped(LabRun run);

}  // namespace normscope::app
