// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "core/base/error.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace normscope::app {

namespace {

/// It has an event loop, which this program does not need. Installed next to it; in a build in the folder
/// above, as normscope-walk.
std::string engineProgram() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& folder : {here, here.parent_path()})
        if (std::filesystem::exists(folder / "normscope-engine"))
            return (folder / "normscope-engine").string();
    throw SystemError((here / "normscope-engine").string() + ": is missing, it comes with the window");
}

}  // namespace

void add_serve(CLI::App& program, Task& task) {
    auto* command = program.add_subcommand("serve", "the engine for a window on another machine, over ssh");
    struct Options {
        bool stdio = false, resume = false;
        std::string session = "0";
    };
    const auto options = std::make_shared<Options>();
    command
        ->add_flag("--stdio", options->stdio,
                   "Requests come on standard input, replies go to standard output")
        ->required();
    command->add_option("--session", options->session,
                        "The name of the engine, digits 0-9 and a-f; the window chooses it");
    command->add_flag("--resume", options->resume, "Only where that engine runs");
    command->callback([options, &task] {
        task = [options]() -> int {
            const std::string engine = engineProgram();
            execl(engine.c_str(), engine.c_str(), "--stdio", "--session", options->session.c_str(),
                  options->resume ? "--resume" : nullptr, nullptr);
            throw SystemError(engine + ": " + std::strerror(errno));
        };
    });
}

}  // namespace normscope::app
