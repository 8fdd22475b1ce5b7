// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/batch.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace normscope {

/// A hash of batches, in order: equal batches have equal ones, and two runs whose steps have equal ones were
/// trained on the same data. 53 bits, so that a float64 column holds it exactly; no protection against
/// intent.
class BatchHash {
  public:
    void add(const Batch& batch) {
        mix(static_cast<std::uint64_t>(batch.sequences) << 32 | static_cast<std::uint32_t>(batch.length));
        add(batch.tokens);
        add(batch.targets);
        add(batch.patches);
    }
    template <class T>
    void add(const std::vector<T>& values) {
        const auto* at = reinterpret_cast<const unsigned char*>(values.data());
        std::size_t left = values.size() * sizeof(T);
        mix(left);
        for (; left >= 8; left -= 8, at += 8) mix(word(at, 8));
        if (left > 0) mix(word(at, left));
    }
    /// 0 … 2^53 − 1.
    double value() const { return static_cast<double>(state_ >> 11); }

  private:
    static std::uint64_t word(const unsigned char* at, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, bytes);
        return word;
    }
    void mix(std::uint64_t word) {
        state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
        state_ ^= state_ >> 29;
    }
    std::uint64_t state_ = 0x243f6a8885a308d3u;
};

}  // namespace normscope
