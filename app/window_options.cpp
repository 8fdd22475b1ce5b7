// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_options.h"

#include "app/lab/remote/place.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/recipe/presets.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>

namespace normscope::app {

namespace {

QSize sizeOf(const std::string& text) {
    int width = 0, height = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 400 || height < 300)
        throw CLI::ValidationError("--size",
                                   "\"" + text + "\" is not understood, allowed: WIDTHxHEIGHT from 400x300");
    return {width, height};
}

void addScreenshot(CLI::App& cli, WindowOptions& options, std::string& size) {
    cli.add_option("--screenshot", options.screenshot,
                   "Save a screenshot of the window to this PNG and quit; comes with the tests' build");
    cli.add_option("--size", size, "Of the window for --screenshot");
    cli.add_option("--train", options.train, "For --screenshot: train so many steps first")
        ->check(CLI::NonNegativeNumber);
    cli.add_option("--after", options.after, "For --screenshot: wait so many seconds more")
        ->check(CLI::NonNegativeNumber);
    cli.add_option("--step", options.step, "For --screenshot: scrub to this step then")
        ->check(CLI::NonNegativeNumber);
    cli.add_flag("--measure", options.measure, "For --screenshot: measure there what was not sampled");
    std::vector<std::string> stories_known;
    for (const Preset& known : stories()) stories_known.emplace_back(known.name);
    cli.add_option("--story", options.story, "For --screenshot: tell this story")
        ->check(CLI::IsMember(stories_known));
    cli.add_option("--story-step", options.story_step, "For --screenshot: of the story, from 1")
        ->check(CLI::PositiveNumber);
    cli.add_flag("--present", options.present, "For --screenshot: in presentation mode");
}

void addBench(CLI::App& cli, WindowOptions& options) {
    cli.add_flag("--bench-ui", options.bench_ui,
                 "Measure the latency of the interface, print it and quit; comes with the tests' build");
    cli.add_flag("--json", options.json, "For --bench-ui: print JSON");
    cli.add_option("--seconds", options.seconds, "For --bench-ui: of each knob")
        ->check(CLI::Range(0.1, 3600.0));
    cli.add_option("--stall", options.stall_ms,
                   "For --bench-ui: the stall of its self-check, ms; 50 must show")
        ->check(CLI::Range(0, 10000));
}

}  // namespace

void addWindowOptions(CLI::App& cli, WindowOptions& options, std::string& size) {
    cli.add_option("session", options.session,
                   "A session, a recording or the folder of a sweep to open; \"ssh://host /path/to/run.h5\": "
                   "a recording on another machine");
    cli.add_flag("--new", options.from_start,
                 "Start with a new comparison instead of that of the last window");
    cli.add_option("--threads", options.threads, "Of the engine; 0 = all cores but one")
        ->check(CLI::NonNegativeNumber);
    cli.add_option(
        "--backend", options.backend,
        "Device of trainings: auto, a word of `normscope-cli devices`, or ssh://host; else the last choice");
    cli.add_option("--theme", options.theme, "light or dark, overrides the session")
        ->check(CLI::IsMember({"light", "dark"}));
    addScreenshot(cli, options, size);
    addBench(cli, options);
}

std::optional<int> readWindowOptions(int argc, char** argv, WindowOptions& options) {
    CLI::App cli{
        "Normscope: a laboratory for transformer training stability\n\n"
        "normscope [SESSION.h5|FOLDER] opens the window; FOLDER is that of a sweep or of a model\n"
        "normscope figure --help       renders one figure without a display\n"
        "normscope preflight --help    a report of a stack at step 0, without a display"};
    std::string size = "1440x900";
    addWindowOptions(cli, options, size);
    try {
        cli.parse(argc, argv);
        if (is_remote(options.backend))
            parse_remote(options.backend);
        else if (!options.backend.empty())
            backend_word(options.backend);
        options.size = sizeOf(size);
    } catch (const CLI::CallForHelp&) {
        std::cout << cli.help();
        return 0;
    } catch (const InputError& error) {
        std::cerr << "normscope: " << error.what() << '\n';
        return 2;
    } catch (const CLI::ParseError& error) {
        std::string line = error.what();
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::cerr << "normscope: " << line << '\n';
        return 2;
    }
    return std::nullopt;
}

}  // namespace normscope::app
