// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>

namespace normscope::detail {

/// The result of one call of the generator: two words, for the columns 2 · pair and 2 · pair + 1.
struct WordPair {
    std::uint64_t even, odd;
};

/// Threefry2x64-20 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): twenty rounds of
/// add, rotate and exclusive or map the counter (pair, row) under the key (key, tweak) to 128 random bits.
/// Preferred to Philox because 64-bit additions and rotations vectorise on every instruction set, widening
/// products do not. Always inlined, so that a loop over it is compiled for its caller's instruction set.
[[gnu::always_inline]] inline WordPair threefry(std::uint64_t key, std::uint64_t tweak, std::uint64_t pair,
                                                std::uint64_t row) {
    constexpr int rotation[8] = {16, 42, 12, 31, 16, 32, 24, 21};
    const std::uint64_t schedule[3] = {key, tweak, 0x1BD11BDAA9FC1A22u ^ key ^ tweak};
    std::uint64_t x = pair + key, y = row + tweak;
#pragma GCC unroll 20
    for (unsigned round = 0; round < 20; ++round) {
        x += y;
        y = std::rotl(y, rotation[round % 8]) ^ x;
        if (round % 4 == 3) {
            const unsigned injection = round / 4 + 1;
            x += schedule[injection % 3];
            y += schedule[(injection + 1) % 3] + injection;
        }
    }
    return {x, y};
}

}  // namespace normscope::detail
