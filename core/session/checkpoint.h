// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/run_recipe.h"
#include "core/session/stored_tensor.h"

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

/// The live checkpoints of a recording RUN.h5: RUN.ckpt.a.h5 and RUN.ckpt.b.h5, written alternately, so that
/// the previous one always exists too. A third file, RUN.ckpt.start.h5, holds the state at step 0 where the
/// recipe does not reproduce it; later checkpoints do not replace it.
class CheckpointPair {
  public:
    explicit CheckpointPair(const std::string& recording_path);

    /// Overwrites the older of the two (or the unreadable one). Throws SystemError.
    void save(const Checkpoint& checkpoint);
    /// The newest readable one; nullopt if there are no files. Throws InputError where there are only damaged
    /// ones.
    std::optional<Checkpoint> newest() const;
    /// The files that exist, newest first.
    std::vector<std::string> paths() const;
    /// Keeps the state at step 0 as long as the pair exists. Throws SystemError.
    void save_start(const Checkpoint& checkpoint);
    /// Nullopt if there is no such file. Throws InputError where it cannot be read.
    std::optional<Checkpoint> start() const;
    /// Deletes the files and the temporaries of killed processes. Throws SystemError.
    void remove();

  private:
    std::string slots_[2], start_;
};

/// A checkpoint embedded in a saved session.
Checkpoint load_checkpoint(const std::string& session_path, const std::string& run_id, std::int64_t step);

}  // namespace normscope
