// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/replaceable.h"

#include <optional>
#include <string>

namespace normscope {

/// A file that is written next to its target and replaces it atomically, so that a crash leaves the old file
/// or the new one, never a partial one. Symbolic links are followed; the permissions of the file that is
/// replaced are kept. Without commit() the temporary is removed. A file that is being written, or that is not
/// the one that was read, is not replaced (require_replaceable()): checked at the beginning, so that no work
/// is done in vain, and again by commit(). For the thread that owns HDF5, where the target may be HDF5.
class ReplacingFile {
  public:
    /// Creates the empty temporary TARGET.saving-HOST-BOOT-PID-START-NUMBER. Removes those of killed
    /// processes of this host for this target. Throws SystemError when the folder is not writable,
    /// NotReplaceable.
    explicit ReplacingFile(const std::string& target, std::optional<FileIdentity> as_read = std::nullopt);
    ~ReplacingFile();
    ReplacingFile(const ReplacingFile&) = delete;
    ReplacingFile& operator=(const ReplacingFile&) = delete;

    const std::string& temporary() const { return temporary_; }
    const std::string& target() const { return target_; }

    /// Syncs the temporary to disk, renames it onto the target, syncs the folder. Returns the target's new
    /// identity. Throws SystemError, NotReplaceable.
    FileIdentity commit();

  private:
    std::string target_, temporary_;
    std::optional<FileIdentity> as_read_;
    bool committed_ = false;
};

/// Removes the temporaries of killed processes of this host for this target. A save in progress on another
/// host, whose processes cannot be seen from here, keeps its own; so does a version of the program that did
/// not write the host into the name.
void remove_leftovers(const std::string& target);

/// The path without the ending of a temporary: for messages.
std::string without_temporary_ending(const std::string& path);

}  // namespace normscope
