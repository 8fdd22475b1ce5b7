// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// A file that is written beside its target and takes its place in one step, so that a crash at any moment
/// leaves the old file or the new one, never half of one. Symbolic links are followed to the file they mean;
/// the permissions of the file that is replaced are kept. Without commit() the temporary is removed.
class ReplacingFile {
  public:
    /// Makes the empty temporary "TARGET.saving-PID". Removes those that killed processes left for this
    /// target. Throws SystemError when that place cannot be written.
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

/// Removes the temporaries that killed processes left for this target; makes nothing.
void remove_leftovers(const std::string& target);

/// The path without the ending of a temporary: what messages should name.
std::string without_temporary_ending(const std::string& path);

}  // namespace normscope
