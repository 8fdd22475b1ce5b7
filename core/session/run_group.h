// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/hdf5.h"
#include "core/session/process/process_identity.h"
#include "core/session/recording_mark.h"
#include "core/session/recording_schema.h"
#include "core/session/step_overview.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope {
class LazySession;
}

/// The layout of one run in a file, /runs/{id}: defined only here, shared by recorder, session and recovery.
namespace normscope::layout {

inline constexpr std::size_t state_bytes = 16, kind_bytes = 16, text_bytes = 240;

// --- the root
// -----------------------------------------------------------------------------------------------------
inline constexpr std::int64_t format_version = 1;
void write_root(hid_t file);
/// Throws InputError unless this is a Normscope session of a supported version.
void check_root(hid_t file, const std::string& path);

// --- pieces that recorder and session share
// -----------------------------------------------------------------------
/// Throws InputError for an id that cannot name a group.
void check_id(const std::string& id);
void write_header(hid_t run, const RunHeader& header);
void write_labels(hid_t probe, const ProbeSchema& schema);
void write_array_attributes(hid_t probe, const ArraySchema& array);
void write_writer(hid_t run, const ProcessIdentity& writer);
/// Nullopt where the process that recorded the run does not exist any more, and for a saved run.
std::optional<ProcessIdentity> live_writer(hid_t run);
/// "process 812"; of another host "process 812 on node3".
std::string writer_text(const ProcessIdentity& writer);
/// Throws InputError where an array's name would hide the probe's own data sets or appears twice.
void check_schema(const ProbeSchema& schema);

/// One row of `events`, the same bytes in memory and in the file.
struct EventRow {
    std::int64_t step;
    char kind[kind_bytes];
    char text[text_bytes];
};
hdf5::Handle event_type();
EventRow event_row(const RunEvent& event);

// --- whole runs
// ---------------------------------------------------------------------------------------------------
/// All samples of one probe as the group probes/{probe}. They must agree in their arrays and shapes.
void write_probe(hid_t probes, const std::vector<ProbeResult>& samples);
void write_run(hid_t runs, const RunData& run);

struct ReadRun {
    RunData data;
    std::vector<std::string> warnings;  ///< losses of a damaged recording, one line each
};
/// A run whose state is running or paused without a live writer is interrupted. `recording`: take the
/// shortest sound length of each group instead of rejecting unequal ones; a run that names its writer is
/// always read so.
ReadRun read_run(hid_t runs, const std::string& id, bool recording);
/// The header and outcome of a recording, and what it has beyond a mark of it; nullopt where it has less than
/// that.
std::optional<RunData> read_run_beyond(hid_t runs, const std::string& id, const RecordingMark& known);
/// Whether it is a saved run, with steps.
bool has_outline(hid_t runs, const std::string& id);
/// Its outline (outline.h), with the newest samples of these probes.
RunData read_outline(hid_t runs, const std::string& id, const std::vector<std::string>& probes,
                     const std::string& path, std::shared_ptr<const LazySession> file);
/// The finest level of a saved run's pyramid with at most that many blocks, else the coarsest; empty in a
/// recording and where there are too few steps for one.
std::optional<StepOverview> read_overview(hid_t run, std::size_t most_blocks = 0);
Outcome read_outcome(hid_t run);

/// The number of rows that every data set of a group has. Throws InputError where they differ, unless it is a
/// recording.
std::size_t common_rows(hid_t group, bool recording);

}  // namespace normscope::layout
