// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace normscope::detail {

/// What one call of Philox yields: two words, for the columns 2 · pair and 2 · pair + 1.
struct WordPair {
    std::uint64_t even, odd;
};

/// Philox4x32-10 (Salmon et al., SC 2011): ten rounds of multiply and exchange turn the counter (pair, row),
/// each low half first, into 128 random bits. Always inlined, so that a loop over it takes the instruction
/// set of its caller.
[[gnu::always_inline]] inline WordPair philox(std::uint64_t key, std::uint64_t row, std::uint64_t pair) {
    std::uint32_t c0 = static_cast<std::uint32_t>(pair), c1 = static_cast<std::uint32_t>(pair >> 32);
    std::uint32_t c2 = static_cast<std::uint32_t>(row), c3 = static_cast<std::uint32_t>(row >> 32);
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0, p1 = std::uint64_t{0xCD9E8D57u} * c2;
        c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
        c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<std::uint32_t>(p1);
        c3 = static_cast<std::uint32_t>(p0);
        k0 += 0x9E3779B9u;  // the Weyl sequence of the golden ratio and of √3 − 1
        k1 += 0xBB67AE85u;
    }
    return {std::uint64_t{c1} << 32 | c0, std::uint64_t{c3} << 32 | c2};
}

}  // namespace normscope::detail
