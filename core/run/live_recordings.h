// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/recording.h"
#include "core/run/recording_queue.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace normscope {

/// The recordings of the runs in training, in a folder: writes what a queue has. Nothing here throws: a
/// recording that fails is reported, and its run continues without. The one thread that owns HDF5.
class LiveRecordings {
  public:
    struct Listener {
        /// A recording begins in this file; `training`: the start of the run, as in the queue.
        std::function<void(std::uint64_t training, const std::string& id, const std::string& path)> begun;
        /// The run is not recorded any more: "not recorded: …", one line.
        std::function<void(std::uint64_t training, const std::string& id, const std::string& line)> lost;
    };
    /// `ending`: of the names of new files, so that two processes that record one run into one folder differ.
    LiveRecordings(std::string folder, Listener listener, std::string ending = ".h5");

    /// Takes and records all that waits.
    void record(RecordingQueue& queue);
    /// Marks this process as alive in all of them. About once a second.
    void heartbeat();
    bool empty() const { return recordings_.empty(); }
    /// Whether this file is one of them.
    bool writes(const std::string& path) const;

  private:
    struct Recorded {
        std::unique_ptr<Recording> recording;
        std::uint64_t training = 0;
    };
    void begin(const RecordingQueue::Entry& entry);
    void lose(std::uint64_t training, const std::string& id, const std::string& reason);
    template <class Work>
    void with(const std::string& id, Work&& work);
    std::string new_path(const std::string& id) const;

    std::string folder_;
    Listener listener_;
    std::string ending_;
    std::map<std::string, Recorded> recordings_;
};

}  // namespace normscope
