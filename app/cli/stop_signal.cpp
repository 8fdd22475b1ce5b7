// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/stop_signal.h"

#include <atomic>
#include <csignal>

namespace normscope::app {

namespace {
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);
}  // namespace

void listen_for_signals() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { received = signal; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() {
    return received;
}

const char* stopped_by() {
    return received == SIGTERM ? "stopped by SIGTERM" : "stopped by SIGINT";
}

}  // namespace normscope::app
