// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/preflight.h"
#include "core/backend/cpu/host/process_memory.h"
#include "core/base/error.h"
#include "core/session/process/guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

namespace normscope::app {

namespace {

std::string one_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
    std::string allowed;
    for (const CLI::App* command : program.get_subcommands(nullptr))
        allowed += (allowed.empty() ? "" : ", ") + command->get_name();
    return word + ": no such command, allowed: " + allowed;
}

int fail(const std::string& message, int code) {
    print_error(message);
    return code;
}

int run(int argc, char** argv) {
    CLI::App program("Normscope's command line: trains, measures and compares transformer stacks.",
                     "normscope-cli");
    program.set_version_flag("--version", NORMSCOPE_VERSION);
    program.require_subcommand(1);
    Task task;
    for (const auto add : {add_devices,  add_presets,   add_train,    add_sweep,  add_probe,  add_probes,
                           add_evaluate, add_theta,     add_bench,    add_gather, add_info,   add_diff,
                           add_capture,  add_bands,     add_validate, add_import, add_export, add_remedies,
                           add_check,    add_preflight, add_gallery,  add_serve,  add_docs})
        add(program, task);
    try {
        program.parse(argc, argv);
    } catch (const CLI::RequiredError& error) {
        if (argc > 1 && program.get_subcommands().empty())
            return fail(unknown_command(program, argv[1]), kWrongInput);
        return fail(error.what(), kWrongInput);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return program.exit(error);
        return fail(error.what(), kWrongInput);
    }
    const int code = task();
    if (!std::cout.flush()) return fail("stdout: cannot be written", kFailed);
    return code;
}

/// A file that is opened must not get the number of a standard stream that the caller closed: what is printed
/// would be written into it.
void occupy_standard_streams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 &&
            ::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0)
            std::abort();
}

int guarded(int argc, char** argv) {
    try {
        guard_foreign_files(installed_walker());
        return run(argc, argv);
    } catch (const InputError& error) {
        return fail(error.what(), kWrongInput);
    } catch (const std::bad_alloc&) {
        return fail("out of memory", kFailed);
    } catch (const std::exception& error) {
        return fail(error.what(), kFailed);
    }
}

}  // namespace

void print_error(const std::string& message) {
    std::cout.flush();
    std::cerr << "normscope-cli: " + one_line(message) + "\n";
}

}  // namespace normscope::app

int main(int argc, char** argv) {
    normscope::app::occupy_standard_streams();
    normscope::retain_freed_memory();
    return normscope::app::guarded(argc, argv);
}
