// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/docs_command.h"
#include "app/figure_command.h"
#include "app/lab/lab.h"
#include "app/lab/remote/place.h"
#include "app/preflight_command.h"
#include "app/process.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/main_window.h"
#include "app/window/state_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "app/window_options.h"
#include "core/interchange/model_folder.h"
#include "widgets/common/settings.h"

#include <unistd.h>

#include <QApplication>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

namespace {

using namespace normscope::app;

/// Replaces this process by the program that measures the window and takes screenshots of it, with the same
/// arguments. Returns the exit code where it is not there.
int runBenchProgram(const char* option, char** argv) {
    std::error_code none;
    const char* chosen = std::getenv("NORMSCOPE_BENCH_UI");
    const std::filesystem::path program =
        chosen && *chosen
            ? std::filesystem::path(chosen)
            : std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "normscope-bench-ui";
    execv(program.c_str(), argv);
    std::cerr << "normscope: " << option << ": " << program.string() << ": " << std::strerror(errno)
              << "; this program comes with the tests' build, NORMSCOPE_BENCH_UI may name it\n";
    return 1;
}

int run(int argc, char** argv) {
    prepareProcess();
    if (argc > 1 && std::strcmp(argv[1], "figure") == 0) {
        if (!hasDisplay()) setenv("QT_QPA_PLATFORM", "offscreen", 1);
        QApplication app(argc, argv);
        setUp(app);
        return runFigureCommand(argc - 1, argv + 1);
    }
    if (argc > 1 && std::strcmp(argv[1], "preflight") == 0) {
        setenv("QT_QPA_PLATFORM", "offscreen", 1);
        QApplication app(argc, argv);
        setUp(app);
        return runPreflightCommand(argc - 1, argv + 1);
    }

    WindowOptions options;
    if (argc > 1 && std::strcmp(argv[1], "docs") == 0) {
        CLI::App window;
        std::string size;
        addWindowOptions(window, options, size);
        return runDocsCommand(argc - 1, argv + 1, window);
    }
    if (const auto ended = readWindowOptions(argc, argv, options)) return *ended;
    if (!hasDisplay()) {
        std::cerr << "normscope: no display (DISPLAY and WAYLAND_DISPLAY are not set); use normscope-cli, or "
                     "normscope "
                     "figure for figures\n";
        return 2;
    }
    if (options.bench_ui) return runBenchProgram("--bench-ui", argv);
    if (!options.screenshot.empty()) return runBenchProgram("--screenshot", argv);
    QApplication app(argc, argv);
    setUp(app);
    MainWindow window(normscope::widgets::Settings::recordingsFolder(), options.threads,
                      QString::fromStdString(options.backend));
    if (!options.theme.empty()) window.appearance()->orderTheme(options.theme == "dark");
    window.appearance()->setBasic(!normscope::widgets::Settings().full());
    window.show();
    window.state()->start(options.from_start || !options.session.empty());
    const QString session = QString::fromStdString(options.session);
    if (is_remote(options.session))
        window.lab()->recordings().addFrom(session);
    else if (normscope::is_model_folder(options.session))
        window.files()->confirmAndOpen(session);
    else if (!options.session.empty() && std::filesystem::is_directory(options.session))
        window.sweeps()->open(session);
    else if (!options.session.empty())
        window.files()->openSession(session);
    return app.exec();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "normscope: %s\n", error.what());
        return 1;
    }
}
