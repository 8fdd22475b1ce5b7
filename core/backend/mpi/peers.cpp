// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/mpi/peers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

namespace normscope {

namespace {

std::string text_at(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct State {
    char letter = 0;  ///< 0: there is no such process
    std::uint64_t began = 0;
};

/// proc(5): after the name, which is in parentheses, the state is the first word and the start the twentieth.
State state_of(const std::string& process) {
    const std::string text = text_at("/proc/" + process + "/stat");
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream words(text.substr(name_end + 1));
    State state;
    words >> state.letter;
    std::string word;
    for (int i = 0; i < 19; ++i) words >> word;
    state.began = std::strtoull(word.c_str(), nullptr, 10);
    return state;
}

}  // namespace

Peer this_process() {
    const std::string boot = text_at("/proc/sys/kernel/random/boot_id");
    struct stat numbering {};
    if (boot.empty() || stat("/proc/self/ns/pid", &numbering) != 0) return {};
    const std::size_t machine = std::hash<std::string>()(boot + std::to_string(numbering.st_ino));
    return {machine | 1, getpid(), state_of("self").began};
}

bool has_ended(const Peer& peer, const Peer& here) {
    if (here.machine == 0 || peer.machine != here.machine) return false;
    const State state = state_of(std::to_string(peer.process));
    return state.letter == 0 || state.letter == 'Z' || state.letter == 'X' || state.began != peer.began;
}

}  // namespace normscope
