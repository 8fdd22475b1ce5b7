// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/process/guard.h"

#include "core/base/error.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace normscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Identifies a version of a file. Includes ctime, which a program cannot set, unlike mtime.
using State = std::array<std::int64_t, 7>;

struct Guard {
    std::mutex mutex;
    std::string walker;  ///< empty: no guard
    std::chrono::milliseconds patience{};
    std::set<std::pair<State, std::string>> in_order;  ///< with the part, empty: the whole
};

Guard& guard() {
    static Guard only;
    return only;
}

bool state_of(const std::string& path, State& state) {
    struct stat s {};
    if (::stat(path.c_str(), &s) != 0) return false;
    state = {static_cast<std::int64_t>(s.st_dev),
             static_cast<std::int64_t>(s.st_ino),
             s.st_size,
             s.st_mtim.tv_sec,
             s.st_mtim.tv_nsec,
             s.st_ctim.tv_sec,
             s.st_ctim.tv_nsec};
    return true;
}

void remember(const State& state, const std::string& part) {
    constexpr std::size_t most = 4096;
    Guard& g = guard();
    const std::lock_guard lock(g.mutex);
    if (g.in_order.size() >= most) g.in_order.clear();
    g.in_order.emplace(state, part);
}

/// The walker as a child process that writes its steps and one line.
class Child {
  public:
    static constexpr std::size_t kMaxText = std::size_t{1} << 20;

    /// Of the child: without the threads of libraries that it does not use, which take longer than most
    /// walks.
    static std::vector<char*> environment() {
        static char alone[] = "OPENBLAS_NUM_THREADS=1";
        std::vector<char*> variables;
        for (char** at = environ; *at; ++at)
            if (std::strncmp(*at, alone, sizeof "OPENBLAS_NUM_THREADS" - 1) != 0) variables.push_back(*at);
        variables.push_back(alone);
        variables.push_back(nullptr);
        return variables;
    }

    Child(const std::string& walker, const std::string& path, const std::string& part) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) fail(walker, errno);
        from_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                         0);  // messages of the C library
        // Mainly open recordings: the child would hold their locks.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        // Signals that a terminal or a scheduler sends to the whole group are the parent's: it ends its
        // child.
        sigset_t of_parent, all;
        sigemptyset(&of_parent);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU})
            sigaddset(&of_parent, number);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &of_parent);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        char* arguments[] = {const_cast<char*>(walker.c_str()), const_cast<char*>(path.c_str()),
                             part.empty() ? nullptr : const_cast<char*>(part.c_str()), nullptr};
        const std::vector<char*> variables = environment();
        const int error =
            ::posix_spawn(&pid_, walker.c_str(), &actions, &attributes, arguments, variables.data());
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (error != 0) {
            ::close(from_);
            fail(walker, error);
        }
    }
    ~Child() {
        ::close(from_);
        if (pid_ > 0) end();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    enum class Got { Text, End, Nothing };
    /// Appends what the child has written next; Nothing when the time runs out before.
    Got read(std::string& text, Clock::time_point deadline) const {
        char buffer[512];
        for (;;) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
            pollfd wait{from_, POLLIN, 0};
            const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
            if (ready < 0 && errno == EINTR) continue;
            if (ready <= 0) return Got::Nothing;
            const ssize_t got = ::read(from_, buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return Got::End;
            if (text.size() < kMaxText) text.append(buffer, static_cast<std::size_t>(got));
            return Got::Text;
        }
    }

    void end() {
        ::kill(pid_, SIGKILL);
        status();
    }
    /// The status of waitpid; −1 where the child was reaped elsewhere.
    int status() {
        int status = -1;
        while (::waitpid(pid_, &status, 0) < 0)
            if (errno != EINTR) {
                status = -1;
                break;
            }
        pid_ = 0;
        return status;
    }

  private:
    [[noreturn]] static void fail(const std::string& walker, int error) {
        throw SystemError(walker + ": cannot be started to check a file: " + std::strerror(error));
    }

    int from_ = -1;
    pid_t pid_ = 0;
};

}  // namespace

void guard_foreign_files(const std::string& walker, std::chrono::milliseconds patience) {
    Guard& g = guard();
    const std::lock_guard lock(g.mutex);
    g.walker = walker;
    g.patience = patience;
    g.in_order.clear();
}

bool guards_foreign_files() {
    Guard& g = guard();
    const std::lock_guard lock(g.mutex);
    return !g.walker.empty();
}

std::string installed_walker() {
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    const fs::path sibling = folder / "normscope-walk", above = folder.parent_path() / "normscope-walk";
    return fs::exists(sibling, error) || !fs::exists(above, error) ? sibling.string() : above.string();
}

