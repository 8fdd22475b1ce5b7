// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/devices/devices.h"

#include "app/cli/command.h"
#include "core/backend/cpu/host/available_cores.h"
#include "core/run/experiment.h"

#include <iomanip>
#include <iostream>

namespace normscope::app {

void add_devices(CLI::App& program, Task& task) {
    program.add_subcommand("devices", "what can run here")->callback([&task] {
        task = [] {
            std::cout << "cpu   " << cpu_name() << ", " << available_cores()
                      << (available_cores() == 1 ? " thread; " : " threads; ")
                      << precision_line(cpu_device().capabilities().formats) << "\n";
            for (const auto& [word, line] : other_devices())
                std::cout << std::left << std::setw(5) << word << " " << line << "\n";
            std::cout << "the CUDA plug-in: " << kCudaPluginTested << "\n";
            return kDone;
        };
    });
}

}  // namespace normscope::app
