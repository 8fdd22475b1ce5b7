// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bench/bench_ui.h"
#include "app/bench/measured_application.h"
#include "app/figure_command.h"
#include "app/preflight_command.h"
#include "app/screenshot.h"
#include "app/window/main_window.h"
#include "app/window/sweep_controller.h"
#include "core/backend/cpu/kept_memory.h"
#include "core/backend/devices.h"
#include "core/base/error.h"
#include "core/recipe/presets.h"
#include "core/session/process/guard.h"
#include "widgets/common/settings.h"
#include "widgets/plots/theme.h"

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <QApplication>
#include <QDir>
#include <QHashFunctions>
#include <QStyleFactory>
#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace {

using namespace normscope::app;

bool hasDisplay() {
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    return set("DISPLAY") || set("WAYLAND_DISPLAY") || set("QT_QPA_PLATFORM");
}

/// Qt falls back to the same folder, with a warning, where XDG_RUNTIME_DIR is not set (a container, a build
/// server).
void ensureRuntimeFolder() {
    if (!qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR")) return;
    const QByteArray folder =
        QDir::temp().filePath(QStringLiteral("runtime-normscope-%1").arg(getuid())).toLocal8Bit();
    mkdir(folder.constData(), 0700);  // Qt warns if this fails
    qputenv("XDG_RUNTIME_DIR", folder);
}

/// An archive of packaging/bundle contains fonts; an installed program does not.
void useFontsOfTheArchive() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    const auto fonts = program.parent_path().parent_path() / "share/normscope/fonts.conf";
    if (std::filesystem::exists(fonts, none)) setenv("FONTCONFIG_FILE", fonts.c_str(), 0);
}

void setUp(QApplication& app) {
    QFont font = app.font();
    font.setFamily(normscope::widgets::typeFace(font.family()));
    app.setFont(font);
    std::setlocale(LC_NUMERIC,
                   "C");  // numbers in files and figures have a point, whatever the desktop's language
    app.setOrganizationName(QStringLiteral("Normscope"));
    app.setApplicationName(QStringLiteral("Normscope"));
    app.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
}

/// `normscope --bench-ui`: 0, or 1 where the measurement does not show the stall, or cannot be made.
int benchUi(bench::MeasuredApplication& app, const bench::BenchOrder& order, bool json) {
    try {
        const bench::BenchResult result = bench::benchInterface(app, order);
        std::cout << (json ? asJson(result) : asText(result));
        if (stallSeen(result.check)) return 0;
        std::cerr << "normscope: --bench-ui: the measurement is wrong: a stall of 50 ms does not show\n";
    } catch (const std::exception& error) {
        std::cerr << "normscope: " << error.what() << '\n';
    }
    return 1;
}

QSize sizeOf(const std::string& text) {
    int width = 0, height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 400 || height < 300)
        throw CLI::ValidationError("--size",
                                   "\"" + text + "\" is not understood, allowed: WIDTHxHEIGHT from 400x300");
    return {width, height};
}

}  // namespace

