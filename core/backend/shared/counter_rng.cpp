// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/shared/counter_rng.h"

#include "core/backend/shared/box_muller.h"
#include "core/backend/shared/instruction_set.h"
#include "core/backend/shared/threefry.h"

#include <algorithm>

namespace normscope {
namespace {

constexpr std::uint64_t kAtOnce = detail::kNormalsAtOnce;

[[gnu::always_inline]] inline void draw_normals(std::uint64_t key, std::uint64_t row,
                                                std::uint64_t first_pair, double* __restrict out) {
    // Two loops: the processor overlaps more iterations of a short one.
    std::uint64_t even[kAtOnce / 2], odd[kAtOnce / 2];
    for (std::uint64_t i = 0; i < kAtOnce / 2; ++i) {
        const detail::WordPair words = detail::threefry(key, 0, first_pair + i, row);
        even[i] = words.even;
        odd[i] = words.odd;
    }
    for (std::uint64_t i = 0; i < kAtOnce / 2; ++i)
        detail::box_muller(even[i], odd[i], out[2 * i], out[2 * i + 1]);
}

void draw_normals_portable(std::uint64_t key, std::uint64_t row, std::uint64_t first_pair, double* out) {
    draw_normals(key, row, first_pair, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void draw_normals_avx2(std::uint64_t key, std::uint64_t row, std::uint64_t first_pair,
                                               double* out) {
    draw_normals(key, row, first_pair, out);
}

[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")]] void draw_normals_avx512(
    std::uint64_t key, std::uint64_t row, std::uint64_t first_pair, double* out) {
    draw_normals(key, row, first_pair, out);
}
#endif

template <class Real>
void fill_row(NormalKey key, std::uint64_t row, std::uint64_t col_begin, std::uint64_t count, double std,
              Real* out) {
    static const detail::DrawNormals draw = detail::draw_normals_versions().front();
    alignas(64) double normals[kAtOnce];
    while (count > 0) {
        draw(key.value, row, col_begin / 2, normals);
        const std::uint64_t skip = col_begin % 2, take = std::min<std::uint64_t>(count, kAtOnce - skip);
        for (std::uint64_t i = 0; i < take; ++i) out[i] = static_cast<Real>(std * normals[skip + i]);
        col_begin += take;
        count -= take;
        out += take;
    }
}

/// Steele, Lea & Flood's SplitMix64 finaliser: every input bit moves every output bit.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

}  // namespace

std::vector<detail::DrawNormals> detail::draw_normals_versions() {
    std::vector<DrawNormals> versions{draw_normals_portable};
#if defined(__x86_64__)
    if (best_isa() >= Isa::Avx2) versions.insert(versions.begin(), draw_normals_avx2);
    if (best_isa() >= Isa::Avx512) versions.insert(versions.begin(), draw_normals_avx512);
#endif
    return versions;
}

NormalKey::NormalKey(std::uint64_t seed, std::string_view name) {
    std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    value = mix(mix(seed) ^ hash);
}

std::uint64_t random_bits(NormalKey key, std::uint64_t row, std::uint64_t column) {
    const detail::WordPair words = detail::threefry(key.value, 0, column / 2, row);
    return column % 2 == 0 ? words.even : words.odd;
}

double uniform(NormalKey key, std::uint64_t row, std::uint64_t column) {
    return detail::one_to_two(random_bits(key, row, column)) - 1.0;
}

std::uint64_t uniform_below(NormalKey key, std::uint64_t row, std::uint64_t column, std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{random_bits(key, row, column)} * bound >> 64);
}

void fill_normal_row(NormalKey key, std::uint64_t row, std::uint64_t col_begin, std::uint64_t count,
                     double std, double* out) {
    fill_row(key, row, col_begin, count, std, out);
}

void fill_normal_row(NormalKey key, std::uint64_t row, std::uint64_t col_begin, std::uint64_t count,
                     double std, float* out) {
    fill_row(key, row, col_begin, count, std, out);
}

int categorical(std::span<const double> cumulative, double u) {
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), u * cumulative.back());
    // u · total may round up to total itself: the last category of positive weight then.
    const auto last = std::lower_bound(cumulative.begin(), cumulative.end(), cumulative.back());
    return static_cast<int>(std::min(found, last) - cumulative.begin());
}

}  // namespace normscope
