// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace normscope {

/// A file of token ids, read piece by piece: nanoGPT's .bin (uint16 without a header), llm.c's .bin for GPT-2
/// (uint16) and for Llama 3 (uint32), or a one-dimensional .npy of whole numbers. Any thread.
class TokenFile {
  public:
    /// Reads the header. InputError, one line: no such file, a header that states another length than the
    /// file has, an odd length, 32-bit ids without a header, another type of file.
    explicit TokenFile(const std::string& path);

    const std::string& path() const { return path_; }
    std::uint64_t count() const { return count_; }
    /// Fills `ids` with those from `at` on, which are inside the file. InputError with the position of one
    /// that is negative or at least `limit`.
    void read(std::uint64_t at, std::int64_t limit, std::span<std::int32_t> ids) const;

  private:
    void read_npy();
    void reject_wide_ids() const;

    std::string path_;
    std::shared_ptr<const ByteSource> file_;
    std::uint64_t begin_ = 0, count_ = 0;
    int width_ = 2;  ///< bytes of an id
    bool signed_ = false;
};

}  // namespace normscope
