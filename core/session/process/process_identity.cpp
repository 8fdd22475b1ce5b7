// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/process/process_identity.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>

namespace normscope {
namespace {

std::string host_name() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

/// Field 22 of /proc/PID/stat; −1 where there is no such process. The program's name (field 2) may hold
/// blanks and brackets, so fields are counted from its last bracket.
std::int64_t start_time(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto bracket = line.rfind(')');
    if (bracket == std::string::npos) return -1;
    std::istringstream fields(line.substr(bracket + 1));
    std::string state;
    fields >> state;
    if (state == "Z" || state == "X") return -1;  // dead, only not yet collected by its parent
    std::string skipped;
    for (int field = 4; field < 22; ++field) fields >> skipped;
    std::int64_t start = -1;
    fields >> start;
    return fields ? start : -1;
}

}  // namespace

ProcessIdentity this_process() {
    return {host_name(), boot_id(), ::getpid(), start_time(::getpid())};
}

std::int64_t unix_time_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

bool is_alive(const ProcessIdentity& writer, std::int64_t heartbeat_ms) {
    constexpr std::int64_t silence_ms = 30'000;
    if (writer.host != host_name()) return unix_time_ms() - heartbeat_ms <= silence_ms;
    return writer.boot_id == boot_id() && writer.start >= 0 && writer.start == start_time(writer.pid);
}

}  // namespace normscope
