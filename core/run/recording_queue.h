// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace normscope {

/// The queue of data to record, from the training thread to the thread that owns HDF5. Coalesced by run: one
/// header, the rows in one delta, the checkpoint of step 0 and the newest one. No row is lost. Checkpoints
/// that a newer one replaces are skipped.
///
/// Bounded: rows and samples of more than 64 MiB together make the training thread wait until some were
/// taken. So a hanging disk blocks training, and memory is bounded.
class RecordingQueue {
  public:
    static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

    /// The entries of one run, in this order.
    struct Entry {
        std::string id;
        std::shared_ptr<const RunData> header;  ///< the recording begins; null: it has begun
        std::string path;                       ///< the file that it continues; empty: a new one
        RunDelta delta;
        std::shared_ptr<const Checkpoint> start, newest;
        bool ends = false;
        std::string failure;         ///< the reason if it ends before the run
        std::uint64_t training = 0;  ///< which start of a run this recording is of, as given to begin()
    };

    explicit RecordingQueue(std::size_t most_bytes = kMaxBytes) : most_bytes_(most_bytes) {}

    // Each returns true if the queue was empty: the other thread must be notified.
    bool begin(std::shared_ptr<const RunData> header, const std::string& path = "",
               std::uint64_t training = 0);
    bool add(const std::string& id, const RunDelta& delta);
    bool save(const std::string& id, const std::shared_ptr<const Checkpoint>& checkpoint);
    bool end(const std::string& id, const std::string& failure = "");

    /// All entries, in the order of each run's first one.
    std::vector<Entry> take();
    /// Disables waiting in add(): the program ends and takes what is queued.
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
