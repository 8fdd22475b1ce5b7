// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace normscope {

/// A process, as its own machine can look for it: what a rank sends the others of itself.
struct Peer {
    std::uint64_t machine = 0;  ///< of the machine's start and of its numbering of processes
    std::int64_t process = 0;   ///< its number there
    std::uint64_t began =
        0;  ///< since the machine's start, in clock ticks: a number is used for others later
};

/// This process. The machine is 0 where the system does not show it.
Peer this_process();

/// Whether it is certain that the process has ended: one of this machine that is not there. Of other machines
/// nothing is certain.
bool has_ended(const Peer& peer, const Peer& here);

}  // namespace normscope
