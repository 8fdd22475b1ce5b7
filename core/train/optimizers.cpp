// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/optimizers.h"

#include "core/base/assert.h"
#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

constexpr std::size_t kPiece =
    1 << 14;  // about the pieces of Transformer::sum_shards: the sums are in the core's cache

/// Whether the update of an entry depends on other entries of its tensor.
bool needs_matrix(OptimizerKind kind, const TensorInfo& tensor) {
    return kind == OptimizerKind::Muon && tensor.layer >= 0 && tensor.shape.size() == 2;
}

}  // namespace

bool divides_by_size(OptimizerKind kind) {
    return kind != OptimizerKind::Sgd;
}

bool divides_entries(OptimizerKind kind, const TensorInfo& tensor) {
    return divides_by_size(kind) && !needs_matrix(kind, tensor);
}

template <class T>
Optimizer<T>::Optimizer(const ParameterTable& table, OptimizerKind kind, Device& device)
    : table_(table), kind_(kind), device_(device), end_(table.size()) {
    restrict_to(0, table.size());
}

template <class T>
std::vector<ArenaPiece> Optimizer<T>::all_pieces() const {
    std::vector<ArenaPiece> pieces;
    for (const TensorInfo& tensor : table_.tensors()) {
        if (tensor.frozen || needs_matrix(kind_, tensor)) continue;
        for (std::size_t begin = 0; begin < tensor.count; begin += kPiece)
            pieces.push_back(
                {tensor.offset + begin, std::min(kPiece, tensor.count - begin), tensor.decays()});
    }
    return pieces;
}

template <class T>
std::vector<std::size_t> Optimizer<T>::part_ends(int parts) const {
    std::vector<std::size_t> begins{0, table_.size()};  // of what is not cut
    for (const ArenaPiece& piece : all_pieces()) begins.push_back(piece.offset);
    for (const TensorInfo& tensor : table_.tensors())
        if (!tensor.frozen && needs_matrix(kind_, tensor)) begins.push_back(tensor.offset);
    std::sort(begins.begin(), begins.end());
    std::vector<std::size_t> ends;
    for (int part = 1; part <= parts; ++part) {
        const std::size_t equal =
            table_.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
        const auto after = std::lower_bound(begins.begin(), begins.end(), equal);
        const bool before_is_nearer = after != begins.begin() && equal - after[-1] < *after - equal;
        ends.push_back(before_is_nearer ? after[-1] : *after);
    }
    return ends;
}

template <class T>
void Optimizer<T>::restrict_to(std::size_t begin, std::size_t end) {
    NORMSCOPE_ASSERT(!has_moments_, "an optimizer is restricted before its first step");
    begin_ = begin;
    end_ = end;
    std::vector<ArenaPiece> pieces;
    for (const ArenaPiece& piece : all_pieces())
        if (piece.offset >= begin && piece.offset < end)
            pieces.push_back({piece.offset - begin, piece.count, piece.decays});
    pieces_.upload(device_, pieces);
    matrices_.clear();
    for (const TensorInfo& tensor : table_.tensors())
        if (!tensor.frozen && needs_matrix(kind_, tensor) && tensor.offset >= begin && tensor.offset < end)
            matrices_.push_back(&tensor);
}

template <class T>
void Optimizer<T>::make_moments() {
    if (std::exchange(has_moments_, true)) return;
    for (Buffer<T>* moment : {&m_, &v_}) {
        if (moment == &v_ && !has_second()) continue;
        moment->resize(device_, end_ - begin_);
        moment->zero();
    }
}

template <class T>
std::vector<T> Optimizer<T>::moment1() const {
    return has_moments_ ? m_.values() : std::vector<T>(end_ - begin_);
}

template <class T>
std::vector<T> Optimizer<T>::moment2() const {
    if (!has_second()) return {};
    return has_moments_ ? v_.values() : std::vector<T>(end_ - begin_);
}

