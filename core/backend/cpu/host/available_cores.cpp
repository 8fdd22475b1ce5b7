// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/available_cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace normscope {

namespace {

/// Of the process's own group in the unified hierarchy, "0::/user.slice"; empty where there is none.
std::string group_path() {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        if (line.rfind("0::", 0) == 0) return line.substr(3);
    return {};
}

/// The smallest quota of the group and those above it; 0: none.
int group_cores() {
    int least = 0;
    std::string path = group_path();
    while (true) {
        std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
        std::string text;
        std::getline(file, text);
        if (const int cores = cores_of_quota(text); cores > 0)
            least = least > 0 ? std::min(least, cores) : cores;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos) return least;
        path.erase(slash);
    }
}

int cores_of_mask() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
    return static_cast<int>(std::thread::hardware_concurrency());  // more cores than a mask of this size has
}

}  // namespace

int cores_of_quota(const std::string& cpu_max) {
    std::istringstream in(cpu_max);
    double quota = 0, period = 0;
    if (!(in >> quota >> period) || !(quota > 0) || !(period > 0)) return 0;
    return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

int available_cores() {
    static const int cores = [] {
        const int mask = std::max(1, cores_of_mask()), group = group_cores();
        return group > 0 ? std::min(mask, group) : mask;
    }();
    return cores;
}

}  // namespace normscope
