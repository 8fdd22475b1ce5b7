// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/run_recipe.h"
#include "core/session/stored_tensor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// The state needed to resume a run bit for bit.
struct Checkpoint {
    std::int64_t step = 0;
    RunRecipe recipe;
    std::vector<StoredTensor> params, moment1, moment2;   ///< by the names of the tensor table, in its order
    std::vector<std::pair<std::string, double>> scalars;  ///< loss scale, smoothed losses, …
    std::vector<std::pair<std::string, std::int64_t>> integers;  ///< generator, data position, …

    bool operator==(const Checkpoint&) const = default;
};

/// One file, put in place atomically. Throws SystemError.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Throws InputError for a missing, foreign or damaged file.
Checkpoint read_checkpoint(const std::string& path);

/// Whether the file is neither a checkpoint nor one that was damaged: then it is kept. False where there is
/// none.
bool holds_something_else(const std::string& path);

/// The live checkpoints of a recording RUN.h5: RUN.ckpt.a.h5 and RUN.ckpt.b.h5, written alternately, so that
/// the previous one always exists too. A third file, RUN.ckpt.start.h5, holds the state at step 0 where the
/// recipe does not reproduce it; later checkpoints do not replace it.
///
/// Those of a recording RUN of another name are RUN.ckpt.a, RUN.ckpt.b and RUN.ckpt.start, so that no two
/// recordings share one. Earlier versions named them as those of RUN.h5: where there is no RUN.h5, they are
/// read, and removed with the pair. A file that is no checkpoint is neither replaced nor removed.
class CheckpointPair {
  public:
    explicit CheckpointPair(const std::string& recording_path);

    /// Overwrites the older of the two (or the unreadable one). Throws SystemError, InputError where both
    /// names are taken by other files.
    void save(const Checkpoint& checkpoint);
    /// The newest readable one; nullopt if there are no files. Throws InputError where there are only damaged
    /// ones.
    std::optional<Checkpoint> newest() const;
    /// The files of the two that exist, newest first.
    std::vector<std::string> paths() const;
    /// All files of these names that exist, that of step 0 too. None is opened.
    std::vector<std::string> files() const;
    /// Keeps the state at step 0 as long as the pair exists. Throws SystemError.
    void save_start(const Checkpoint& checkpoint);
    /// Nullopt if there is no such file. Throws InputError where it cannot be read.
    std::optional<Checkpoint> start() const;
    /// Deletes the files and the temporaries of killed processes. Throws SystemError, InputError where one of
    /// the names is taken by another file.
    void remove();

  private:
    /// Of one way to name them.
    struct Names {
        std::array<std::string, 2> alternating;
        std::string start;
    };
    bool has_earlier_names() const;
    std::vector<std::string> alternating() const;

    bool usual_ = true;     ///< the recording is RUN.h5
    Names names_, others_;  ///< the others: of RUN where it is RUN.h5, and the reverse
    std::string recording_, other_recording_;
};

/// A checkpoint embedded in a saved session.
Checkpoint load_checkpoint(const std::string& session_path, const std::string& run_id, std::int64_t step);

}  // namespace normscope
