// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/mapped_file.h"

#include "core/base/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace normscope {

MappedFile::MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    void* start = nullptr;
    int error = 0;
    if (file < 0 || fstat(file, &status) != 0)
        error = errno;
    else if (!S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    else if (status.st_size > 0) {
        start = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
        if (start == MAP_FAILED) error = errno;
    }
    if (file >= 0) close(file);
    if (error != 0) throw InputError(path + ": cannot be read: " + std::strerror(error));
    bytes_ = {static_cast<const std::byte*>(start), static_cast<std::size_t>(status.st_size)};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace normscope
