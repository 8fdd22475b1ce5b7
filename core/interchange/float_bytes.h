// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/stored_tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// The floating-point types of model files, little-endian like the host.
enum class FloatType { F16, BF16, F32, F64 };

std::size_t float_size(FloatType type);  ///< bytes

/// IEEE binary16 to float32; exact, NaN and infinities included.
float float_from_half(std::uint16_t bits);

/// F64 stays float64, every other type becomes float32: exact in all cases. `bytes` holds exactly the values
/// of `shape` and need not be aligned.
StoredTensor decoded(std::string name, std::vector<std::size_t> shape, FloatType type,
                     std::span<const std::byte> bytes);
/// The same of bytes that are not needed any more: float32 and float64 are taken over without a copy.
StoredTensor decoded(std::string name, std::vector<std::size_t> shape, FloatType type,
                     std::vector<std::byte>&& bytes);

}  // namespace normscope
