// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/block_lanczos.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/linear_algebra/orthonormal_rows.h"
#include "core/backend/cpu/linear_algebra/svd.h"
#include "core/base/nan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

std::vector<double> residual_bars(const std::vector<double>& values, const std::vector<double>& residuals,
                                  int count) {
    std::vector<double> bar(residuals.begin(), residuals.begin() + count);
    double squares = 0;
    for (std::size_t j = 0; j < residuals.size(); ++j) {
        for (std::size_t i = 0; i < bar.size() && j >= bar.size(); ++i) {
            const double gap = values[i] - (values[j] + residuals[j]);
            if (gap > 0) bar[i] = std::min(bar[i], squares / gap);
        }
        squares += residuals[j] * residuals[j];
    }
    return bar;
}

namespace {

constexpr double kRoundOff = std::numeric_limits<double>::epsilon();

/// Round-off of LAPACK and the orthogonalisation, relative to the largest value.
double round_off(int size) {
    return 4 * kRoundOff * std::sqrt(static_cast<double>(size));
}

double squared(const double* x, std::size_t count) {
    return row_kernels<double>().dot(count, x, x);
}

/// The two search spaces and the map between them. Row r of `right` is mapped to Σ_c projected[r, c]·(row c
/// of left).
class Bidiagonalisation {
  public:
    Bidiagonalisation(const LinearMap& map, const SpectrumOptions& options, ThreadPool& pool)
        : map_(map),
          check_(options.check),
          block_(std::clamp(options.count, 1, map.size)),
          capacity_(max_dimension(options)),
          right_(capacity_ + block_, map.size, {options.seed, "spectrum.right"}, pool),
          left_(capacity_, map.size, {options.seed, "spectrum.left"}, pool) {
        projected_.reserve(square(capacity_));
        defect_.reserve(square(capacity_));
        std::vector<double> ignored;
        right_.draw(block_, right_.next(block_));
        right_.take(block_, ignored);
    }

    /// One block further. False when a product is not finite.
    bool extend() {
        const int first = left_.count(), width = right_.count() - first;
        std::vector<double> c;
        product(map_.apply, width, right_.row(first), left_.next(width));
        if (!left_.take(width, c)) return false;
        const int m = left_.count();
        projected_.resize(at(m, 0));
        defect_.resize(at(m, 0));
        for (int r = 0; r < width; ++r)
            std::copy_n(c.begin() + r * m, m, projected_.begin() + at(first + r, 0));

        product(map_.apply_transpose, width, left_.row(first), right_.next(width));
        if (!right_.take(width, c)) return false;
        // The coefficients of Jᵀu_r on the right space are those of J up to the round-off of the products.
        const int known = m, stride = known + width;
        next_ = right_.count() - known;
        residual_.resize(static_cast<std::size_t>(width * next_));
        for (int r = 0; r < width; ++r) {
            for (int k = 0; k < known; ++k)
                defect_[at(first + r, k)] =
                    c[static_cast<std::size_t>(r * stride + k)] - projected_[at(k, first + r)];
            std::copy_n(c.begin() + r * stride + known, next_, residual_.begin() + r * next_);
        }
        last_ = width;
        return true;
    }

    int dimension() const { return left_.count(); }
    bool complete() const { return dimension() == map_.size; }
    bool full() const { return right_.count() > capacity_ || complete(); }
    int block() const { return block_; }

    /// Singular values of the map between the search spaces, descending; both bases [dimension, dimension].
    struct Ritz {
        std::vector<double> values, right, left;
    };
    Ritz ritz() const {
        const int m = dimension();
        std::vector<double> compact(square(m));
        for (int r = 0; r < m; ++r) std::copy_n(projected_.begin() + at(r, 0), m, compact.begin() + r * m);
        Ritz ritz{std::vector<double>(static_cast<std::size_t>(m)), std::vector<double>(square(m)),
                  std::vector<double>(square(m))};
        singular_decomposition(m, compact.data(), ritz.values.data(), ritz.right.data(), ritz.left.data());
        return ritz;
    }
    /// ‖Jᵀu_i − σ̂_i v_i‖ of the first `count` triples: what leaves the right space.
    std::vector<double> residuals(const Ritz& ritz, int count) const {
        const int m = dimension();
        std::vector<double> outside(static_cast<std::size_t>(count * next_)),
            norms(static_cast<std::size_t>(count));
        if (next_ == 0) return norms;
        matmul_nn<double>(count, next_, last_, 1, ritz.left.data() + (m - last_), m, residual_.data(), next_,
                          0, outside.data(), next_);
        for (int i = 0; i < count; ++i)
            norms[static_cast<std::size_t>(i)] =
                std::sqrt(squared(outside.data() + i * next_, static_cast<std::size_t>(next_)));
        return norms;
    }
    /// How far the products' round-off can move the values first … first + count − 1 by.
    std::vector<double> noise(const Ritz& ritz, int first, int count) const {
        const int m = dimension();
        std::vector<double> moved(static_cast<std::size_t>(count * m)),
            norms(static_cast<std::size_t>(count));
        matmul_nn<double>(count, m, m, 1, ritz.left.data() + static_cast<std::size_t>(first) * m, m,
                          defect_.data(), capacity_, 0, moved.data(), m);
        for (int i = 0; i < count; ++i)
            norms[static_cast<std::size_t>(i)] =
                2 * std::sqrt(squared(moved.data() + i * m, static_cast<std::size_t>(m))) +
                round_off(map_.size) * ritz.values.front();
        return norms;
    }
    /// The vector of the whole space that has these coordinates.
    static std::vector<double> expand(const OrthonormalRows& rows, int count, const double* coordinates) {
        std::vector<double> x(static_cast<std::size_t>(rows.size()));
        matmul_nn<double>(1, rows.size(), count, 1, coordinates, count, rows.row(0), rows.size(), 0, x.data(),
                          rows.size());
        return x;
    }
    std::vector<double> right_vector(const Ritz& ritz) const {
        return expand(right_, dimension(), ritz.right.data());
    }
    std::vector<double> left_vector(const Ritz& ritz) const {
        return expand(left_, dimension(), ritz.left.data());
    }

