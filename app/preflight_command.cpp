// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/preflight_command.h"

#include "app/cli/pages/options_table.h"
#include "core/backend/cpu/host/default_threads.h"
#include "core/base/error.h"
#include "core/preflight/preflight.h"
#include "core/preflight/report_ending.h"
#include "widgets/figures/save_bytes.h"
#include "widgets/report/preflight_html.h"
#include "widgets/report/preflight_page.h"

#include <CLI/CLI.hpp>

#include <QString>
#include <algorithm>
#include <iostream>
#include <memory>
#include <new>

namespace normscope::app {

namespace {

struct PreflightArguments {
    std::string recipe = "pre-ln", out;
    std::vector<std::string> settings;
    int threads = 0;
};

void write(const PreflightArguments& given) {
    const ReportFormat format = report_format(given.out);
    set_default_threads(given.threads);
    ThreadPool pool(given.threads);
    const Preflight result = preflight(read_recipe(given.recipe, given.settings), pool);
    widgets::saveBytes(QString::fromStdString(given.out), format == ReportFormat::Pdf
                                                              ? widgets::preflightPdf(result)
                                                              : widgets::preflightHtml(result));
    std::cout << given.out << ": pre-flight of " << result.run.name << ", seed " << result.run.seed << '\n';
}

std::unique_ptr<CLI::App> preflightCommandLine(PreflightArguments& given) {
    auto app = std::make_unique<CLI::App>(
        "What theory and one measurement at step 0 give for a stack: a page, no training",
        "normscope preflight");
    app->add_option("recipe", given.recipe, "A recipe or a preset's name")->capture_default_str();
    app->add_option("--set", given.settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app->add_option("--out", given.out, "The file to write: .pdf or .html")->required();
    app->add_option("--threads", given.threads, "0 = all cores")->check(CLI::Range(0, 1024));
    return app;
}

int print_error(std::string line, int code) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cerr << "normscope preflight: " << line << '\n';
    return code;
}

}  // namespace

std::string preflightOptions() {
    PreflightArguments none;
    return options_table(*preflightCommandLine(none));
}

int runPreflightCommand(int argc, char** argv) {
    PreflightArguments given;
    const auto app = preflightCommandLine(given);
    try {
        app->parse(argc, argv);
        write(given);
        return 0;
    } catch (const CLI::CallForHelp&) {
        std::cout << app->help();
        return 0;
    } catch (const CLI::ParseError& error) {
        return print_error(error.what(), 2);
    } catch (const InputError& error) {
        return print_error(error.what(), 2);
    } catch (const std::bad_alloc&) {
        return print_error("out of memory", 1);
    } catch (const std::exception& error) {
        return print_error(error.what(), 1);
    }
}

}  // namespace normscope::app
