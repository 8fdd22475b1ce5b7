// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/float_bytes.h"
#include "core/session/stored_tensor.h"
#include "core/stack/stack_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// A model out of a file that holds its own sizes.
struct StackWithWeights {
    StackSpec stack;                    ///< completed and valid
    std::vector<StoredTensor> weights;  ///< our names and layout, in no order
};

/// Arrays that stand one behind the other in a file without names, as the .bin formats of llm.c and llama2.c
/// have them. The caller has checked that the file is long enough (require_size).
class BinReader {
  public:
    BinReader(std::span<const std::byte> file, std::size_t at, FloatType type)
        : file_(file), at_(at), type_(type) {}

    /// One array; its shape's numbers.
    StoredTensor take(std::string name, std::vector<std::size_t> shape) {
        std::size_t bytes = float_size(type_);
        for (std::size_t extent : shape) bytes *= extent;
        const auto piece = file_.subspan(at_, bytes);
        at_ += bytes;
        return decoded(std::move(name), std::move(shape), type_, piece);
    }
    /// An array of every layer: blocks.0.NAME, blocks.1.NAME, …
    void take_layers(int depth, const std::string& name, const std::vector<std::size_t>& shape,
                     std::vector<StoredTensor>& to) {
        for (int l = 0; l < depth; ++l) to.push_back(take("blocks." + std::to_string(l) + "." + name, shape));
    }
    void skip(std::size_t count) { at_ += count * float_size(type_); }

  private:
    std::span<const std::byte> file_;
    std::size_t at_;
    FloatType type_;
};

/// The i-th int32 of a header.
std::int32_t header_int(std::span<const std::byte> file, std::size_t i);

/// InputError unless the file is exactly as long as its header's sizes need.
void require_size(std::span<const std::byte> file, std::uint64_t needed, const std::string& where,
                  const char* format);

}  // namespace normscope
