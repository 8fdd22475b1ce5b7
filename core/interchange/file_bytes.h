// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace normscope {

/// A file's bytes, read at once. The file is not mapped: another program may shorten it at any time, and
/// access to a page that is gone ends the process. Memory is needed for the whole file. InputError where it
/// cannot be read, or shrinks while it is read; std::bad_alloc.
class FileBytes {
  public:
    explicit FileBytes(const std::string& path);

    std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

  private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

}  // namespace normscope
