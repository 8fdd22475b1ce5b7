// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace normscope {

/// The attention rows that a probe measures when all of them would be too expensive: every stride-th row of
/// each sequence, from another start in each head and sequence. The stride is odd, so that odd and even
/// lengths alternate (θ of a uniform row depends on it), and the choice depends on the shape alone: the rows
/// are the same at every step.
struct RowSample {
    std::size_t first =
        0;  ///< the first row of a sequence that counts: 1 in a causal stack, whose row 0 is one-hot
    std::size_t length = 0;                ///< rows of a sequence, the first ones included
    std::size_t heads = 0, sequences = 0;  ///< heads of all layers
    std::size_t stride = 1;

    /// At most about `budget` rows in all, and at least one of every sequence in every head. Up to `budget`
    /// rows are all taken.
    RowSample(std::size_t layers_times_heads, std::size_t of_sequences, std::size_t n, bool causal,
              std::size_t budget)
        : first(causal || n < 2 ? 1 : 0), length(n), heads(layers_times_heads), sequences(of_sequences) {
        stride = std::max<std::size_t>(1, (all() + budget - 1) / budget);
        stride += stride % 2 == 0;
        stride = std::max<std::size_t>(1, std::min(stride, per_sequence()));
    }

    std::size_t per_sequence() const { return length - std::min(first, length); }
    std::size_t all() const { return heads * sequences * per_sequence(); }
    /// The first row taken of sequence b in head h (counted over the layers).
    std::size_t start(std::size_t h, std::size_t b) const { return first + (h * sequences + b) % stride; }
    std::size_t taken() const {
        return taken([](std::size_t) { return true; });
    }
    /// Of the heads that `selected` accepts.
    template <class Selected>
    std::size_t taken(const Selected& selected) const {
        std::size_t rows = 0;
        for (std::size_t h = 0; h < heads; ++h)
            for (std::size_t b = 0; selected(h) && b < sequences; ++b)
                for (std::size_t row = start(h, b); row < length; row += stride) ++rows;
        return rows;
    }
};

/// "2,048": digits in groups of three.
inline std::string grouped(std::size_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

}  // namespace normscope