int main(int argc, char** argv) {
    normscope::keep_freed_memory();
    QHashSeed::setDeterministicGlobalSeed();  // a PDF's objects are in the order of a hash table
    ensureRuntimeFolder();
    useFontsOfTheArchive();
    normscope::guard_foreign_files(normscope::installed_walker());
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

    std::string session, screenshot, size = "1440x900", theme, backend;
    int train = 0, threads = 0;
    double after = 0;
    CLI::App cli{
        "Normscope: a laboratory for transformer training stability\n\n"
        "normscope [SESSION.h5|SWEEP]  opens the window; SWEEP is the folder of a sweep\n"
        "normscope figure --help       renders one figure without a display\n"
        "normscope preflight --help    a report of a stack at step 0, without a display"};
    cli.add_option("session", session, "A session, a recording or the folder of a sweep to open");
    bool afresh = false;
    cli.add_flag("--new", afresh, "Start with a new comparison instead of that of the last window");
    cli.add_option("--threads", threads, "Of the engine; 0 = all cores but one")
        ->check(CLI::NonNegativeNumber);
    cli.add_option("--backend", backend,
                   "Device of trainings: auto, or a word of `normscope-cli devices`; else the last choice");
    cli.add_option("--screenshot", screenshot, "Save a screenshot of the window to this PNG and quit");
    cli.add_option("--size", size, "Of the window for --screenshot");
    cli.add_option("--theme", theme, "light or dark, overrides the session")
        ->check(CLI::IsMember({"light", "dark"}));
    cli.add_option("--train", train, "For --screenshot: train so many steps first")
        ->check(CLI::NonNegativeNumber);
    cli.add_option("--after", after, "For --screenshot: wait so many seconds more")
        ->check(CLI::NonNegativeNumber);
    qint64 step = -1;
    bool measure = false;
    cli.add_option("--step", step, "For --screenshot: scrub to this step then")
        ->check(CLI::NonNegativeNumber);
    bool bench_ui = false, json = false;
    bench::BenchOrder bench;
    cli.add_flag("--bench-ui", bench_ui, "Measure the latency of the interface, print it and quit");
    cli.add_flag("--json", json, "For --bench-ui: print JSON");
    cli.add_option("--seconds", bench.seconds, "For --bench-ui: of each knob")
        ->check(CLI::Range(0.1, 3600.0));
    cli.add_option("--stall", bench.stall_ms, "For --bench-ui: the stall of its self-check, ms; 50 must show")
        ->check(CLI::Range(0, 10000));
    cli.add_flag("--measure", measure, "For --screenshot: measure there what was not sampled");
    std::string story;
    int story_step = 1;
    bool present = false;
    std::vector<std::string> story_names;
    for (const normscope::Preset& known : normscope::stories()) story_names.emplace_back(known.name);
    cli.add_option("--story", story, "For --screenshot: tell this story")->check(CLI::IsMember(story_names));
    cli.add_option("--story-step", story_step, "For --screenshot: of the story, from 1")
        ->check(CLI::PositiveNumber);
    cli.add_flag("--present", present, "For --screenshot: in presentation mode");
    ScreenshotOrder order;
    try {
        cli.parse(argc, argv);
        if (!backend.empty()) normscope::backend_word(backend);
        order = {QString::fromStdString(screenshot),
                 QString::fromStdString(session),
                 sizeOf(size),
                 train,
                 after,
                 step,
                 measure,
                 QString::fromStdString(story),
                 story_step,
                 present};
    } catch (const CLI::CallForHelp&) {
        std::cout << cli.help();
        return 0;
    } catch (const normscope::InputError& error) {
        std::cerr << "normscope: " << error.what() << '\n';
        return 2;
    } catch (const CLI::ParseError& error) {
        std::string line = error.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::cerr << "normscope: " << line << '\n';
        return 2;
    }
    if (!hasDisplay()) {
        std::cerr << "normscope: no display (DISPLAY and WAYLAND_DISPLAY are not set); use normscope-cli, or "
                     "normscope "
                     "figure for figures\n";
        return 2;
    }
    if (!screenshot.empty() && backend.empty())
        backend = "auto";  // independent of the settings, as the theme
    if (bench_ui) {
        bench::MeasuredApplication app(argc, argv);
        setUp(app);
        bench.threads = threads;
        bench.session = QString::fromStdString(session);
        return benchUi(app, bench, json);
    }
    QApplication app(argc, argv);
    setUp(app);
    MainWindow window(Settings::recordingsFolder(), threads, QString::fromStdString(backend));
    if (!theme.empty())
        window.orderTheme(theme == "dark");
    else if (!screenshot.empty())
        window.setDark(false);  // a screenshot does not depend on the settings
    window.show();
    if (screenshot.empty()) {
        window.start(afresh || !session.empty());
        if (!session.empty() && std::filesystem::is_directory(session))
            window.sweeps()->open(QString::fromStdString(session));
        else if (!session.empty())
            window.openSession(QString::fromStdString(session));
    } else {
        takeScreenshot(window, order);
    }
    return app.exec();
}
