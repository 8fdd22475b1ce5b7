// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/orthonormal_rows.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {
constexpr int kRowPiece = 64, kColumnPiece = 512;  // tile of one thread
constexpr double kNegligible = 1e-15;              // of the largest norm seen
constexpr double kStored =
    0.5;  // a row that keeps this share of its norm has lost no accuracy ("twice is enough")

int pieces(int count, int piece) {
    return (count + piece - 1) / piece;
}
}  // namespace

OrthonormalRows::OrthonormalRows(int capacity, int size, NormalKey key, ThreadPool& pool)
    : size_(size), key_(key), pool_(pool) {
    rows_.reserve(static_cast<std::size_t>(capacity) * width());
}

double* OrthonormalRows::next(int given) {
    const std::size_t begin = static_cast<std::size_t>(count_) * width();
    rows_.resize(std::max(rows_.size(), begin + static_cast<std::size_t>(given) * width()));
    return rows_.data() + begin;
}

double OrthonormalRows::norm(const double* x) const {
    return std::sqrt(row_kernels<double>().dot(width(), x, x));
}

void OrthonormalRows::draw(int rows, double* x) {
    for (int i = 0; i < rows; ++i, x += size_) fill_normal_row(key_, drawn_++, 0, width(), 1.0, x);
}

void OrthonormalRows::project_out(int first, int end, int rows, double* x, double* removed,
                                  std::size_t stride) const {
    const int against = end - first;
    if (against == 0) return;
    std::vector<double> part(static_cast<std::size_t>(rows) * static_cast<std::size_t>(against));
    pool_.run(pieces(against, kRowPiece), [&](int i) {
        const int begin = i * kRowPiece, some = std::min(kRowPiece, against - begin);
        matmul_nt<double>(rows, some, size_, 1, x, size_, row(first + begin), size_, 0, part.data() + begin,
                          against);
    });
    pool_.run(pieces(size_, kColumnPiece), [&](int i) {
        const int begin = i * kColumnPiece, some = std::min(kColumnPiece, size_ - begin);
        matmul_nn<double>(rows, some, against, -1, part.data(), against, row(first) + begin, size_, 1,
                          x + begin, size_);
    });
    if (!removed) return;
    for (int r = 0; r < rows; ++r)
        row_kernels<double>().axpby(static_cast<std::size_t>(against), 1, removed + r * stride + first, 1,
                                    part.data() + r * against, removed + r * stride + first);
}

bool OrthonormalRows::take(int given, std::vector<double>& coefficients) {
    const auto rows = static_cast<std::size_t>(given), stride = static_cast<std::size_t>(count_) + rows;
    coefficients.assign(rows * stride, 0);
    double* x = next(given);
    const auto lengths = [&] {
        std::vector<double> values(rows);
        for (std::size_t r = 0; r < rows; ++r) values[r] = norm(x + r * width());
        return values;
    };
    for (double length : lengths()) {
        if (!std::isfinite(length)) return false;
        largest_ = std::max(largest_, length);
    }
    project_out(0, count_, given, x, coefficients.data(), stride);
    const std::vector<double> after_once = lengths();
    project_out(0, count_, given, x, coefficients.data(), stride);

    // Then one by one against the new rows before it; against all again where so much cancelled that
    // round-off shows.
    const int before = count_;
    const double nothing = kNegligible * largest_;
    for (std::size_t r = 0; r < rows && count_ < size_; ++r) {
        double* mine = next(1);
        const double* from = x + r * width();
        if (from != mine) std::copy(from, from + size_, mine);
        double* noted = coefficients.data() + r * stride;
        double length = after_once[r];
        for (int first = before;; first = 0) {
            if (!(length > nothing)) {
                noted = nullptr;
                draw(1, mine);
                length = norm(mine);
                first = 0;
            }
            project_out(first, count_, 1, mine, noted, stride);
            const double left = norm(mine);
            const bool settled = left > kStored * length && left > nothing;
            length = left;
            if (settled) break;
        }
        row_kernels<double>().scale(width(), 1 / length, mine, mine);
        if (noted) noted[count_] = length;
        ++count_;
    }
    return true;
}

}  // namespace normscope
