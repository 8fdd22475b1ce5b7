// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/healthy_runs.h"

#include "core/base/error.h"
#include "core/session/session.h"

#include <algorithm>
#include <filesystem>

namespace normscope {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> inside;
        for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
            const std::string name = entry.path().filename().string();
            const bool checkpoint = name.find(".ckpt.") != std::string::npos;
            if (entry.is_regular_file(error) && entry.path().extension() == ".h5" && !checkpoint)
                inside.push_back(entry.path().string());
        }
        if (inside.empty()) throw InputError(path, "holds no recording", "a folder with .h5 files");
        std::sort(inside.begin(), inside.end());
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

}  // namespace

std::vector<NamedRun> runs_of_files(const std::vector<std::string>& paths) {
    std::vector<NamedRun> runs;
    for (const std::string& file : files_of(paths)) {
        Session session = open_session(file);
        const bool several = session.runs.size() > 1;
        for (RunData& run : session.runs) {
            std::string where = several ? file + " " + run.id : file;
            runs.push_back({std::move(where), std::move(run)});
        }
    }
    return runs;
}

std::vector<RunData> healthy_runs(const std::vector<std::string>& paths) {
    std::vector<RunData> healthy;
    for (NamedRun& named : runs_of_files(paths)) {
        if (named.run.outcome.state != RunState::Finished)
            throw InputError(named.where, std::string("is ") + run_state_word(named.run.outcome.state),
                             "healthy runs that finished");
        healthy.push_back(std::move(named.run));
    }
    return healthy;
}

}  // namespace normscope
