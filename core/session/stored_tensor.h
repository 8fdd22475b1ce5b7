// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace normscope {

/// The element types of files.
enum class StoredType { Float32, Float64, Int32, Int64, UInt64, Other };

/// An array of a file: name, row-major shape (empty: a scalar) and its bytes in native order.
struct StoredTensor {
    std::string name;
    std::vector<std::size_t> shape;
    StoredType type = StoredType::Float64;
    std::vector<std::byte> bytes;

    bool operator==(const StoredTensor&) const = default;
};

}  // namespace normscope
