// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "core/session/describe.h"

#include <iostream>
#include <memory>

namespace normscope::app {

void add_info(CLI::App& program, Task& task) {
    auto file = std::make_shared<std::string>();
    auto* command = program.add_subcommand("info", "what a session, a recording or another HDF5 file holds");
    command->add_option("FILE", *file, "an HDF5 file")->required();
    command->callback([file, &task] {
        task = [file] {
            for (const std::string& line : describe(*file)) std::cout << line << "\n";
            return kDone;
        };
    });
}

}  // namespace normscope::app
