// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace normscope {

/// A target that is not predicted: its row has no loss.
inline constexpr std::int32_t kIgnored = -1;
/// The two kinds of tokens of a stack of patches.
inline constexpr std::int32_t kClassToken = 0, kPatchToken = 1;

/// The data of a pass: tokens and the target of each, both [sequences, length], row-major. Of text the target
/// is the token that follows. Of images token 0 of each sequence is the class token, whose target is the
/// class; the others are patches, and their targets are ignored.
struct Batch {
    int sequences = 0, length = 0;
    std::vector<std::int32_t> tokens, targets;
    /// [sequences, length, patch width] of images, else empty; zero at the class token.
    std::vector<float> patches{};

    /// Targets that have a loss.
    std::int64_t counted() const {
        return std::count_if(targets.begin(), targets.end(), [](std::int32_t id) { return id >= 0; });
    }

    /// The first `part_length` tokens of the sequences first … first + count − 1.
    Batch part(int first, int count, int part_length) const {
        Batch result{count, part_length, {}, {}, {}};
        const auto cut = [&](const auto& from, auto& to) {
            const std::size_t rows = static_cast<std::size_t>(sequences) * static_cast<std::size_t>(length);
            const auto width = static_cast<std::ptrdiff_t>(from.size() / std::max<std::size_t>(1, rows));
            for (int b = first; b < first + count; ++b) {
                const auto begin = from.begin() + static_cast<std::ptrdiff_t>(b) * length * width;
                to.insert(to.end(), begin, begin + part_length * width);
            }
        };
        cut(tokens, result.tokens);
        cut(targets, result.targets);
        cut(patches, result.patches);
        return result;
    }
};

}  // namespace normscope
