// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

/// The program that ssh starts: connects standard input and output to the engine of a session, and returns
/// when either of them is closed. The engine is a process of its own, so that it outlives a connection; it
/// listens on a socket that only this user can reach, in /tmp/normscope-UID. `resume`: it must be there;
/// otherwise one is started (`program`, with the socket and the session). Why there is none is stated on
/// standard output, where the window reads it (welcome_failed). Returns the exit status.
int relay(const std::string& program, const std::string& session, bool resume);

/// The file of a session's socket.
std::string socket_path(const std::string& session);

}  // namespace normscope::app
