// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/session/session.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

/// "a", "b", …, "z", then "run27", …: the run ids of a session.
std::string run_id(std::size_t index) {
    return index < 26 ? std::string(1, static_cast<char>('a' + index)) : "run" + std::to_string(index + 1);
}

/// Legends distinguish runs by name: the second run named Pre-LN becomes "Pre-LN (2)".
void make_distinct(std::string& name, const std::vector<RunData>& others) {
    const auto taken = [&](const std::string& wanted) {
        return std::any_of(others.begin(), others.end(),
                           [&](const RunData& run) { return run.name == wanted; });
    };
    if (!taken(name)) return;
    int number = 2;
    while (taken(name + " (" + std::to_string(number) + ")")) ++number;
    name += " (" + std::to_string(number) + ")";
}

int gather(const std::vector<std::string>& files, const std::string& out) {
    const FileIdentity before = require_writable(out, files);
    std::vector<RunData> runs;
    std::vector<CheckpointSource> checkpoints;
    for (const std::string& file : files) {
        Session session = open_session(file);
        for (RunData& run : session.runs) {
            const std::string id = run_id(runs.size());
            for (const EmbeddedCheckpoint& checkpoint : session.checkpoints)
                if (checkpoint.run_id == run.id) checkpoints.push_back({id, checkpoint});
            run.id = id;
            make_distinct(run.name, runs);
            runs.push_back(std::move(run));
        }
    }
    save_session(out, runs, "", checkpoints, before);
    std::cout << runs.size() << " runs -> " << out << "\n";
    return kDone;
}

}  // namespace

void add_gather(CLI::App& program, Task& task) {
    struct Options {
        std::vector<std::string> files;
        std::string out;
    };
    auto options = std::make_shared<Options>();
    auto* command =
        program.add_subcommand("gather", "puts the runs of several sessions or recordings into one session");
    command->add_option("FILES", options->files, "sessions or recordings")->required();
    command->add_option("--out", options->out, "the session to write")->required();
    command->callback(
        [options, &task] { task = [options] { return gather(options->files, options->out); }; });
}

}  // namespace normscope::app
