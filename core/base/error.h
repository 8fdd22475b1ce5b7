// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace normscope {

/// Invalid input: a recipe key, a file, an argument. The message is one line: what is wrong, where (key path
/// or file), and what is allowed. The command line exits with code 2.
class InputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    /// "stack.depth: 0 is out of range, allowed: 1 … 100000"
    InputError(const std::string& where, const std::string& what, const std::string& allowed)
        : std::runtime_error(where + ": " + what + (allowed.empty() ? "" : ", allowed: " + allowed)) {}
};

/// A failure of the system: a full disk, a lost device, an unwritable file. One line: what and where. Exit
/// code 1.
class SystemError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace normscope