    /// ‖J‖_F² on the right space, whose images are known.
    double projected_square() const {
        double sum = 0;
        for (int r = 0; r < dimension(); ++r)
            sum += squared(&projected_[at(r, 0)], static_cast<std::size_t>(capacity_));
        return sum;
    }
    /// ‖J·x‖² for a block of random vectors x without their part in the right space.
    std::vector<double> samples_outside() {
        const auto size = static_cast<std::size_t>(map_.size), rows = static_cast<std::size_t>(block_);
        std::vector<double> x(rows * size), image(rows * size), squares(rows);
        right_.draw(block_, x.data());
        right_.project_out(dimension(), block_, x.data());
        product(map_.apply, block_, x.data(), image.data());
        for (std::size_t i = 0; i < rows; ++i) squares[i] = squared(image.data() + i * size, size);
        return squares;
    }

  private:
    static std::size_t square(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }
    std::size_t at(int r, int c) const {
        return static_cast<std::size_t>(r) * capacity_ + static_cast<std::size_t>(c);
    }
    int max_dimension(const SpectrumOptions& options) const {
        const double rows = static_cast<double>(options.memory) / (2.0 * sizeof(double) * map_.size);
        const int least = 4 * block_;
        const int most = std::max(least, static_cast<int>(std::min<double>(rows, options.max_dimension)));
        return std::min(map_.size, most / block_ * block_);
    }
    void product(const LinearMap::Product& f, int count, const double* in, double* out) const {
        if (check_) check_();
        f(count, in, out);
    }

    const LinearMap& map_;
    const std::function<void()>& check_;
    int block_, capacity_;
    OrthonormalRows right_, left_;
    std::vector<double> projected_, defect_;  ///< stride `capacity`, rows of right · left, and left · right
    std::vector<double> residual_;  ///< [last, next]: rows of Jᵀu over the right rows that came last
    int last_ = 0, next_ = 0;
};

/// The ln of the worst bar over the tolerance; at most 0 when all are met.
double shortfall(const std::vector<double>& values, const std::vector<double>& bar,
                 const std::vector<double>& noise, double tolerance) {
    double worst = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < bar.size(); ++i)
        if (bar[i] > noise[i]) worst = std::max(worst, std::log(bar[i] / (tolerance * values[i])));
    return worst;
}

/// When to check again: convergence is geometric, so two checks predict the third. A check costs a small
/// decomposition, a superfluous extension two products.
class ConvergenceSchedule {
  public:
    explicit ConvergenceSchedule(int block) : block_(block), due_(4 * block) {}
    bool due(int dimension) const { return dimension >= due_; }
    /// `shortfall` > 0: not called after convergence.
    void saw(int dimension, double shortfall) {
        int ahead = block_;
        if (dimension_ > 0 && shortfall < shortfall_) {
            const double needed = shortfall * (dimension - dimension_) / (shortfall_ - shortfall);
            ahead = static_cast<int>(std::min(0.8 * needed, 0.5 * dimension)) / block_ * block_;
        }
        due_ = dimension + std::max(block_, ahead);
        dimension_ = dimension;
        shortfall_ = shortfall;
    }

  private:
    int block_, due_, dimension_ = 0;
    double shortfall_ = 0;
};

