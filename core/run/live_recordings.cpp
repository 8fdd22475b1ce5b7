// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/live_recordings.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

namespace normscope {

LiveRecordings::LiveRecordings(std::string folder, Listener listener, std::string ending)
    : folder_(std::move(folder)), listener_(std::move(listener)), ending_(std::move(ending)) {}

/// "2026-11-28T20-13-45-012-a.h5", local time.
std::string LiveRecordings::new_path(const std::string& id) const {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                        now - std::chrono::system_clock::from_time_t(seconds))
                        .count();
    std::tm local{};
    localtime_r(&seconds, &local);
    std::array<char, 32> date{}, rest{};
    std::strftime(date.data(), date.size(), "%Y-%m-%dT%H-%M-%S", &local);
    std::snprintf(rest.data(), rest.size(), "-%03d-", static_cast<int>(ms));
    return (std::filesystem::path(folder_) / (std::string(date.data()) + rest.data() + id + ending_))
        .string();
}

void LiveRecordings::record(RecordingQueue& queue) {
    for (const RecordingQueue::Entry& entry : queue.take()) {
        if (entry.header) begin(entry);
        with(entry.id, [&](Recording& recording) {
            if (!entry.delta.empty()) recording.add(entry.delta);
            for (const auto& checkpoint : {entry.start, entry.newest})
                if (checkpoint) recording.save(checkpoint);
            if (entry.ends && entry.failure.empty()) recording.close();
        });
        if (!entry.ends) continue;
        if (const auto found = recordings_.find(entry.id);
            found != recordings_.end() && !entry.failure.empty())
            lose(found->second.training, entry.id, entry.failure);
        recordings_.erase(entry.id);
    }
}

void LiveRecordings::begin(const RecordingQueue::Entry& entry) {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) {
        recordings_.erase(entry.id);
        lose(entry.training, entry.id, folder_ + ": the folder of recordings cannot be made");
        return;
    }
    const std::string file = entry.path.empty() ? new_path(entry.id) : entry.path;
    recordings_[entry.id] = {std::make_unique<Recording>(file, entry.header), entry.training};
    listener_.begun(entry.training, entry.id, file);
}

/// Calls `work` if the run is recorded; not after its recording failed, which was reported.
template <class Work>
void LiveRecordings::with(const std::string& id, Work&& work) {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;
    try {
        work(*found->second.recording);
    } catch (const std::exception& error) {
        lose(found->second.training, id, error.what());
    }
}

void LiveRecordings::lose(std::uint64_t training, const std::string& id, const std::string& reason) {
    const std::string line = "not recorded: " + reason;
    if (const auto found = recordings_.find(id); found != recordings_.end()) {
        Recording& recording = *found->second.recording;
        recording.abandon({RunState::Interrupted, recording.last_step(), line, -1});
        recordings_.erase(found);
    }
    listener_.lost(training, id, line);
}

void LiveRecordings::heartbeat() {
    std::vector<std::string> ids;  // one that fails is removed from the list
    for (const auto& [id, recording] : recordings_) ids.push_back(id);
    for (const std::string& id : ids) with(id, [](Recording& recording) { recording.heartbeat(); });
}

bool LiveRecordings::writes(const std::string& path) const {
    std::error_code none;
    for (const auto& [id, recorded] : recordings_)
        if (std::filesystem::equivalent(recorded.recording->path(), path, none)) return true;
    return false;
}

}  // namespace normscope
