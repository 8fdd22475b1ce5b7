// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_results.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// A sweep's folder, locked against other processes: sweep.json, results.csv, runs/*.h5. results.csv is
/// derived: it is written again from the recordings whenever a run ends.
class SweepFolder {
  public:
    /// Makes the folder where there is none, and writes sweep.json. Throws InputError where the folder
    /// belongs to another sweep (naming the first difference), holds something else, or is used by another
    /// process; SystemError where it cannot be written.
    SweepFolder(std::string path, const SweepSpec& spec);
    ~SweepFolder();
    SweepFolder(const SweepFolder&) = delete;
    SweepFolder& operator=(const SweepFolder&) = delete;

    const std::string& path() const { return path_; }
    /// False on a file system without locks, where another process is not kept out.
    bool is_locked() const { return locked_; }
    std::string recording(const SweepRun& run) const { return path_ + "/" + run.recording; }

    /// The row of a run that has ended, from its recording; what a killed process left to do is done.
    /// Nullopt where there is none, where it was interrupted or failed, and where it is damaged: the run is
    /// to be trained. Throws InputError where it holds another recipe.
    std::optional<SweepRow> ended(const SweepRun& run, const Recipe& recipe, bool keeps_weights) const;

    /// Replaces results.csv atomically. Returns false where the file is already this text. Throws
    /// SystemError.
    bool write_results(const std::string& csv) const;

  private:
    void lock();
    std::string path_;
    int lock_ = -1;
    bool locked_ = false;
};

/// Whether a run of this state has a result and is not trained again: finished, stalled, collapsed, diverged.
bool is_result(RunState state);

/// The specification in a folder's sweep.json. Throws InputError.
SweepSpec read_sweep_spec(const std::string& folder);

/// A file's text; nullopt if it cannot be opened.
std::optional<std::string> text_of_file(const std::string& path);

/// Replaces a text file atomically. Throws SystemError.
void replace_text_file(const std::string& path, const std::string& text);

}  // namespace normscope
