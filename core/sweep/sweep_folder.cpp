// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_folder.h"

#include "core/base/error.h"
#include "core/run/checkpoints/run_file.h"
#include "core/session/process/file_locks.h"
#include "core/session/replacing_file.h"
#include "core/session/session.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace normscope {

namespace fs = std::filesystem;

namespace {

void make_folder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw SystemError(path + ": cannot be made: " + error.message());
}

/// A folder that is not empty and no sweep's is not used.
void require_usable(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    if (!fs::is_directory(path, error)) throw InputError(path, "is no folder", "a new folder or a sweep's");
    if (fs::exists(path + "/sweep.json", error)) return;
    for (const auto& entry : fs::directory_iterator(path, error))
        // The lock and an unfinished sweep.json are of a process that was killed at its start.
        if (const std::string name = entry.path().filename().string();
            name != ".sweep.lock" && name.rfind("sweep.json.", 0) != 0)
            throw InputError(path, "holds " + name + ", but no sweep.json", "a new folder or a sweep's");
}

}  // namespace

bool is_result(RunState state) {
    return state == RunState::Finished || state == RunState::Stalled || state == RunState::Collapsed ||
           state == RunState::Diverged;
}

std::optional<std::string> text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    if (in.bad()) return std::nullopt;
    return text.str();
}

void replace_text_file(const std::string& path, const std::string& text) {
    ReplacingFile place(path);
    std::ofstream out(place.temporary(), std::ios::binary);
    out << text;
    out.close();
    if (!out) throw SystemError(path + ": cannot be written: " + std::strerror(errno));
    place.commit();
}

SweepSpec read_sweep_spec(const std::string& folder) {
    const std::string path = folder + "/sweep.json";
    const auto text = text_of_file(path);
    if (!text) throw InputError(folder, "holds no sweep.json", "a sweep's folder");
    return parse_sweep(*text, path);
}

SweepFolder::SweepFolder(std::string path, const SweepSpec& spec) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    require_usable(path_);
    make_folder(path_);
    lock();
    try {
        const std::string file = path_ + "/sweep.json";
        if (const auto text = text_of_file(file)) {
            const std::string difference = sweep_difference(parse_sweep(*text, file), spec);
            if (!difference.empty())
                throw InputError(path_ + ": " + difference, "the folder is another sweep's",
                                 "the same sweep, or a new folder");
        } else {
            replace_text_file(file, sweep_json(spec));
        }
        make_folder(path_ + "/runs");
    } catch (...) {
        ::close(lock_);
        throw;
    }
}

SweepFolder::~SweepFolder() {
    ::close(lock_);
}

void SweepFolder::lock() {
    // The kernel releases it with the process, however that ends.
    const std::string file = path_ + "/.sweep.lock";
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) throw SystemError(file + ": cannot be opened: " + std::strerror(errno));
    locked_ = ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
    if (locked_ || is_without_locks(errno)) return;
    const int reason = errno;
    ::close(lock_);
    if (reason == EWOULDBLOCK)
        throw InputError(path_, "is in use by another sweep",
                         "a folder of its own for each process; --merge puts shards together");
    throw SystemError(file + ": cannot be locked: " + std::strerror(reason));
}

std::optional<SweepRow> SweepFolder::ended(const SweepRun& run, const Recipe& recipe,
                                           bool keeps_weights) const {
    const std::string file = recording(run);
    if (!is_recorded(file)) return std::nullopt;
    Session session;
    try {
        session = open_session(file);
    } catch (const InputError&) {
        return std::nullopt;  // damaged; train_recorded() reports why
    }
    if (session.runs.size() != 1) return std::nullopt;
    const RunData& recorded = session.runs.front();
    require_same_recipe(recorded.recipe, recipe, file,
                        "this run's own recording, or none: it is trained again");
    const RunState state = recorded.outcome.state;
    if (state == RunState::Running || state == RunState::Paused)
        throw InputError(file, "is being recorded by another process", "a folder of its own for each");
    if (!is_result(state)) return std::nullopt;
    CheckpointPair live(file);
    if (!live.paths().empty()) {  // killed after the last step, before the session was complete
        if (!session.checkpoints.empty())
            live.remove();
        else if (keeps_weights)
            return std::nullopt;
        else
            save_as_session(file, "", std::nullopt);
    }
    return sweep_row(run, recorded);
}

bool SweepFolder::write_results(const std::string& csv) const {
    const std::string file = path_ + "/results.csv";
    if (text_of_file(file) == csv) return false;
    replace_text_file(file, csv);
    return true;
}

}  // namespace normscope
