// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace normscope {

/// The bytes of a file that are read piece by piece, so that a model of many gigabytes can be listed by its
/// headers. Any thread.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// Fills `to` with the bytes from `at` on, which are inside the file. InputError where they cannot be
    /// read, or the file has become shorter.
    virtual void read(std::uint64_t at, std::span<std::byte> to) const = 0;
};

/// Bytes in memory, which must outlive it.
std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes);

/// A file on the disk, held open. It is not mapped: another program may shorten it at any time, and access to
/// a page that is gone ends the process. InputError where it cannot be opened.
std::shared_ptr<const ByteSource> file_source(const std::string& path);

}  // namespace normscope
