// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/findings/findings.h"
#include "core/session/describe.h"
#include "core/session/session.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>

namespace normscope::app {

namespace {

struct InfoOptions {
    std::string file;
    bool findings = false;
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
};

/// The findings of each run at a step, one sentence per line.
void print_findings(const InfoOptions& options) {
    for (const RunData& run : open_session(options.file).runs) {
        std::cout << "findings of run " << run.id << "\n";
        for (const Finding& finding : findings(run, options.step)) std::cout << "  " << finding.text << "\n";
    }
}

}  // namespace

void add_info(CLI::App& program, Task& task) {
    auto options = std::make_shared<InfoOptions>();
    auto* command = program.add_subcommand("info", "what a session, a recording or another HDF5 file holds");
    command->add_option("FILE", options->file, "an HDF5 file")->required();
    command->add_flag("--findings", options->findings,
                      "the findings of each run, with values, instead of the contents");
    command->add_option("--step", options->step, "of the findings: the newest samples at or before this step")
        ->check(CLI::NonNegativeNumber);
    command->callback([options, &task] {
        task = [options] {
            if (is_hdf5(options->file)) settle(options->file);
            if (options->findings)
                print_findings(*options);
            else
                for (const std::string& line : describe(options->file)) std::cout << line << "\n";
            return kDone;
        };
    });
}

}  // namespace normscope::app
