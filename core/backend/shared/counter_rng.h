// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Counter-based random numbers: each is a pure function of (seed, name, row, column), without state. A layer
/// keeps its normals when depth changes, a block of a matrix when width changes, and threads need no
/// synchronisation.
///
/// The generator is Threefry2x64-20 (threefry.h); one call of it serves two neighbouring columns of a row
/// with 64 bits each. The results are the same bits on every CPU: counter_rng.cpp is compiled without
/// contraction into fused multiply-adds. Every function here may be called from any thread.
namespace normscope {

/// Names one family of random numbers, such as a tensor of a run: seed 42, "blocks.3.attn.wq".
struct NormalKey {
    NormalKey(std::uint64_t seed, std::string_view name);
    std::uint64_t value;  ///< the first word of the generator's key
};

/// 64 random bits.
std::uint64_t random_bits(NormalKey key, std::uint64_t row, std::uint64_t column);

/// Uniform in [0, 1), a multiple of 2^-52.
double uniform(NormalKey key, std::uint64_t row, std::uint64_t column);

/// Uniform in 0 … bound − 1 (bound ≥ 1); the bias of multiply-and-shift, below bound / 2^64, is not removed.
std::uint64_t uniform_below(NormalKey key, std::uint64_t row, std::uint64_t column, std::uint64_t bound);

/// out[i] = std · z(row, col_begin + i), i < count, with z standard normal: the part of a matrix row that is
/// new. Drawn in float64 (box_muller.h); the float32 version rounds that result.
void fill_normal_row(NormalKey key, std::uint64_t row, std::uint64_t col_begin, std::uint64_t count,
                     double std, double* out);
void fill_normal_row(NormalKey key, std::uint64_t row, std::uint64_t col_begin, std::uint64_t count,
                     double std, float* out);

/// The category that u in [0, 1) falls into: the first i with u · total < cumulative[i], where cumulative
/// holds the non-decreasing running sums of the weights and total, its last element, is positive. A category
/// of weight 0 is never returned.
int categorical(std::span<const double> cumulative, double u);

/// Reads a row of random numbers one after another, for draws whose count is not known beforehand.
class RandomRow {
  public:
    RandomRow(NormalKey key, std::uint64_t row, std::uint64_t first_column = 0)
        : key_(key), row_(row), column_(first_column) {}
    double uniform() { return normscope::uniform(key_, row_, column_++); }
    std::uint64_t below(std::uint64_t bound) { return uniform_below(key_, row_, column_++, bound); }
    int categorical(std::span<const double> cumulative) {
        return normscope::categorical(cumulative, uniform());
    }

  private:
    NormalKey key_;
    std::uint64_t row_, column_;
};

namespace detail {

constexpr std::uint64_t kNormalsAtOnce = 64;

/// out[0 … kNormalsAtOnce): the standard normals of a row (key, row, …) from column 2 · first_pair on.
using DrawNormals = void (*)(std::uint64_t key, std::uint64_t row, std::uint64_t first_pair, double* out);

/// The versions of the inner loop for the instruction sets of this CPU, the one in use first. They give the
/// same bits.
std::vector<DrawNormals> draw_normals_versions();

}  // namespace detail

}  // namespace normscope
