// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace normscope {

/// A version of the file at a path: two of them are equal where nothing was written to the file, and no other
/// file was put in its place, in between.
struct FileIdentity {
    bool exists = false;  ///< the rest is 0 where there is no file
    std::uint64_t device = 0, inode = 0;
    std::int64_t bytes = 0, seconds = 0, nanoseconds = 0;  ///< size and last modification

    bool operator==(const FileIdentity&) const = default;
};

/// Follows symbolic links. Take it before a file is read: what is written while it is read then counts as a
/// change. Throws SystemError where the path cannot be examined. Any thread.
FileIdentity identity_of(const std::string& path);

/// A save was rejected because it would lose what another program wrote.
class NotReplaceable : public InputError {
  public:
    enum class Reason {
        BeingWritten,  ///< a live run, or another program that holds it open for writing
        Changed        ///< since it was read; or it did not exist then
    };
    NotReplaceable(Reason reason, const std::string& path, const std::string& what,
                   const std::string& allowed)
        : InputError(path, what, allowed), reason_(reason) {}
    Reason reason() const { return reason_; }

  private:
    Reason reason_;
};

/// Throws NotReplaceable where the file at `path` may not be replaced: it is being written (a recording whose
/// writer is alive, this process included; an HDF5 file that another program has locked for writing), or it
/// is not the file that was read. `as_read`: identity_of() before the reading; nullopt: what is there is
/// replaced on purpose. A file that was removed since it was read may be written again. For the thread that
/// owns HDF5.
void require_replaceable(const std::string& path, const std::optional<FileIdentity>& as_read);

/// The files that this process is recording: its identity alone does not say whether it still writes one.
void recording_begun(const FileIdentity& file);
void recording_ended(const FileIdentity& file);

}  // namespace normscope
