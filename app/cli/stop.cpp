// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/stop.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

namespace normscope::app {

namespace {

constexpr std::pair<int, const char*> kSignals[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"},
                                                    {SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
                                                    {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}};

std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::optional<std::chrono::steady_clock::time_point> deadline;  // set before other threads exist

/// Calls nothing but what a signal handler may.
void receive(int number) {
    if (received.exchange(number) == 0 || number == SIGXCPU) return;
    ::signal(number, SIG_DFL);
    ::raise(number);  // ends the program when this returns
}

}  // namespace

void listen_for_signals() {
    struct sigaction action {};
    action.sa_handler = receive;
    action.sa_flags = SA_RESTART;  // writing to files and pipes continues
    sigset_t all;
    sigemptyset(&all);
    for (const auto& [number, name] : kSignals) {
        sigaction(number, &action, nullptr);
        sigaddset(&all, number);
    }
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

void stop_after(double seconds) {
    if (seconds > 0)
        deadline = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(seconds));
}

bool stop_wanted() {
    return received != 0 || (deadline && std::chrono::steady_clock::now() >= *deadline);
}

std::string stopped_by() {
    for (const auto& [number, name] : kSignals)
        if (received == number) return std::string("stopped by ") + name;
    return "stopped by --max-seconds";
}

}  // namespace normscope::app
