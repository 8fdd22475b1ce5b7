// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"
#include "core/session/replaceable.h"
#include "core/session/run_data.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
/// same arrays. `as_read`: the file at `path` as it was read, which is not replaced if it has changed since
/// (require_replaceable()). Returns the identity of the file that it wrote. Throws InputError for what cannot
/// be stored, NotReplaceable, SystemError for what cannot be written.
FileIdentity save_session(const std::string& path, const std::vector<const RunData*>& runs,
                          const std::string& view_json, const std::vector<CheckpointSource>& checkpoints = {},
                          const std::optional<FileIdentity>& as_read = std::nullopt);
FileIdentity save_session(const std::string& path, const std::vector<RunData>& runs,
                          const std::string& view_json, const std::vector<CheckpointSource>& checkpoints = {},
                          const std::optional<FileIdentity>& as_read = std::nullopt);

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