Spectrum not_finite(int count, int size, const SpectrumOptions& options) {
    Spectrum s;
    for (auto* values : {&s.top, &s.top_error, &s.bottom, &s.bottom_error})
        values->assign(static_cast<std::size_t>(count), kNaN);
    if (options.vectors) s.left = s.right = std::vector<double>(static_cast<std::size_t>(size), kNaN);
    s.squared_norm = s.squared_norm_error = kNaN;
    return s;
}

}  // namespace

Spectrum block_lanczos(const LinearMap& map, const SpectrumOptions& options, ThreadPool& pool) {
    Bidiagonalisation spaces(map, options, pool);
    const int count = spaces.block();
    ConvergenceSchedule schedule(count);
    Bidiagonalisation::Ritz ritz;
    Spectrum s;
    for (;;) {
        if (!spaces.extend()) return not_finite(count, map.size, options);
        if (!schedule.due(spaces.dimension()) && !spaces.full()) continue;
        ritz = spaces.ritz();
        // Values beyond the requested ones locate the gap.
        const std::vector<double> residuals = spaces.residuals(ritz, std::min(spaces.dimension(), 3 * count));
        s.top_error = options.sharpen ? residual_bars(ritz.values, residuals, count)
                                      : std::vector<double>(residuals.begin(), residuals.begin() + count);
        const std::vector<double> noise = spaces.noise(ritz, 0, count);
        const double missing = shortfall(ritz.values, s.top_error, noise, options.tolerance);
        for (std::size_t i = 0; i < noise.size(); ++i) s.top_error[i] += noise[i];
        s.converged = missing <= 0;
        if (s.converged || spaces.full()) break;  // a shortfall of −∞ predicts nothing
        schedule.saw(spaces.dimension(), missing);
    }
    s.dimension = spaces.dimension();
    s.complete = spaces.complete();
    s.top.assign(ritz.values.begin(), ritz.values.begin() + count);
    s.bottom.assign(ritz.values.rbegin(), ritz.values.rbegin() + count);
    s.bottom_error = spaces.noise(ritz, s.dimension - count, count);
    std::reverse(s.bottom_error.begin(), s.bottom_error.end());
    for (std::size_t i = 0; i < s.bottom.size() && !s.complete; ++i) s.bottom_error[i] += s.bottom[i];
    if (options.vectors) {
        s.left = spaces.left_vector(ritz);
        s.right = spaces.right_vector(ritz);
    }
    if (options.frobenius) {
        s.squared_norm = spaces.projected_square();
        if (!s.complete) {
            const std::vector<double> samples = spaces.samples_outside();
            const auto number = static_cast<double>(samples.size());
            double mean = 0, spread = 0;
            for (double x : samples) mean += x / number;
            for (double x : samples) spread += (x - mean) * (x - mean);
            s.squared_norm += mean;
            // One sample has no spread; a normal quadratic form varies by at most √2 of
            // itself.
            s.squared_norm_error =
                samples.size() > 1 ? std::sqrt(spread / (number * (number - 1))) : std::sqrt(2.0) * mean;
        }
    }
    return s;
}

double dense_error(int size, double precision) {
    return round_off(size) + precision;
}

Spectrum dense_spectrum(const LinearMap& map, const SpectrumOptions& options) {
    constexpr int kChunk = 64;
    const auto size = static_cast<std::size_t>(map.size);
    const int count = std::clamp(options.count, 1, map.size);
    std::vector<double> transposed(size * size), unit(std::min<std::size_t>(kChunk, size) * size);
    for (int first = 0; first < map.size; first += kChunk) {
        if (options.check) options.check();
        const int some = std::min(kChunk, map.size - first);
        std::fill(unit.begin(), unit.end(), 0.0);
        for (int i = 0; i < some; ++i)
            unit[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(first + i)] = 1;
        map.apply(some, unit.data(), transposed.data() + static_cast<std::size_t>(first) * size);
    }
    const double norm = squared(transposed.data(), size * size);
    if (!std::isfinite(norm)) return not_finite(count, map.size, options);

    Spectrum s;
    std::vector<double> values(size);
    if (options.vectors) {
        std::vector<double> left(size * size), right(size * size);
        singular_decomposition(map.size, transposed.data(), values.data(), left.data(), right.data());
        s.left.assign(right.begin(), right.begin() + map.size);  // of the transpose
        s.right.assign(left.begin(), left.begin() + map.size);
    } else {
        singular_values(map.size, map.size, transposed.data(), values.data());
    }
    s.top.assign(values.begin(), values.begin() + count);
    s.bottom.assign(values.rbegin(), values.rbegin() + count);
    s.top_error.assign(s.top.size(), dense_error(map.size, map.precision) * values.front());
    s.bottom_error = s.top_error;
    if (options.frobenius) s.squared_norm = norm;
    s.converged = s.complete = true;
    s.dimension = map.size;
    return s;
}

}  // namespace normscope