template <class T>
void Optimizer<T>::set_moments(const std::vector<T>& moment1, const std::vector<T>& moment2) {
    if (moment1.size() != table_.size() || moment2.size() != (has_second() ? table_.size() : 0))
        throw InputError("optimizer: the moments are those of another stack or another kind");
    m_.upload(device_, moment1.data() + begin_, end_ - begin_);
    if (has_second()) v_.upload(device_, moment2.data() + begin_, end_ - begin_);
    has_moments_ = true;
}

template <class T>
void Optimizer<T>::step(const OptimizerNumbers* n, const double* clip, const T* gradients, T* parameters,
                        ThreadPool& pool) {
    make_moments();
    gradients += begin_;
    parameters += begin_;
    StepOps<T>& ops = device_.step_ops<T>();
    device_.run_ranges(pool, static_cast<int>(pieces_.size()), [&](int first, int end) {
        switch (kind_) {
            case OptimizerKind::AdamW:
            case OptimizerKind::Muon:
                return ops.adamw(pieces_.data(), first, end, n, clip, gradients, parameters, m_.data(),
                                 v_.data());
            case OptimizerKind::Adam:
                return ops.adam(pieces_.data(), first, end, n, clip, gradients, parameters, m_.data(),
                                v_.data());
            case OptimizerKind::Sgd:
                return ops.sgd(pieces_.data(), first, end, n, clip, gradients, parameters, m_.data());
        }
    });
    device_.run(pool, static_cast<int>(matrices_.size()), [&](int i) {
        const TensorInfo& tensor = *matrices_[static_cast<std::size_t>(i)];
        const std::size_t at = tensor.offset - begin_;
        ops.muon(tensor.shape[0], tensor.shape[1], tensor.decays(), n, clip, gradients + at, parameters + at,
                 m_.data() + at);
    });
}

template <class T>
void Optimizer<T>::step(std::int64_t t, const OptimizerSpec& spec, double lr, double clip, const T* gradients,
                        T* parameters, ThreadPool& pool) {
    NORMSCOPE_ASSERT(t >= 1, "steps are counted from 1");
    NORMSCOPE_ASSERT(spec.kind == kind_, "the kind of optimizer is that of the constructor");
    const StepRule rule{spec.betas[0], spec.betas[1], spec.eps, 0, false};
    const OptimizerNumbers numbers = optimizer_numbers(rule, lr, spec.weight_decay, t);
    Buffer<OptimizerNumbers> on_device;
    Buffer<double> factor;
    on_device.upload(device_, &numbers, 1);
    factor.upload(device_, &clip, 1);
    step(on_device.data(), factor.data(), gradients, parameters, pool);
    device_.synchronize();  // the buffers end here
}

template <class T>
TrainableNorm<T>::TrainableNorm(const ParameterTable& table, Device& device) : device_(device) {
    std::vector<ArenaPiece> learned;
    for (const TensorInfo& tensor : table.tensors())
        if (!tensor.frozen) learned.push_back({tensor.offset, tensor.count, tensor.decays()});
    tensors_.upload(device, learned);
    squares_.resize(device, learned.size());
}

template <class T>
GradientSquares TrainableNorm<T>::squares(const T* gradients, double* norm, ThreadPool& pool) {
    StepOps<T>& ops = device_.step_ops<T>();
    const int count = static_cast<int>(tensors_.size());
    device_.run_ranges(pool, count, [&](int first, int end) {
        ops.piece_squares(tensors_.data(), first, end, gradients, squares_.data());
    });
    return {count, squares_.data(), nullptr, norm};
}

template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool& pool, Device& device) {
    Buffer<double> norm(device, 1);
    TrainableNorm<T> trained(table, device);
    const GradientSquares of = trained.squares(gradients, norm.data(), pool);
    device.step_ops<T>().norm_of_squares(of.count, of.squares, of.divisor, of.norm);
    return HostView<double>(norm)[0];
}

#define NORMSCOPE_INSTANTIATE(T)     \
    template class Optimizer<T>;     \
    template class TrainableNorm<T>; \
    template double gradient_norm<T>(const ParameterTable&, const T*, ThreadPool&, Device&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
