// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/file_bytes.h"

#include "core/base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace normscope {

namespace {

class Descriptor {
  public:
    explicit Descriptor(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Descriptor() {
        if (file_ >= 0) ::close(file_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return file_; }

  private:
    int file_;
};

}  // namespace

FileBytes::FileBytes(const std::string& path) {
    const auto reject = [&](int error) {
        throw InputError(path + ": cannot be read: " + std::strerror(error));
    };
    const Descriptor file(path);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) reject(errno);
    if (!S_ISREG(status.st_mode)) reject(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    constexpr std::size_t most = std::size_t{1} << 30;  // a call reads at most 2 GiB
    for (std::size_t at = 0; at < size_;) {
        const ssize_t got = ::read(file, bytes_.get() + at, std::min(most, size_ - at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) reject(errno);
        if (got == 0)
            throw InputError(path + ": was shortened to " + std::to_string(at) + " bytes while it was read");
        at += static_cast<std::size_t>(got);
    }
}

}  // namespace normscope
