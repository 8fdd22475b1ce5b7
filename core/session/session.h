// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"
#include "core/session/run_data.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace normscope {

/// A checkpoint embedded in a saved session.
struct EmbeddedCheckpoint {
    std::string session_path, run_id;
    std::int64_t step = 0;
};

/// A checkpoint to embed in a session: its run and its source (memory, a live checkpoint file, another or the
/// same session). Copied one at a time, so that memory holds one at most.
struct CheckpointSource {
    std::string run_id;
    std::variant<std::shared_ptr<const Checkpoint>, std::string, EmbeddedCheckpoint> from;
};

/// Writes runs, checkpoints and the window's view (an opaque JSON text) as one session file: next to the
/// target, synced, renamed, so that the old file or the new one exists at any time. Run ids must differ.
/// Texts of events and outcomes are cut to 240 bytes at a character. All samples of a probe must have the
/// same arrays. Throws InputError for what cannot be stored, SystemError for what cannot be written.
void save_session(const std::string& path, const std::vector<const RunData*>& runs,
                  const std::string& view_json, const std::vector<CheckpointSource>& checkpoints = {});
void save_session(const std::string& path, const std::vector<RunData>& runs, const std::string& view_json,
                  const std::vector<CheckpointSource>& checkpoints = {});

struct Session {
    std::vector<RunData> runs;         ///< in the order in which they were saved
    std::string view_json;             ///< empty in a recording
    std::string app_version, created;  ///< of the program that wrote it; UTC, ISO 8601
    std::vector<EmbeddedCheckpoint> checkpoints;
    std::vector<std::string> warnings;  ///< losses of a damaged recording, one line each
};

/// Opens a saved session or a single recording, live, finished or of a killed process. Format and version are
/// checked first. Throws InputError, one line with the path, for an unreadable file.
Session open_session(const std::string& path);

}  // namespace normscope
