// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// The cores that this process may use, at least 1: those of its affinity mask (taskset, a scheduler's
/// allocation), at most the quota of its control group, rounded up. Any thread.
int available_cores();

/// The quota in a control group's cpu.max, "200000 100000": 2; 0 for "max" and for a text that is none.
int cores_of_quota(const std::string& cpu_max);

}  // namespace normscope
