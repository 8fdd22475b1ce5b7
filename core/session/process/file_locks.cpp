// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/process/file_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace normscope {

bool is_without_locks(int error) {
    return error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP;
}

bool folder_has_locks(const std::string& path) {
    // The folder's own lock, which no other program takes: that of a file would keep out its writer.
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return true;
    const bool without = ::flock(opened, LOCK_SH | LOCK_NB) != 0 && is_without_locks(errno);
    ::close(opened);
    return !without;
}

}  // namespace normscope
