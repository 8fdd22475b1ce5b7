// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace normscope {

/// The numbers that files hold.
enum class StoredType { Float32, Float64, Int32, Int64, UInt64, Other };

/// An array as it lies in a file: name, row-major shape (empty: a scalar) and its bytes in the machine's own
/// order.
struct StoredTensor {
    std::string name;
    std::vector<std::size_t> shape;
    StoredType type = StoredType::Float64;
    std::vector<std::byte> bytes;

    bool operator==(const StoredTensor&) const = default;
};

}  // namespace normscope
