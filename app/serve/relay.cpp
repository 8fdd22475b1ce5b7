// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/relay.h"

#include "app/lab/remote/welcome.h"
#include "core/base/error.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <vector>

namespace normscope::app {

namespace {

constexpr std::size_t kMaxHeld = std::size_t{1} << 20;  // of one direction: then its source waits

std::string folderOfSockets() {
    return "/tmp/normscope-" + std::to_string(getuid());
}

/// One that only this user can read and write.
void requireFolder() {
    const std::string folder = folderOfSockets();
    if (mkdir(folder.c_str(), 0700) < 0 && errno != EEXIST)
        throw SystemError(folder + ": " + std::strerror(errno));
    struct stat found {};
    if (lstat(folder.c_str(), &found) < 0 || !S_ISDIR(found.st_mode) || found.st_uid != getuid() ||
        (found.st_mode & 077) != 0)
        throw SystemError(folder + ": must be a folder that only this user can read");
}

sockaddr_un addressOf(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw SystemError(path + ": too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

int newSocket() {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw SystemError(std::string("a socket: ") + std::strerror(errno));
    return made;
}

/// −1 where no engine listens there.
int connectTo(const std::string& path) {
    const sockaddr_un address = addressOf(path);
    const int made = newSocket();
    if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return made;
    close(made);
    return -1;
}

/// Removes the sockets of engines that were killed; not those that may be about to listen.
void removeDeadSockets() {
    constexpr auto young = std::chrono::minutes(1);
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folderOfSockets(), none)) {
        if (!entry.is_socket(none)) continue;
        const auto made = entry.last_write_time(none);
        if (std::filesystem::file_time_type::clock::now() - made < young) continue;
        if (const int engine = connectTo(entry.path().string()); engine >= 0) {
            close(engine);
            continue;
        }
        std::filesystem::remove(entry.path(), none);
        std::filesystem::remove(entry.path().string() + ".log", none);
    }
}

/// A process that is no child of this one's session, with the listening socket.
void startEngine(const std::string& program, const std::string& session) {
    const std::string path = socket_path(session);
    const sockaddr_un address = addressOf(path);
    const int listening = newSocket();
    if (bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
        listen(listening, 4) < 0)
        throw SystemError(path + ": " + std::strerror(errno));
    const std::string log = path + ".log";
    const pid_t child = fork();
    if (child < 0) throw SystemError(std::string("a process: ") + std::strerror(errno));
    if (child > 0) {
        close(listening);
        return;
    }
    setsid();
    if (fork() != 0) _exit(0);
    const int none = open("/dev/null", O_RDWR);
    const int errors = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(none, STDIN_FILENO);
    dup2(none, STDOUT_FILENO);
    dup2(errors >= 0 ? errors : none, STDERR_FILENO);
    const int kept = dup(listening);  // without O_CLOEXEC
    execl(program.c_str(), program.c_str(), "--listen", std::to_string(kept).c_str(), "--session",
          session.c_str(), nullptr);
    _exit(1);
}

/// One direction.
struct Flow {
    int from, to;
    std::string held = {};
    bool ended = false;  ///< its source

    /// False where one of them is closed.
    bool pass(const pollfd& source, const pollfd& target) {
        if ((target.revents & POLLOUT) && !held.empty()) {
            const ssize_t sent = write(to, held.data(), held.size());
            if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
            if (sent > 0) held.erase(0, static_cast<std::size_t>(sent));
        }
        if (target.revents & (POLLERR | POLLNVAL)) return false;
        if (!(source.revents & (POLLIN | POLLHUP | POLLERR)) || held.size() >= kMaxHeld) return true;
        std::array<char, 1 << 16> bytes;
        const ssize_t got = read(from, bytes.data(), bytes.size());
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) ended = true;
        if (got > 0) held.append(bytes.data(), static_cast<std::size_t>(got));
        return !ended || !held.empty();
    }
};

void pass(int engine) {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, engine})
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    Flow in{STDIN_FILENO, engine}, out{engine, STDOUT_FILENO};
    while (true) {
        const auto reads = [](const Flow& flow) {
            return static_cast<short>(!flow.ended && flow.held.size() < kMaxHeld ? POLLIN : 0);
        };
        const auto writes = [](const Flow& flow) {
            return static_cast<short>(flow.held.empty() ? 0 : POLLOUT);
        };
        std::array<pollfd, 4> all{{{in.from, reads(in), 0},
                                   {in.to, writes(in), 0},
                                   {out.from, reads(out), 0},
                                   {out.to, writes(out), 0}}};
        if (poll(all.data(), all.size(), -1) < 0 && errno != EINTR) return;
        if (!in.pass(all[0], all[1]) || !out.pass(all[2], all[3])) return;
    }
}

}  // namespace

std::string socket_path(const std::string& session) {
    return folderOfSockets() + "/" + session;
}

int relay(const std::string& program, const std::string& session, bool resume) {
    std::signal(SIGPIPE, SIG_IGN);
    const auto failed = [](const std::string& why) {
        std::cout << welcome_failed(why) << std::flush;
        return 1;
    };
    try {
        requireFolder();
        int engine = connectTo(socket_path(session));
        if (engine < 0 && resume) return failed("the engine has ended there");
        if (engine < 0) {
            if (access(program.c_str(), X_OK) < 0) return failed(program + ": " + std::strerror(errno));
            removeDeadSockets();
            startEngine(program, session);
            engine = connectTo(socket_path(session));
        }
        if (engine < 0) return failed("no engine can be started");
        pass(engine);
        return 0;
    } catch (const SystemError& error) {
        return failed(error.what());
    }
}

}  // namespace normscope::app
