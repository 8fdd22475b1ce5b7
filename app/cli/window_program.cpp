// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/window_program.h"

#include "core/base/error.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace normscope::app {

namespace {

std::filesystem::path window_program(const std::string& who) {
    std::error_code none;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    for (const auto& place : {folder / "normscope", folder.parent_path() / "normscope"})
        if (std::filesystem::is_regular_file(place, none) && access(place.c_str(), X_OK) == 0) return place;
    throw SystemError(who + " needs the program normscope, and it is neither in " + folder.string() +
                      " nor in the folder above");
}

}  // namespace

int run_window_program(const std::string& who, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{window_program(who).string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::cout.flush();
    pid_t child = 0;
    const int problem = posix_spawn(&child, words[0].c_str(), nullptr, nullptr, pointers.data(), environ);
    if (problem != 0) throw SystemError(words[0] + ": cannot be started: " + std::strerror(problem));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw SystemError(words[0] + ": cannot be waited for: " + std::strerror(errno));
    if (!WIFEXITED(status))
        throw SystemError(words[0] + ": ended by signal " + std::to_string(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

}  // namespace normscope::app
