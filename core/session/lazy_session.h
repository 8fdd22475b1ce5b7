// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/hdf5.h"

#include <cstdint>
#include <string>

namespace normscope {

/// An open session of which a part is not read yet. Any thread may release it: the thread of HDF5 closes the
/// file when it opens the next one. All else is for that thread.
class LazySession {
  public:
    LazySession(hdf5::Handle file, std::string path);
    ~LazySession();
    LazySession(const LazySession&) = delete;
    LazySession& operator=(const LazySession&) = delete;

    hid_t file() const { return file_; }
    /// Before anything but the outlines is read: has the file walked (process/guard.h), once. Throws
    /// InputError where it was written to since it was opened, or replaced before it was walked.
    void require_readable() const;
    /// Nothing is read from it any more: of an object that could not be read the library keeps, while the
    /// file stays open, what it made of it, and returns that to the next reader. require_readable() throws
    /// this line.
    void record_failure(const std::string& line) const { failure_ = line; }

  private:
    hdf5::Handle file_;
    std::string path_;
    std::int64_t bytes_ = 0, seconds_ = 0, nanoseconds_ = 0;  ///< size and last modification
    mutable bool walked_ = false;
    mutable std::string failure_;
};

}  // namespace normscope
