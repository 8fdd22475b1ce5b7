// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/replaceable.h"

#include <string>
#include <vector>

namespace normscope::app {

/// Whether the file begins as an HDF5 file does. False too where it cannot be read.
bool is_hdf5(const std::string& path);

/// Closes the recording of a killed process, so that every HDF5 program opens it (settle_recording). A line
/// on stderr states that, or why it is not possible.
void settle(const std::string& path);

/// Throws before any work is done where an output cannot be put at `path`: its folder is missing or may not
/// be written (SystemError), it is not a regular file, not HDF5 (a recipe, say), one of the inputs
/// (InputError), or being written (NotReplaceable). Returns what is there, for the check when the output is
/// written: it must not have changed by then.
FileIdentity require_writable(const std::string& path, const std::vector<std::string>& inputs = {});

/// A small text file, put in place atomically. Throws SystemError, InputError where an HDF5 file is there.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace normscope::app
