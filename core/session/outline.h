// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/session.h"
#include "core/session/step_overview.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Opening a large session: first the outline of each run, which a first figure is drawn from, and the whole
/// runs later. An outline is a RunData with `unread`; whole() of it, or of any copy of it, is the run of the
/// file. What needs more than the outline checks `unread`; save_session() writes whole runs.
namespace normscope {

class LazySession;

/// What the outline of a run does not have.
struct UnreadRun {
    /// Kept open: what is read later is of the file that was opened, also after another was put in its place.
    std::shared_ptr<const LazySession> file;
    std::string path;      ///< of the file, as it was opened
    std::string id;        ///< in the file; copies in a window may have another
    std::size_t rows = 0;  ///< of its step table
    /// Of all rows. Nullopt: there are few, and the outline has them all.
    std::optional<StepOverview> overview;
};

/// Rows at the end of the step table that an outline has: recent losses and speeds are means of at most 20.
inline constexpr std::size_t outline_rows = 64;
/// Of its overview, a few per pixel of a plot.
inline constexpr std::size_t outline_blocks = 4096;
/// Up to this size a file is read whole at once, which takes less than a tenth of a second.
inline constexpr std::size_t whole_file_bytes = std::size_t{16} << 20;

/// That check a foreign file: one reads while the other waits for the disk. With a third, files in memory
/// opened later (tests/bench/INTERFACE.md).
inline constexpr std::size_t outline_walkers = 2;

/// As open_session(), but from a saved session of more than `most_bytes` outlines of the runs that were
/// trained: the last rows of the step table and an overview of it, the newest samples of these probes,
/// events, outcome and texts. Throws InputError.
Session open_outline(const std::string& path, const std::vector<std::string>& probes,
                     std::size_t most_bytes = whole_file_bytes);

/// The reading of open_outline(), in steps: `step` is called before the file is opened and before each run.
/// The walkers of foreign files make the same calls (core/session/foreign/), each for the runs that it
/// `reads`, by their places in the file. Nullopt for a recording, which has no outlines.
std::optional<Session> outline_in_steps(
    const std::string& path, const std::vector<std::string>& probes, const std::function<void()>& step,
    const std::function<bool(std::size_t)>& reads = [](std::size_t) { return true; });

/// What an outline lacks, as read.
struct RunRemainder {
    StepTable steps;
    std::map<std::string, std::vector<ProbeResult>> probes;
};
/// Calls HDF5. Throws InputError, one line, where the file is damaged or was written to since it was opened;
/// after damage was met nothing more is read of the file.
RunRemainder read_remainder(const UnreadRun& unread);
/// Makes an outline a whole run: steps and samples of the file, with the samples that were measured since;
/// all else as in the outline.
void complete(RunData& outline, RunRemainder rest);
/// The run, completed where it is an outline; as read_remainder().
RunData whole(const RunData& run);
/// Closes the files that no outline needs any more, which would be closed when the next one is opened. Calls
/// HDF5.
void close_unused_files();

}  // namespace normscope
