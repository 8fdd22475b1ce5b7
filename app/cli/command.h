// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace normscope::app {

/// Exit status. A stalled or collapsed run is done; its state is printed. Interrupted: by a signal, a limit
/// of time or a watchpoint; it can be resumed.
enum ExitCode { kDone = 0, kFailed = 1, kWrongInput = 2, kDiverged = 3, kInterrupted = 4 };

/// What the chosen subcommand does, run after the arguments are read, so that its errors are not reported as
/// argument errors. Returns the exit code; throws InputError (2) or SystemError (1).
using Task = std::function<int()>;

// One file a command. Each adds its subcommand, which sets the task when it is chosen.
void add_devices(CLI::App& program, Task& task);
void add_presets(CLI::App& program, Task& task);
void add_train(CLI::App& program, Task& task);
void add_sweep(CLI::App& program, Task& task);
void add_probe(CLI::App& program, Task& task);
void add_probes(CLI::App& program, Task& task);
void add_evaluate(CLI::App& program, Task& task);
void add_theta(CLI::App& program, Task& task);
void add_bench(CLI::App& program, Task& task);
void add_gather(CLI::App& program, Task& task);
void add_info(CLI::App& program, Task& task);
void add_diff(CLI::App& program, Task& task);
void add_bands(CLI::App& program, Task& task);
void add_capture(CLI::App& program, Task& task);
void add_validate(CLI::App& program, Task& task);
void add_import(CLI::App& program, Task& task);
void add_export(CLI::App& program, Task& task);
void add_remedies(CLI::App& program, Task& task);
void add_check(CLI::App& program, Task& task);
void add_gallery(CLI::App& program, Task& task);
void add_serve(CLI::App& program, Task& task);
void add_docs(CLI::App& program, Task& task);

/// --threads N, 0 = all cores.
void add_threads_option(CLI::App& command, int& threads);
/// --backend auto or a word of core/backend/devices/devices.h; require_backend rejects what is not available.
void add_backend_option(CLI::App& command, std::string& backend);
void require_backend(const std::string& backend);

/// --max-seconds S: stops with checkpoints then, as at a signal (stop_after); 0: never.
void add_max_seconds_option(CLI::App& command, double& seconds);

/// One line on stderr.
void print_error(const std::string& message);

}  // namespace normscope::app
