// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged sessions and recordings: whatever the file, `info`, `validate`, `export` and the window open it or
// say in one line why not; none crashes, none hangs.
//
//   fuzz_sessions commands|window COUNT SEED [FOLDER [FIRST]]
//
// A number and a seed always give the same file. Files that fail are kept in FOLDER; without one nothing is
// kept.
#include "app/cli/command.h"
#include "app/lab/lab.h"
#include "app/window/files/files_controller.h"
#include "app/window/main_window.h"
#include "core/base/error.h"
#include "core/session/checkpoint.h"
#include "core/session/hdf5.h"
#include "core/session/process/guard.h"
#include "core/session/session.h"
#include "tests/fuzz/damage.h"
#include "tests/fuzz/forked.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace fs = std::filesystem;
using namespace normscope;

namespace {

std::vector<std::string> complaints;

}  // namespace

void app::print_error(const std::string& message) {
    complaints.push_back(message);
}

namespace {

// --- the sound files

void train(const std::string& out, const std::string& more) {
    const std::string command =
        std::string(NORMSCOPE_CLI) + " train " + more +
        " --set stack.depth=2 --set stack.d_model=16 --set stack.heads=2 --set stack.context=8"
        " --set batch=2 --threads 1 --out " +
        out + " > /dev/null 2>&1";
    const int code = std::system(command.c_str());
    if (code != 0 && WEXITSTATUS(code) != app::kDiverged)
        throw std::runtime_error("cannot train: " + command);
}

/// The same content in HDF5's earliest format, which has no checksums: damage reaches the library's inner
/// workings.
void write_in_earliest_format(const std::string& from, const std::string& to) {
    const hdf5::Handle source(H5Fopen(from.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hdf5::Handle target(H5Fcreate(to.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hdf5::write_attribute(target, "format", std::string("normscope-session"));
    hdf5::write_attribute(target, "version", std::int64_t{1});
    hdf5::write_attribute(target, "app_version", std::string("0.0"));
    hdf5::write_attribute(target, "created", std::string("2026-01-01T00:00:00Z"));
    H5Ocopy(source, "runs", target, "runs", H5P_DEFAULT, H5P_DEFAULT);
    if (H5Lexists(source, "view", H5P_DEFAULT) > 0)
        H5Ocopy(source, "view", target, "view", H5P_DEFAULT, H5P_DEFAULT);
}

std::vector<std::string> sound_files(const std::string& folder) {
    const std::string pre = folder + "/pre.h5", half = folder + "/fp16.h5", gates = folder + "/gates.h5",
                      lost = folder + "/diverged.h5", session = folder + "/session.h5",
                      old = folder + "/earliest.h5", old_run = folder + "/earliest-recording.h5";
    train(pre, "pre-ln --steps 6");
    train(half, "post-ln --steps 4 --set precision=fp16");
    train(gates, "peri-ln --steps 4 --set stack.gpas.enabled=true --set precision=bf16");
    train(lost, "no-norm --steps 60 --set optimizer.lr=3");
    std::vector<RunData> runs;
    std::vector<CheckpointSource> checkpoints;
    for (const std::string& path : {pre, half, lost}) {
        Session opened = open_session(path);
        opened.runs.at(0).id = std::string(1, static_cast<char>('a' + runs.size()));
        for (const char* end : {"a", "b"}) {
            const std::string live = fs::path(path).replace_extension().string() + ".ckpt." + end + ".h5";
            if (fs::exists(live)) checkpoints.push_back({opened.runs.at(0).id, live});
        }
        runs.push_back(std::move(opened.runs.at(0)));
    }
    save_session(
        session, runs, "{}",
        {checkpoints.begin(), checkpoints.begin() + std::min<std::ptrdiff_t>(1, std::ssize(checkpoints))});
    write_in_earliest_format(session, old);
    write_in_earliest_format(gates, old_run);
    return {pre, half, gates, lost, session, session, old, old_run};
}

// --- what is done with a damaged file

std::string command(void (*add)(CLI::App&, app::Task&), std::vector<std::string> arguments,
                    const std::string& about, int& code) {
    complaints.clear();
    std::ostringstream out;
    std::streambuf* before = std::cout.rdbuf(out.rdbuf());
    std::string wrong;
    code = app::kDone;
    try {
        CLI::App program;
        app::Task task;
        add(program, task);
        std::reverse(arguments.begin(), arguments.end());
        program.parse(arguments);
        code = task();
    } catch (const InputError& error) {
        complaints.emplace_back(error.what());
        code = app::kWrongInput;
    } catch (const SystemError& error) {
        complaints.emplace_back(error.what());
        code = app::kFailed;
    } catch (const std::exception& error) {
        wrong = std::string("an error without a subject: ") + error.what();
    }
    std::cout.rdbuf(before);
    if (!wrong.empty()) return wrong;
    if (code != app::kDone && complaints.empty())
        return "exit code " + std::to_string(code) + " without a word";
    if (code == app::kDone && !complaints.empty()) return "done, and complains";
    for (const std::string& line : complaints) {
        if (line.empty() || line.find('\n') != std::string::npos) return "not one line: " + line;
        if (line.find(about) == std::string::npos && line.rfind("run ", 0) != 0)
            return "names no file: " + line;
    }
    return {};
}

std::string through_commands(const std::string& file, std::map<std::string, int>& counts) {
    const std::string out = file + ".safetensors", about = fs::path(file).stem().string();
    const std::pair<const char*, void (*)(CLI::App&, app::Task&)> all[] = {
        {"info", app::add_info}, {"validate", app::add_validate}, {"export", app::add_export}};
    for (const auto& [name, add] : all) {
        std::vector<std::string> arguments{name, file};
        if (add == app::add_export) {
            arguments.insert(arguments.end(), {"--out", out});
            if (fs::path(file).filename().string().rfind("s", 0) == 0)
                arguments.insert(arguments.end(), {"--run", "a"});
        }
        int code = 0;
        const std::string wrong = command(add, arguments, about, code);
        if (!wrong.empty()) return std::string(name) + ": " + wrong;
        ++counts[std::string(name) + (code == app::kDone ? " done" : " rejected")];
    }
    return {};
}

/// The window, reused from file to file; created in the child process.
class Window {
  public:
    Window() : application_(count_, arguments_) {
        QCoreApplication::setOrganizationName(QStringLiteral("Normscope"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
        window_ = std::make_unique<app::MainWindow>(folder_.filePath(QStringLiteral("recordings")), 1);
        QObject::connect(window_->lab(), &app::Lab::problem,
                         [this](const QString& line) { printed_ << line; });
        QObject::connect(&window_->lab()->session(), &app::LabSession::opened, [this] { opened_ = true; });
        window_->resize(1200, 800);
        window_->show();
        turn(300);
    }

    std::string open(const std::string& file, std::map<std::string, int>& counts) {
        printed_.clear();
        opened_ = false;
        window_->files()->openSession(QString::fromStdString(file));
        QElapsedTimer clock;
        clock.start();
        while (!opened_ && printed_.isEmpty() && clock.elapsed() < 30'000) turn(1);
        if (!opened_ && printed_.isEmpty()) return "the window does not respond for 30 s";
        turn(opened_ ? 30 : 1);  // its figures
        ++counts[opened_ ? "window opened" : "window rejected"];
        for (const QString& line : printed_)
            if (line.isEmpty() || line.contains(u'\n')) return "not one line: " + line.toStdString();
        return {};
    }

  private:
    void turn(int ms) {
        QElapsedTimer clock;
        clock.start();
        do QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        while (clock.elapsed() < ms);
    }

    int count_ = 1;
    char name_[10] = "normscope", *arguments_[2] = {name_, nullptr};
    QApplication application_;
    QTemporaryDir folder_;
    std::unique_ptr<app::MainWindow> window_;
    QStringList printed_;
    bool opened_ = false;
};

int run(const std::string& mode, int count, std::uint64_t seed, const std::string& keep, int first) {
    const std::string folder = fs::temp_directory_path() / ("normscope-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    // In a child, so that this process keeps no thread and no open file of the library.
    const auto made = fuzz::run_forked(0, 1, 600, [&] {
        return [&](int) {
            sound_files(folder);
            return std::string();
        };
    });
    if (!made.failures.empty()) {
        std::cerr << "no sound files: " << made.failures.front().what << "\n";
        return 1;
    }
    std::vector<std::string> sound;
    for (const char* name :
         {"pre", "fp16", "gates", "diverged", "session", "session", "earliest", "earliest-recording"})
        sound.push_back(folder + "/" + name + ".h5");
    const std::string file = folder + "/damaged.h5", tally = folder + "/tally";
    const auto outcome = fuzz::run_forked(first, first + count, 90, [&] {
        guard_foreign_files(NORMSCOPE_WALK);
        auto window = mode == "window" ? std::make_shared<Window>() : nullptr;
        return [&, window](int number) {
            const std::string what =
                fuzz::damaged_copy(sound, file, static_cast<std::uint64_t>(number), seed);
            std::map<std::string, int> counts;
            const std::string wrong = window ? window->open(file, counts) : through_commands(file, counts);
            std::ofstream to(tally, std::ios::app);
            for (const auto& [key, n] : counts) to << key << "\n";
            return wrong.empty() ? wrong : wrong + " (" + what + ")";
        };
    });
    std::map<std::string, int> counts;
    std::ifstream in(tally);
    for (std::string line; std::getline(in, line);) ++counts[line];
    std::cout << mode << ": " << outcome.tried << " files, seed " << seed << ", " << outcome.failures.size()
              << " failures";
    for (const auto& [key, n] : counts) std::cout << ", " << key << " " << n;
    std::cout << "\n";
    for (const fuzz::Failure& failure : outcome.failures) {
        const std::string what =
            fuzz::damaged_copy(sound, file, static_cast<std::uint64_t>(failure.number), seed);
        std::cout << "  " << failure.number << ": " << failure.what << " [" << what << "]\n";
        if (keep.empty()) continue;
        fs::create_directories(keep);
        fs::copy_file(file, keep + "/" + mode + "-" + std::to_string(failure.number) + ".h5",
                      fs::copy_options::overwrite_existing);
    }
    fs::remove_all(folder);
    return outcome.failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::cerr << "fuzz_sessions commands|window COUNT SEED [FOLDER [FIRST]]\n";
        return 2;
    }
    return run(argv[1], std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10), argc > 4 ? argv[4] : "",
               argc > 5 ? std::atoi(argv[5]) : 0);
}
