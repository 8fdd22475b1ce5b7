// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recording_mark.h"
#include "core/session/run_data.h"

#include <string>

namespace normscope {

/// Of a recording that was read whole from this file.
RecordingMark mark_of(const RunData& run, const FileIdentity& file);

/// What a recording has beyond a mark.
struct RecordingGrowth {
    RunData run;         ///< header and outcome; of rows, samples and events those beyond the mark
    bool whole = false;  ///< another file is there, or the file was cut: `run` has everything
    /// "process 812", "process 812 on node3"; empty: it had ended before this was read, and `run` has all of
    /// it.
    std::string writer;
    RecordingMark mark;  ///< with what was read now
};

/// Reads what another process has added to a recording since. A file that the process is just writing to may
/// not be readable at this moment: ask again. Calls HDF5. Throws InputError, one line, where it cannot be
/// read or is no recording.
RecordingGrowth read_growth(const std::string& path, const RecordingMark& known);

}  // namespace normscope
