// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/float_bytes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace normscope {

static_assert(std::endian::native == std::endian::little, "model files are read in native byte order");

std::size_t float_size(FloatType type) {
    return type == FloatType::F64 ? 8 : type == FloatType::F32 ? 4 : 2;
}

float float_from_half(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 31u, mantissa = bits & 0x3ffu;
    if (exponent == 0)  // zero and the subnormals, multiples of 2^-24
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::ldexp(float(mantissa), -24)));
    const std::uint32_t biased = exponent == 31 ? 255 : exponent + (127 - 15);
    return std::bit_cast<float>(sign | biased << 23 | mantissa << 13);
}

StoredTensor decoded(std::string name, std::vector<std::size_t> shape, FloatType type,
                     std::span<const std::byte> bytes) {
    StoredTensor tensor{std::move(name),
                        std::move(shape),
                        type == FloatType::F64 ? StoredType::Float64 : StoredType::Float32,
                        {}};
    if (float_size(type) > 2) {
        tensor.bytes.assign(bytes.begin(), bytes.end());
        return tensor;
    }
    const std::size_t count = bytes.size() / 2;
    tensor.bytes.resize(count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t bits;
        std::memcpy(&bits, bytes.data() + 2 * i, sizeof bits);
        const float value = type == FloatType::F16
                                ? float_from_half(bits)
                                : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
        std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
    }
    return tensor;
}

StoredTensor decoded(std::string name, std::vector<std::size_t> shape, FloatType type,
                     std::vector<std::byte>&& bytes) {
    if (float_size(type) == 2)
        return decoded(std::move(name), std::move(shape), type, std::span<const std::byte>(bytes));
    return {std::move(name), std::move(shape),
            type == FloatType::F64 ? StoredType::Float64 : StoredType::Float32, std::move(bytes)};
}

}  // namespace normscope
