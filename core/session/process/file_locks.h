// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// Whether flock() failed with this error because the file system has no locks (some of clusters and
/// containers).
bool is_without_locks(int error);

/// Whether files in the folder of `path` can be locked; true too where it cannot be found out.
bool folder_has_locks(const std::string& path);

}  // namespace normscope
