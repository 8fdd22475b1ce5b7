// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/forked.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>

namespace normscope::fuzz {

namespace {

/// The child's progress; outlives it.
struct Progress {
    std::atomic<int> number;
    std::atomic<bool> reported;
    char what[2000];
};

}  // namespace

Outcome run_forked(int first, int last, int patience, const std::function<Trial()>& prepare) {
    void* shared =
        ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* progress = new (shared) Progress{};
    Outcome outcome;
    for (int next = first; next < last;) {
        progress->number = next;
        progress->reported = false;
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                const Trial trial = prepare();
                for (int i = next; i < last; ++i) {
                    progress->number = i;
                    const std::string what = trial(i);
                    if (what.empty()) continue;
                    std::strncpy(progress->what, what.c_str(), sizeof progress->what - 1);
                    progress->reported = true;
                    ::_exit(1);
                }
            } catch (const std::exception& error) {
                std::strncpy(progress->what, error.what(), sizeof progress->what - 1);
                progress->reported = true;
                ::_exit(1);
            }
            ::_exit(0);
        }
        int status = 0, seen = next;
        auto since = std::chrono::steady_clock::now();
        bool hung = false;
        while (::waitpid(child, &status, WNOHANG) == 0) {
            ::usleep(5000);
            if (const int now = progress->number; now != seen) {
                seen = now;
                since = std::chrono::steady_clock::now();
            } else if (std::chrono::steady_clock::now() - since > std::chrono::seconds(patience)) {
                hung = true;
                ::kill(child, SIGKILL);
                ::waitpid(child, &status, 0);
                break;
            }
        }
        const int at = progress->number;
        if (!hung && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            next = last;
            continue;
        }
        std::string what = "the process ended";
        if (hung)
            what = "took longer than " + std::to_string(patience) + " s";
        else if (progress->reported)
            what = progress->what;
        else if (WIFSIGNALED(status))
            what = std::string("crash: ") + ::strsignal(WTERMSIG(status));
        outcome.failures.push_back({at, what});
        std::memset(progress->what, 0, sizeof progress->what);
        next = at + 1;
    }
    outcome.tried = last - first;
    ::munmap(shared, sizeof(Progress));
    return outcome;
}

}  // namespace normscope::fuzz
