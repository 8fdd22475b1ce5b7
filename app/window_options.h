// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <QSize>
#include <cstdint>
#include <optional>
#include <string>

namespace normscope::app {

/// The command line of `normscope` without a command's name.
struct WindowOptions {
    std::string session;      ///< a session, a recording or the folder of a sweep; empty: none
    bool from_start = false;  ///< not the comparison of the last window
    int threads = 0;          ///< of the engine; 0 = all cores but one
    std::string backend;      ///< device of trainings; empty: the last choice
    std::string theme;        ///< "light" or "dark"; empty: that of the session or the settings

    std::string screenshot;  ///< written there instead of opening a window; empty: none
    QSize size{1440, 900};
    int train = 0;           ///< steps
    double after = 0;        ///< seconds
    std::int64_t step = -1;  ///< -1: the newest
    bool measure = false;
    std::string story;  ///< empty: none
    int story_step = 1;
    bool present = false;

    bool bench_ui = false;  ///< the latency of the interface is measured instead
    bool json = false;
    double seconds = 10;  ///< of each knob
    int stall_ms = 50;
};

/// Declares the options of the window; `size` receives the text of --size.
void addWindowOptions(CLI::App& cli, WindowOptions& options, std::string& size);

/// Reads the command line. Where the program ends with it (--help; wrong usage, one line on stderr): its exit
/// code.
std::optional<int> readWindowOptions(int argc, char** argv, WindowOptions& options);

}  // namespace normscope::app
