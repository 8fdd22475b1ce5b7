// SPDX-License-Identifier: GPL-3.0-or-later
// `normscope-bench-ui`: measures the window, or takes a screenshot of it. `normscope --bench-ui` and
// `normscope --screenshot` run it with their own arguments.
#include "app/process.h"
#include "app/window/appearance_controller.h"
#include "app/window/main_window.h"
#include "app/window_options.h"
#include "tests/bench/ui/bench_ui.h"
#include "tests/bench/ui/measured_application.h"
#include "tests/bench/ui/screenshot.h"
#include "widgets/common/settings.h"

#include <iostream>

namespace {

using namespace normscope::app;

/// 0, or 1 where the measurement does not show the stall, or cannot be made.
int measure(int argc, char** argv, const WindowOptions& options) {
    bench::MeasuredApplication app(argc, argv);
    setUp(app);
    try {
        const bench::BenchResult result = bench::benchInterface(
            app, {options.seconds, options.stall_ms, options.threads, QString::fromStdString(options.session),
                  options.backend.empty() ? QStringLiteral("cpu") : QString::fromStdString(options.backend)});
        std::cout << (options.json ? asJson(result) : asText(result));
        if (stallSeen(result.check)) return 0;
        std::cerr << "normscope: --bench-ui: the measurement is wrong: a stall of 50 ms does not show\n";
    } catch (const std::exception& error) {
        std::cerr << "normscope: " << error.what() << '\n';
    }
    return 1;
}

int screenshot(int argc, char** argv, const WindowOptions& options) {
    QApplication app(argc, argv);
    setUp(app);
    // A screenshot does not depend on the settings: neither its device nor its theme.
    MainWindow window(
        normscope::widgets::Settings::recordingsFolder(), options.threads,
        options.backend.empty() ? QStringLiteral("auto") : QString::fromStdString(options.backend));
    if (options.theme.empty())
        window.appearance()->setDark(false);
    else
        window.appearance()->orderTheme(options.theme == "dark");
    window.show();
    takeScreenshot(window, options);
    return app.exec();
}

}  // namespace

int main(int argc, char** argv) {
    prepareProcess();
    WindowOptions options;
    if (const auto ended = readWindowOptions(argc, argv, options)) return *ended;
    if (options.screenshot.empty() && !options.bench_ui) {
        std::cerr << "normscope-bench-ui: nothing to do, allowed: --bench-ui, --screenshot OUT.png\n";
        return 2;
    }
    return options.bench_ui ? measure(argc, argv, options) : screenshot(argc, argv, options);
}
