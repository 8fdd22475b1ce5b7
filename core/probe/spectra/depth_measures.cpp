// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/depth_measures.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/linear_algebra/orthonormal_rows.h"
#include "core/backend/cpu/linear_algebra/svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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

namespace {

constexpr int kExtra = 8, kSweeps = 30;
constexpr double kCertain = 1e-3;  // nat

/// A frame of orthonormal rows, and the triangle of a pass: image of row r = Σ_c triangle[r, c]·(row c),
/// divided by e^logarithm, since the product over a deep stack may leave the range of a double.
struct Frame {
    std::vector<double> rows, triangle;
    std::vector<double> logarithms;  ///< of the pass's growth, Σ ln of the diagonals
    double logarithm = 0;
    bool finite = true;
};

class Propagation {
  public:
    Propagation(std::span<const LinearMap> maps, int count, std::uint64_t seed, ThreadPool& pool,
                const std::function<void()>& check)
        : maps_(maps),
          count_(count),
          k_(static_cast<std::size_t>(count)),
          seed_(seed),
          pool_(pool),
          check_(check) {}

    Frame random() {
        return orthonormal([&](OrthonormalRows& rows) { rows.draw(count_, rows.next(count_)); });
    }
    /// Applies all maps, forward or reverse (transposes), orthonormalised after each.
    Frame propagated(Frame frame, bool forth) {
        frame.logarithms.assign(k_, 0.0);
        frame.logarithm = 0;
        frame.triangle.assign(k_ * k_, 0.0);
        for (std::size_t i = 0; i < k_; ++i) frame.triangle[i * k_ + i] = 1;
        for (std::size_t l = 0; l < maps_.size() && frame.finite; ++l) {
            if (check_) check_();
            const LinearMap& map = maps_[forth ? l : maps_.size() - 1 - l];
            Frame next = orthonormal([&](OrthonormalRows& rows) {
                (forth ? map.apply : map.apply_transpose)(count_, frame.rows.data(), rows.next(count_));
            });
            if (!next.finite) return next;
            // Row r of the image of the image: triangle · (this map's triangle), both lower.
            next.logarithms = frame.logarithms;
            for (std::size_t i = 0; i < k_; ++i) next.logarithms[i] += std::log(next.triangle[i * k_ + i]);
            std::vector<double> product(k_ * k_);
            matmul_nn<double>(count_, count_, count_, 1, frame.triangle.data(), count_, next.triangle.data(),
                              count_, 0, product.data(), count_);
            double largest = 0;
            for (const double x : product) largest = std::max(largest, std::abs(x));
            next.logarithm = frame.logarithm;
            if (largest > 0) {
                for (double& x : product) x /= largest;
                next.logarithm += std::log(largest);
            }
            next.triangle = std::move(product);
            frame = std::move(next);
        }
        return frame;
    }

  private:
    Frame orthonormal(const std::function<void(OrthonormalRows&)>& fill) {
        OrthonormalRows rows(count_, maps_.front().size, {seed_++, "lyapunov"}, pool_);
        fill(rows);
        Frame frame;
        frame.finite = rows.take(count_, frame.triangle);
        if (frame.finite) frame.rows.assign(rows.row(0), rows.row(count_));
        return frame;
    }

