// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/recording_queue.h"

#include "core/base/assert.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

std::size_t bytes_of(const RunDelta& delta) {
    std::size_t bytes = 0;
    for (const StepRecord& record : delta.steps)
        bytes += sizeof record + record.values.size() * sizeof record.values[0];
    for (const ProbeResult& sample : delta.probes)
        for (const NamedArray& array : sample.arrays)
            bytes += sizeof array + array.data.size() * sizeof(double);
    for (const RunEvent& event : delta.events) bytes += sizeof event + event.text.size();
    return bytes;
}

}  // namespace

RecordingQueue::Entry& RecordingQueue::entry_of(const std::string& id) {
    const auto found =
        std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) { return entry.id == id; });
    if (found != entries_.rend()) return *found;
    return entries_.emplace_back(Entry{id, nullptr, {}, {}, nullptr, nullptr, false, {}, 0});
}

bool RecordingQueue::begin(std::shared_ptr<const RunData> header, const std::string& path,
                           std::uint64_t training) {
    NORMSCOPE_ASSERT(header, "a recording begins with its header");
    const std::lock_guard lock(mutex_);
    const bool first = entries_.empty();
    std::string id = header->id;
    entries_.push_back({std::move(id), std::move(header), path, {}, nullptr, nullptr, false, {}, training});
    return first;
}

bool RecordingQueue::add(const std::string& id, const RunDelta& delta) {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return never_wait_ || bytes_ < most_bytes_; });
    const bool first = entries_.empty();
    merge(entry_of(id).delta, delta);
    bytes_ += bytes_of(delta);
    return first;
}

bool RecordingQueue::save(const std::string& id, const std::shared_ptr<const Checkpoint>& checkpoint) {
    NORMSCOPE_ASSERT(checkpoint, "a checkpoint to save");
    const std::lock_guard lock(mutex_);
    const bool first = entries_.empty();
    Entry& entry = entry_of(id);
    (checkpoint->step == 0 ? entry.start : entry.newest) = checkpoint;
    return first;
}

bool RecordingQueue::end(const std::string& id, const std::string& failure) {
    const std::lock_guard lock(mutex_);
    const bool first = entries_.empty();
    Entry& entry = entry_of(id);
    entry.ends = true;
    entry.failure = failure;
    return first;
}

std::vector<RecordingQueue::Entry> RecordingQueue::take() {
    std::vector<Entry> entries;
    {
        const std::lock_guard lock(mutex_);
        entries.swap(entries_);
        bytes_ = 0;
    }
    taken_.notify_all();
    return entries;
}

void RecordingQueue::stop_waiting() {
    {
        const std::lock_guard lock(mutex_);
        never_wait_ = true;
    }
    taken_.notify_all();
}

}  // namespace normscope
