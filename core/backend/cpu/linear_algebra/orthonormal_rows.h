// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/shared/counter_rng.h"

#include <cstddef>
#include <vector>

namespace normscope {

/// A growing set of orthonormal vectors of one length, one per row. Work is split by the shape alone, so the
/// bits do not depend on the number of threads.
class OrthonormalRows {
  public:
    /// Capacity of `capacity` rows of `size` entries. Replacement directions are drawn by `key`.
    OrthonormalRows(int capacity, int size, NormalKey key, ThreadPool& pool);

    int count() const { return count_; }
    int size() const { return size_; }
    const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * width(); }
    /// Where the `given` rows for take() are written first, [given, size]; count + given is at most the
    /// capacity.
    double* next(int given);
    /// x [rows, size]: standard normals, fresh ones with every call.
    void draw(int rows, double* x);

    /// Appends the `given` rows at next(): Gram–Schmidt, twice, against all rows so far and one another.
    /// Writes coefficients [given, count before + given] with given row r = Σ_c coefficients[r, c]·row(c). A
    /// linearly dependent row becomes a random direction with coefficient 0, or is skipped once the rows span
    /// the whole space. False when an entry is not finite.
    bool take(int given, std::vector<double>& coefficients);

    /// Projects x [rows, size] onto the complement of the first `against` rows.
    void project_out(int against, int rows, double* x) const { project_out(0, against, rows, x, nullptr, 0); }

  private:
    std::size_t width() const { return static_cast<std::size_t>(size_); }
    double norm(const double* x) const;
    /// Against the rows first … end − 1; what is removed is added to `removed` [rows, stride] unless null.
    void project_out(int first, int end, int rows, double* x, double* removed, std::size_t stride) const;

    int size_, count_ = 0;
    NormalKey key_;
    std::uint64_t drawn_ = 0;
    double largest_ = 0;  ///< norm of any row given so far: what round-off is measured against
    ThreadPool& pool_;
    std::vector<double> rows_;  ///< reserved in full, so that rows never move; pages are touched on use
};

}  // namespace normscope
