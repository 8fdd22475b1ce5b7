// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/place.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace normscope::app {

namespace {

constexpr const char* kScheme = "ssh://";
constexpr const char* kProgram = "normscope-cli";
constexpr int kPorts = 65535;

[[noreturn]] void notUnderstood(const std::string& device, const std::string& why) {
    throw InputError(device + ": " + why + ", allowed: ssh://[user@]host[:port][/path/to/normscope-cli]");
}

/// What ssh takes for a name and not for an option, and no shell for anything else.
bool isName(const std::string& text) {
    return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr(".-_", c);
    });
}

/// An argument of the shell there.
std::string quotedForShell(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

bool is_remote(const std::string& device) {
    return device.rfind(kScheme, 0) == 0;
}

std::pair<RemotePlace, std::string> parse_remote(const std::string& device) {
    if (!is_remote(device)) notUnderstood(device, "is not another machine");
    const std::size_t space = device.find(' ');
    const std::string word = space == std::string::npos ? "" : device.substr(space + 1);
    std::string rest = device.substr(
        std::strlen(kScheme), space == std::string::npos ? std::string::npos : space - std::strlen(kScheme));
    RemotePlace place;
    place.program = kProgram;
    if (const std::size_t slash = rest.find('/'); slash != std::string::npos) {
        if (rest.size() > slash + 1) place.program = rest.substr(slash);
        rest.resize(slash);
    }
    if (const std::size_t at = rest.find('@'); at != std::string::npos) {
        place.user = rest.substr(0, at);
        rest.erase(0, at + 1);
        if (!isName(place.user)) notUnderstood(device, "\"" + place.user + "\" is no user");
    }
    if (const std::size_t colon = rest.find(':'); colon != std::string::npos) {
        const std::string port = rest.substr(colon + 1);
        rest.resize(colon);
        const bool digits =
            !port.empty() && port.size() <= 5 &&
            std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
        place.port = digits ? std::stoi(port) : 0;
        if (place.port < 1 || place.port > kPorts) notUnderstood(device, "\"" + port + "\" is no port");
    }
    place.host = rest;
    if (!isName(place.host)) notUnderstood(device, "\"" + place.host + "\" is no host");
    return {place, word};
}

std::string RemotePlace::text() const {
    return kScheme + (user.empty() ? "" : user + "@") + host + (port == 0 ? "" : ":" + std::to_string(port)) +
           (program == kProgram ? "" : program);
}

std::vector<std::string> RemotePlace::command(const std::string& session, bool resume) const {
    const char* chosen = std::getenv("NORMSCOPE_SSH");
    std::vector<std::string> line{chosen && *chosen ? chosen : "ssh", "-T"};
    // A question on the terminal that the window was started from would wait unseen.
    if (!std::getenv("SSH_ASKPASS")) line.insert(line.end(), {"-o", "BatchMode=yes"});
    line.insert(line.end(), {"-o", "ConnectTimeout=10"});
    if (port != 0) line.insert(line.end(), {"-p", std::to_string(port)});
    if (!user.empty()) line.insert(line.end(), {"-l", user});
    line.insert(line.end(), {"--", host,
                             "exec " + quotedForShell(program) + " serve --stdio --session " + session +
                                 (resume ? " --resume" : "")});
    return line;
}

}  // namespace normscope::app
