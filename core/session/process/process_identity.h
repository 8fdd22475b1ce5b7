// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace normscope {

/// The process that writes a recording, so that a reader can distinguish a live run from a dead one.
struct ProcessIdentity {
    std::string host;
    std::string boot_id;  ///< changes with every boot
    std::int64_t pid = 0;
    std::int64_t start = 0;  ///< clock ticks from boot to the start of the process; distinguishes reused pids

    bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();

/// Milliseconds since 1970.
std::int64_t unix_time_ms();

/// Whether that process still runs. On another host, whose processes cannot be seen, a heartbeat
/// (unix_time_ms) of the last 30 seconds counts as alive.
bool is_alive(const ProcessIdentity& writer, std::int64_t heartbeat_ms);

}  // namespace normscope
