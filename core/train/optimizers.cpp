// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/optimizers.h"

#include "core/backend/cpu/large_pages.h"
#include "core/backend/cpu/matmul.h"
#include "core/backend/cpu/row_kernels.h"
#include "core/stack/error.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr std::size_t kPiece =
    1 << 14;  // about the pieces of Transformer::reduce: a core finds its sums in its cache

/// Whether the update of an entry looks at other entries of its tensor.
bool needs_whole(OptimizerKind kind, const TensorInfo& tensor) {
    return kind == OptimizerKind::Muon && tensor.layer >= 0 && tensor.shape.size() == 2;
}

/// What the update of one piece looks at.
template <class T>
struct Update {
    const OptimizerSpec& spec;
    double lr, gradient_scale;
    std::int64_t steps;
    const TensorInfo& tensor;
    std::size_t count;  ///< entries of the piece
    const T* g;
    T *p, *m, *v;

    double decay() const { return tensor.decays() ? 1 - lr * spec.weight_decay : 1; }
};

template <class T>
void adamw(const Update<T>& u, const T* g, double gradient_scale, double decay) {
    const double t = static_cast<double>(u.steps);
    const row::AdamWStep<T> constants{static_cast<T>(u.lr),
                                      static_cast<T>(u.spec.betas[0]),
                                      static_cast<T>(u.spec.betas[1]),
                                      static_cast<T>(u.spec.eps),
                                      static_cast<T>(decay),
                                      static_cast<T>(gradient_scale),
                                      static_cast<T>(1 - std::pow(u.spec.betas[0], t)),
                                      static_cast<T>(std::sqrt(1 - std::pow(u.spec.betas[1], t)))};
    row_kernels<T>().adamw(u.count, constants, u.p, g, u.m, u.v);
}

/// gradient_scale·g + wd·p, in a buffer of this thread.
template <class T>
const T* decayed_gradient(const Update<T>& u) {
    thread_local std::vector<T> buffer;
    buffer.resize(u.count);
    row_kernels<T>().combine(u.count, static_cast<T>(u.gradient_scale), u.g,
                             static_cast<T>(u.spec.weight_decay), u.p, buffer.data());
    return buffer.data();
}

template <class T>
void sgd(const Update<T>& u) {
    const auto& k = row_kernels<T>();
    k.combine(u.count, static_cast<T>(u.spec.betas[0]), u.m, 1, decayed_gradient(u), u.m);
    k.combine(u.count, 1, u.p, static_cast<T>(-u.lr), u.m, u.p);
}

template <class T>
void muon(const Update<T>& u) {
    const auto& k = row_kernels<T>();
    const int rows = u.tensor.shape[0], columns = u.tensor.shape[1];
    const T kept = static_cast<T>(Muon::momentum),
            fresh = static_cast<T>((1 - Muon::momentum) * u.gradient_scale);
    k.combine(u.count, kept, u.m, fresh, u.g, u.m);
    thread_local std::vector<T> direction;
    direction.resize(u.count);
    k.combine(u.count, kept, u.m, fresh, u.g, direction.data());
    orthogonalise(rows, columns, direction);
    const double scale = std::sqrt(std::max(1.0, static_cast<double>(rows) / columns));
    k.combine(u.count, static_cast<T>(u.decay()), u.p, static_cast<T>(-u.lr * scale), direction.data(), u.p);
}

/// `to` [columns, rows] = `from` [rows, columns] transposed.
template <class T>
void transpose(int rows, int columns, const std::vector<T>& from, std::vector<T>& to) {
    to.resize(from.size());
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            to[static_cast<std::size_t>(c) * rows + r] = from[static_cast<std::size_t>(r) * columns + c];
}

}  // namespace

