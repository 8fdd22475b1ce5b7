// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace normscope::fuzz {

/// Copies one of the sound files to `target` with damage that follows from `number` and `seed` alone: flipped
/// bytes, a lost end, swapped or blanked blocks, and, through the library, what no checksum catches: links
/// and attributes removed or replaced by others of another type or shape, texts and recipes with characters
/// changed, impossible numbers. Returns what was done, in words.
std::string damaged_copy(const std::vector<std::string>& sound, const std::string& target,
                         std::uint64_t number, std::uint64_t seed);

}  // namespace normscope::fuzz
