// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/depth_measures.h"

#include "core/backend/cpu/orthonormal_rows.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace normscope {

Estimate stable_rank(const Spectrum& s) {
    const double square = s.top.front() * s.top.front();
    return {s.squared_norm / square, s.squared_norm_error / square};
}

double alignment(const Spectrum& earlier, const Spectrum& later) {
    return std::abs(std::inner_product(earlier.left.begin(), earlier.left.end(), later.right.begin(), 0.0));
}

double product_gain(double whole, std::span<const double> layers) {
    double logarithm = std::log(whole);  // the product itself may overflow
    for (double gain : layers) logarithm -= std::log(gain);
    return std::exp(logarithm);
}

std::vector<double> lyapunov_exponents(std::span<const LinearMap> maps, int count, std::uint64_t seed,
                                       ThreadPool& pool, const std::function<void()>& check) {
    const int size = maps.front().size;
    std::vector<double> exponents(static_cast<std::size_t>(count)), r;
    const auto orthonormal = [&](std::uint64_t key, const auto& fill) {
        OrthonormalRows rows(count, size, {key, "lyapunov"}, pool);
        fill(rows);
        return rows.take(count, r) ? std::vector<double>(rows.row(0), rows.row(count))
                                   : std::vector<double>();
    };
    std::vector<double> directions =
        orthonormal(seed, [&](OrthonormalRows& rows) { rows.draw(count, rows.next(count)); });
    for (std::size_t l = 0; l < maps.size(); ++l) {
        if (check) check();
        directions = orthonormal(seed + l + 1, [&](OrthonormalRows& rows) {
            maps[l].apply(count, directions.data(), rows.next(count));
        });
        if (directions.empty())
            return std::vector<double>(exponents.size(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < exponents.size(); ++i)
            exponents[i] += std::log(r[i * exponents.size() + i]) / static_cast<double>(maps.size());
    }
    return exponents;
}

}  // namespace normscope