    std::span<const LinearMap> maps_;
    int count_;
    std::size_t k_;
    std::uint64_t seed_;
    ThreadPool& pool_;
    const std::function<void()>& check_;
};

/// ln σ_i of the lower triangle L (rows: images of the frame's rows) and the bars from the reverse pass: rows
/// of `there` are mapped to L·(rows of `out`), rows of `out` back to B·(rows of `back`), which Lᵀ·(rows of
/// `there`) would be if the frame were invariant.
///
/// Returns the resulting right singular vectors, rotated within the frame as subspace
/// iteration alone would take long to do where values are near each other.
std::vector<double> bound_errors(const Frame& there, const Frame& out, const Frame& back,
                                 std::span<const LinearMap> maps, std::size_t wanted,
                                 LyapunovExponents& exponents, ThreadPool& pool) {
    const int size = maps.front().size;
    const std::size_t k = exponents.values.size(), n = static_cast<std::size_t>(size), depth = maps.size();
    const int count = static_cast<int>(k);
    std::vector<double> sigma(k), left(k * k), right(k * k), outside(k * n);
    singular_decomposition(count, out.triangle.data(), sigma.data(), left.data(), right.data());
    // E, rows: B·back − Lᵀ·there, both in units of e^{out.logarithm}.
    const double unit = std::exp(back.logarithm - out.logarithm);
    matmul_nn<double>(count, size, count, unit, back.triangle.data(), count, back.rows.data(), size, 0,
                      outside.data(), size);
    matmul_tn<double>(count, size, count, -1, out.triangle.data(), count, there.rows.data(), size, 1,
                      outside.data(), size);
    // The covector of value i in the space of `out`, mapped back: right_i · E.
    std::vector<double> residual(k * n);
    matmul_nn<double>(count, size, count, 1, right.data(), count, outside.data(), size, 0, residual.data(),
                      size);
    double floor = 16 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(depth * n));
    for (const LinearMap& map : maps) floor += map.precision;
    exponents.errors.assign(k, 0.0);
    for (std::size_t i = 0; i < wanted; ++i) {
        if (sigma[i] == 0 && std::isinf(exponents.values[i])) continue;
        double square = 0;
        for (std::size_t c = 0; c < n; ++c) square += residual[i * n + c] * residual[i * n + c];
        const double bar = std::sqrt(square) + floor * sigma[0];
        const auto distance = [&](double value) {
            if (value <= 0) return std::numeric_limits<double>::infinity();
            return std::abs((std::log(value) + out.logarithm) / static_cast<double>(depth) -
                            exponents.values[i]);
        };
        exponents.errors[i] = std::max(distance(sigma[i] + bar), distance(sigma[i] - bar));
    }
    // Jᵀu_i in the frame of the reverse pass, u_i the left singular vectors.
    OrthonormalRows rotation(count, count, {0, "lyapunov.rotation"}, pool);
    matmul_nn<double>(count, count, count, 1, right.data(), count, back.triangle.data(), count, 0,
                      rotation.next(count), count);
    std::vector<double> ignored;
    if (!rotation.take(count, ignored)) return back.rows;
    matmul_nn<double>(count, size, count, 1, rotation.row(0), count, back.rows.data(), size, 0,
                      residual.data(), size);
    return residual;
}

}  // namespace

LyapunovExponents lyapunov_exponents(std::span<const LinearMap> maps, int count, std::uint64_t seed,
                                     ThreadPool& pool, const std::function<void()>& check) {
    const int size = maps.front().size, propagated = std::min(size, count + kExtra);
    const auto wanted = static_cast<std::size_t>(count);
    Propagation propagation(maps, propagated, seed, pool, check);
    LyapunovExponents exponents;
    exponents.values.assign(static_cast<std::size_t>(propagated), std::numeric_limits<double>::quiet_NaN());
    exponents.errors = exponents.values;
    Frame there = propagation.random();
    for (int sweep = 0; sweep < kSweeps && there.finite; ++sweep) {
        const Frame out = propagation.propagated(there, true);
        if (!out.finite) break;
        const Frame back = propagation.propagated(out, false);
        if (!back.finite) break;
        for (std::size_t i = 0; i < exponents.values.size(); ++i)
            exponents.values[i] = out.logarithms[i] / static_cast<double>(maps.size());
        std::vector<double> warmed = bound_errors(there, out, back, maps, wanted, exponents, pool);
        const double worst = *std::max_element(
            exponents.errors.begin(), exponents.errors.begin() + static_cast<std::ptrdiff_t>(wanted));
        if (worst <= kCertain) break;
        there.rows = std::move(warmed);
    }
    exponents.values.resize(wanted);
    exponents.errors.resize(wanted);
    return exponents;
}

}  // namespace normscope
