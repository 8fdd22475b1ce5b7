// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace normscope {

/// What waits to be recorded, on its way from the thread that trains to the thread that owns HDF5. It is
/// coalesced by run: one header, the rows in one delta, the checkpoint of step 0 and the newest one. No row
/// is lost. Of the checkpoints those are passed over that a newer one would soon replace on disk anyway.
///
/// Bounded: rows and samples of more than 64 MiB together make the training thread wait until some were
/// taken. So a disk that hangs holds up the training, and memory does not fill.
class RecordingQueue {
  public:
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    /// Of one run, to be dealt with in this order.
    struct Entry {
        std::string id;
        std::shared_ptr<const RunData> header;  ///< the recording begins; null: it has begun
        std::string path;                       ///< the file that it goes on in; empty: a new one
        RunDelta delta;
        std::shared_ptr<const Checkpoint> start, newest;
        bool ends = false;
        std::string failure;  ///< why it ends before the run does
    };

    explicit RecordingQueue(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

    // Each returns true where nothing waited before: the other thread must be told.
    bool begin(std::shared_ptr<const RunData> header, const std::string& path = "");
    bool add(const std::string& id, const RunDelta& delta);
    bool save(const std::string& id, const std::shared_ptr<const Checkpoint>& checkpoint);
    bool end(const std::string& id, const std::string& failure = "");

    /// Everything that waits, in the order in which the runs first had something.
    std::vector<Entry> take();
    /// From now on add() does not wait: the program ends and takes what is there.
    void stop_waiting();

  private:
    Entry& entry_of(const std::string& id);

    const std::size_t most_bytes_;
    std::mutex mutex_;
    std::condition_variable taken_;
    std::vector<Entry> entries_;
    std::size_t bytes_ = 0;
    bool never_wait_ = false;
};

}  // namespace normscope
