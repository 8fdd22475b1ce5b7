// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/resume.h"

#include "core/base/error.h"

namespace normscope {

bool follows(const RunData& history, const Checkpoint& checkpoint) {
    const auto& steps = history.steps.step;
    return checkpoint.step == 0 || (!steps.empty() && steps.back() + 1 >= checkpoint.step);
}

std::optional<Checkpoint> resumable_checkpoint(const std::string& recording_path, const RunData& history) {
    std::optional<InputError> first_error;
    bool sound = false;
    for (const std::string& path : CheckpointPair(recording_path).paths()) {
        try {
            Checkpoint checkpoint = read_checkpoint(path);
            sound = true;
            if (follows(history, checkpoint)) return checkpoint;
        } catch (const InputError& error) {
            if (!first_error) first_error = error;
        }
    }
    if (first_error && !sound) throw *first_error;
    return std::nullopt;
}

}  // namespace normscope
