// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// A file that is written next to its target and replaces it atomically, so that a crash leaves the old file
/// or the new one, never a partial one. Symbolic links are followed; the permissions of the file that is
/// replaced are kept. Without commit() the temporary is removed.
class ReplacingFile {
  public:
    /// Creates the empty temporary "TARGET.saving-PID". Removes those of killed processes for this target.
    /// Throws SystemError when the folder is not writable.
    explicit ReplacingFile(const std::string& target);
    ~ReplacingFile();
    ReplacingFile(const ReplacingFile&) = delete;
    ReplacingFile& operator=(const ReplacingFile&) = delete;

    const std::string& temporary() const { return temporary_; }
    const std::string& target() const { return target_; }

    /// Syncs the temporary to disk, renames it onto the target, syncs the folder.
    void commit();

  private:
    std::string target_, temporary_;
    bool committed_ = false;
};

/// Removes the temporaries of killed processes for this target.
void remove_leftovers(const std::string& target);

/// The path without the ending of a temporary: for messages.
std::string without_temporary_ending(const std::string& path);

}  // namespace normscope
