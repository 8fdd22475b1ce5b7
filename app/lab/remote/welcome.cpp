// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/welcome.h"

#include "app/lab/remote/messages.h"

#include <sstream>
#include <variant>

namespace normscope::app {

namespace {

constexpr const char* kProgramWord = "normscope-engine";

/// With how many messages there are, so that two states of the sources that differ in that do not connect.
std::string protocolWord() {
    return std::to_string(kProtocol) + '.' + std::to_string(std::variant_size_v<ask::Any>) + '.' +
           std::to_string(std::variant_size_v<reply::Any>);
}

std::string versionText(const std::string& version, const std::string& protocol) {
    return "Normscope " + version + " (protocol " + protocol + ")";
}

}  // namespace

std::string welcome_line() {
    std::ostringstream line;
    line << kProgramWord << " ready " << protocolWord() << ' ' << NORMSCOPE_VERSION << '\n';
    return line.str();
}

std::string welcome_failed(const std::string& why) {
    std::ostringstream line;
    line << kProgramWord << " failed " << why << '\n';
    return line.str();
}

std::optional<Welcome> welcome_of(const std::string& line) {
    std::istringstream words(line);
    std::string program, state;
    words >> program >> state;
    if (program != kProgramWord) return std::nullopt;
    if (state == "failed") {
        std::string why;
        std::getline(words >> std::ws, why);
        return Welcome{why.empty() ? "no engine can be started" : why};
    }
    std::string protocol, version;
    words >> protocol >> version;
    if (state != "ready") return std::nullopt;
    if (protocol == protocolWord() && version == NORMSCOPE_VERSION) return Welcome{};
    return Welcome{"there is " + versionText(version, protocol) + ", here " +
                   versionText(NORMSCOPE_VERSION, protocolWord()) + ": both machines need the same version"};
}

}  // namespace normscope::app