template <class T>
void orthogonalise(int rows, int columns, std::vector<T>& matrix) {
    thread_local std::vector<T> turned, gram, polynomial, product;
    const bool tall = rows > columns;
    std::vector<T>& x = tall ? turned : matrix;
    if (tall) transpose(rows, columns, matrix, x);
    const int m = std::min(rows, columns), n = std::max(rows, columns);
    const auto square = static_cast<std::size_t>(m) * static_cast<std::size_t>(m);
    gram.resize(square);
    polynomial.resize(square);
    product.resize(x.size());

    const auto& k = row_kernels<T>();
    double squares = 0;
    for (T v : x) squares += static_cast<double>(v) * static_cast<double>(v);
    k.scale(x.size(), static_cast<T>(1 / (std::sqrt(squares) + Muon::tiny)), x.data(), x.data());
    for (int round = 0; round < Muon::rounds; ++round) {
        matmul_nt<T>(m, m, n, 1, x.data(), n, x.data(), n, 0, gram.data(), m);
        polynomial = gram;
        matmul_nn<T>(m, m, m, static_cast<T>(Muon::c), gram.data(), m, gram.data(), m,
                     static_cast<T>(Muon::b), polynomial.data(), m);
        product = x;
        matmul_nn<T>(m, n, m, 1, polynomial.data(), m, x.data(), n, static_cast<T>(Muon::a), product.data(),
                     n);
        std::swap(x, product);
    }
    if (tall) transpose(columns, rows, x, matrix);
}

template <class T>
Optimizer<T>::Optimizer(const ParameterTable& table, OptimizerKind kind)
    : table_(table), kind_(kind) {
    resize_on_large_pages(m_, table.size());
    if (kind != OptimizerKind::Sgd) resize_on_large_pages(v_, table.size());
    for (const TensorInfo& tensor : table.tensors()) {
        if (tensor.frozen) continue;
        const std::size_t length = needs_whole(kind, tensor) ? tensor.count : kPiece;
        for (std::size_t begin = 0; begin < tensor.count; begin += length)
            pieces_.push_back({&tensor, tensor.offset + begin, std::min(length, tensor.count - begin)});
    }
}

template <class T>
void Optimizer<T>::set_moments(const std::vector<T>& moment1, const std::vector<T>& moment2) {
    if (moment1.size() != m_.size() || moment2.size() != v_.size())
        throw InputError("optimizer: the moments are those of another stack or another kind");
    m_ = moment1;
    v_ = moment2;
}

template <class T>
void Optimizer<T>::step(const OptimizerSpec& spec, double lr, double gradient_scale, const T* gradients,
                        T* parameters, ThreadPool& pool) {
    ++steps;
    pool.run(static_cast<int>(pieces_.size()), [&](int i) {
        const auto& [tensor, at, count] = pieces_[static_cast<std::size_t>(i)];
        const Update<T> u{spec,           lr,
                          gradient_scale, steps,
                          *tensor,        count,
                          gradients + at, parameters + at,
                          m_.data() + at, v_.empty() ? nullptr : v_.data() + at};
        switch (kind_) {
            case OptimizerKind::AdamW:
                return adamw(u, u.g, gradient_scale, u.decay());
            case OptimizerKind::Adam:
                return adamw(u, decayed_gradient(u), 1, 1);
            case OptimizerKind::Sgd:
                return sgd(u);
            case OptimizerKind::Muon:
                if (needs_whole(kind_, *tensor)) return muon(u);
                return adamw(u, u.g, gradient_scale, u.decay());
        }
    });
}

template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool& pool) {
    const auto& tensors = table.tensors();
    std::vector<double> squares(tensors.size());
    pool.run(static_cast<int>(tensors.size()), [&](int i) {
        const TensorInfo& tensor = tensors[static_cast<std::size_t>(i)];
        if (tensor.frozen) return;
        double sum = 0;
        for (std::size_t k = 0; k < tensor.count; ++k) {
            const double g = static_cast<double>(gradients[tensor.offset + k]);
            sum += g * g;
        }
        squares[static_cast<std::size_t>(i)] = sum;
    });
    double total = 0;
    for (double square : squares) total += square;
    return std::sqrt(total);
}

double clip_factor(double norm, double clip) {
    return clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0;
}

#define NORMSCOPE_INSTANTIATE(T)                               \
    template class Optimizer<T>;                               \
    template void orthogonalise<T>(int, int, std::vector<T>&); \
    template double gradient_norm<T>(const ParameterTable&, const T*, ThreadPool&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
