// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_source.h"

#include "core/base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace normscope {

namespace {

class Memory : public ByteSource {
  public:
    explicit Memory(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read(std::uint64_t at, std::span<std::byte> to) const override {
        if (!to.empty()) std::memcpy(to.data(), bytes_.data() + at, to.size());
    }

  private:
    std::span<const std::byte> bytes_;
};

class File : public ByteSource {
  public:
    explicit File(const std::string& path)
        : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat status {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
            const std::string reason = std::strerror(errno);
            if (descriptor_ >= 0) ::close(descriptor_);
            throw InputError(path + ": " + reason);
        }
        if (!S_ISREG(status.st_mode)) {
            ::close(descriptor_);
            throw InputError(path, S_ISDIR(status.st_mode) ? "is a folder" : "is no regular file", "a file");
        }
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
    ~File() override { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    std::uint64_t size() const override { return size_; }
    void read(std::uint64_t at, std::span<std::byte> to) const override {
        while (!to.empty()) {
            const ssize_t count = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(at));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw InputError(path_ + ": " + std::strerror(errno));
            if (count == 0) throw InputError(path_ + ": became shorter while it was read");
            at += static_cast<std::uint64_t>(count);
            to = to.subspan(static_cast<std::size_t>(count));
        }
    }

  private:
    std::string path_;
    int descriptor_;
    std::uint64_t size_ = 0;
};

}  // namespace

std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes) {
    return std::make_shared<const Memory>(bytes);
}

std::shared_ptr<const ByteSource> file_source(const std::string& path) {
    return std::make_shared<const File>(path);
}

}  // namespace normscope
