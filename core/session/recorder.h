// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recording_schema.h"

#include <memory>
#include <string>

namespace normscope {

/// Records one run live: one file per run under SWMR, readable by others while it grows and after kill -9 of
/// this process up to the last flush. All calls are made by the one thread that owns HDF5.
///
/// Rows are buffered and written at most ten times a second, by the first append after the interval,
/// `steps/step` last, so that every other column is at least as long for a concurrent reader.
///
/// Every method throws SystemError (one line: path, object, reason) when writing fails or memory runs out; a
/// row, sample or event is then recorded as a whole or not at all. Nothing more is
/// recorded after that, and the file stays readable up to the last good flush.
class Recorder {
  public:
    /// The file appears at `path` atomically, replacing an existing one; a foreign file is rejected
    /// (InputError). `history` (a resumed run, its steps and samples already cut) is written before recording
    /// starts.
    Recorder(const std::string& path, const RecordingSchema& schema, const RunData* history = nullptr);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// The columns, probes, arrays and shapes must be those of the schema, else InputError.
    void append(const StepRecord& record);
    void append(const ProbeResult& result);
    void append(const RunEvent& event);

    /// Written and flushed at once, after everything appended before.
    void set_state(const Outcome& outcome);
    /// Marks this process as alive; call it about once a second, also while the run is paused.
    void heartbeat();
    /// Passes everything appended so far to the operating system.
    void flush();
    /// Flushes and ends the recording. The destructor does the same but cannot report a failure.
    void close();

    const std::string& path() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace normscope
