// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// Another machine with Normscope, as the user writes it: ssh://[user@]host[:port][/path/to/normscope-cli].
struct RemotePlace {
    std::string host;     ///< of the user's ssh configuration, or a name or address
    std::string user;     ///< empty: ssh's own choice
    int port = 0;         ///< 0: ssh's own choice
    std::string program;  ///< there; "normscope-cli": the one in its PATH

    /// As it is written, in one form.
    std::string text() const;
    /// What starts an engine there, or finds the one of this session (ssh and its arguments): through the
    /// user's own ssh, $NORMSCOPE_SSH where it is set. It asks nothing on a terminal.
    std::vector<std::string> command(const std::string& session, bool resume) const;

    bool operator==(const RemotePlace&) const = default;
};

/// Whether a device's word names another machine: it begins with ssh://.
bool is_remote(const std::string& device);

/// Of "ssh://host cuda:1" the place, and the device's word there; empty: the best one. InputError where it is
/// not understood.
std::pair<RemotePlace, std::string> parse_remote(const std::string& device);

}  // namespace normscope::app