namespace {
const std::string outline_word = "outline:";
}

std::string outline_part(const std::vector<std::string>& probes) {
    std::string part = outline_word;
    for (const auto& probe : probes) part += probe + ",";
    return part;
}

std::string shared_part(const std::string& part, const WalkShare& share) {
    return part + std::to_string(share.index) + '/' + std::to_string(share.among);
}

std::optional<OutlinePart> outline_of(const std::string& part) {
    if (!part.starts_with(outline_word)) return std::nullopt;
    OutlinePart outline;
    std::size_t at = outline_word.size();
    for (std::size_t end; (end = part.find(',', at)) != std::string::npos; at = end + 1)
        outline.probes.push_back(part.substr(at, end - at));
    if (at == part.size()) return outline;
    WalkShare& share = outline.share;
    if (std::sscanf(part.c_str() + at, "%zu/%zu", &share.index, &share.among) != 2 ||
        share.index >= share.among)
        return std::nullopt;
    return outline;
}

struct WalkAhead::Checked {
    State state{};
    std::string part;
};

struct WalkAhead::Walking {
    std::string path;
    std::chrono::milliseconds patience;
    Clock::time_point deadline;
    Child child;
    std::string written;    ///< by the walker, without the steps that were taken
    std::size_t ahead = 0;  ///< steps that it has ended and the reader has not begun
    bool ended = false;     ///< it has closed its end
    bool in_order = false;  ///< its end was judged

    Walking(const std::string& walker, std::string of, const std::string& part,
            std::chrono::milliseconds most)
        : path(std::move(of)), patience(most), deadline(Clock::now() + most), child(walker, path, part) {}

    /// Returns when it has ended a further step, the last of which is ended by its last line.
    void next() {
        // The walker met the end, or an error at which the reader ends too.
        if (in_order) throw InputError(path, "changed while it was checked", kAllowed);
        while (ahead == 0 && !ended) read();
        if (ahead > 0)
            --ahead;
        else
            require_order();
    }
    void finish() {
        while (!ended) read();
        require_order();
    }

    void read() {
        switch (child.read(written, deadline)) {
            case Child::Got::Nothing:
                child.end();
                throw InputError(path,
                                 "the HDF5 library does not come to an end with it within " +
                                     std::to_string(patience.count()) + " ms",
                                 kAllowed);
            case Child::Got::End:
                ended = true;
                break;
            case Child::Got::Text:
                break;
        }
        const std::size_t steps = std::min(written.find_first_not_of(walked_step), written.size());
        ahead += steps;
        written.erase(0, steps);
    }
    /// Throws unless the walker came to its end with the file in order.
    void require_order() {
        if (std::exchange(in_order, true)) return;
        const int status = child.status();
        if (written == "walked\n") return;
        if (written.starts_with("rejected: ") && written.ends_with('\n'))
            throw InputError(path + ": " + written.substr(10, written.size() - 11));
        throw InputError(
            path,
            "damaged so that it makes the HDF5 library crash" +
                (status >= 0 && WIFSIGNALED(status) ? " (" + std::string(::strsignal(WTERMSIG(status))) + ")"
                                                    : std::string()),
            kAllowed);
    }
    static constexpr const char* kAllowed = "a file that can be walked from end to end";
};

WalkAhead::WalkAhead(const std::string& path, const std::string& part, std::size_t walkers) {
    std::string walker;
    std::chrono::milliseconds patience{};
    State state{};
    {
        Guard& g = guard();
        const std::lock_guard lock(g.mutex);
        if (g.walker.empty() || !state_of(path, state)) return;
        for (const std::string& known : {std::string(), part})
            if (g.in_order.contains({state, known})) return;
        walker = g.walker;
        patience = g.patience;
    }
    checked_ = std::make_unique<Checked>(Checked{state, part});
    for (std::size_t share = 0; share < walkers; ++share)
        walking_.push_back(std::make_unique<Walking>(
            walker, path, walkers == 1 ? part : shared_part(part, {share, walkers}), patience));
}

WalkAhead::~WalkAhead() = default;

void WalkAhead::next() {
    if (!checked_) return;
    const std::size_t step = steps_++;
    if (step > 0) return walking_[(step - 1) % walking_.size()]->next();
    for (const auto& walking : walking_) walking->next();
}

void WalkAhead::finish() {
    if (!checked_) return;
    for (const auto& walking : walking_) walking->finish();
    remember(checked_->state, checked_->part);
    checked_ = nullptr;
    walking_.clear();
}

void require_verified(const std::string& path) {
    WalkAhead(path, {}).finish();
}

void mark_verified(const std::string& path) {
    State state{};
    if (state_of(path, state)) remember(state, {});
}

}  // namespace normscope
