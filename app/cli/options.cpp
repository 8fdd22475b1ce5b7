// SPDX-License-Identifier: GPL-3.0-or-later
// The options that several commands have.
#include "app/cli/command.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/backend/devices/devices.h"

namespace normscope::app {

void add_threads_option(CLI::App& command, int& threads) {
    command.add_option("--threads", threads, "threads to compute with, 0 = all cores")
        ->check(CLI::Range(0, 1024));
    // Also for pools that no option reaches: drawing the initial weights.
    command.parse_complete_callback([&threads] { set_default_threads(threads); });
}

void add_backend_option(CLI::App& command, std::string& backend) {
    command.add_option("--backend", backend, "auto, or a device that `devices` lists")->capture_default_str();
}

void add_max_seconds_option(CLI::App& command, double& seconds) {
    command
        .add_option("--max-seconds", seconds,
                    "stop with checkpoints after this time, exit code 4; 0: no limit")
        ->check(CLI::Range(0.0, 1e9));
}

void require_backend(const std::string& backend) {
    device_named(backend);
}

}  // namespace normscope::app
