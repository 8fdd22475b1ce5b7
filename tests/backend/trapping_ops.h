// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/pass_ops.h"
#include "core/backend/step_ops.h"
#include "tests/backend/trapping_device.h"

#include <atomic>
#include <optional>
#include <type_traits>
#include <vector>

namespace normscope {

/// From handed-out addresses to real ones, for one call of an operation.
class Translator {
  public:
    Translator(const TrappingDevice& device, const char* operation)
        : device_(device), operation_(operation) {}
    template <class P>
    P* operator()(P* address) const {
        return static_cast<P*>(device_.real(address, operation_));
    }
    /// Values of the host.
    template <class V>
    requires std::is_arithmetic_v<V> || std::is_enum_v<V> V operator()(V value) const { return value; }
    const AttentionShape& operator()(const AttentionShape& shape) const { return shape; }
    const StepRule& operator()(const StepRule& rule) const { return rule; }
    const PassRule& operator()(const PassRule& rule) const { return rule; }
    template <class T>
    StepLosses<T> operator()(const StepLosses<T>& l) const {
        return {l.count, (*this)(l.losses), l.divisor};
    }
    GradientSquares operator()(const GradientSquares& s) const {
        return {s.count, (*this)(s.squares), (*this)(s.divisor), (*this)(s.norm)};
    }
    template <class T>
    NormStatistics<T> operator()(const NormStatistics<T>& s) const {
        return {(*this)(s.mean), (*this)(s.rstd)};
    }
    template <class T>
    NormRows<T> operator()(const NormRows<T>& n) const {
        return {n.kind, n.rows, n.d, (*this)(n.x), (*this)(n.statistics), (*this)(n.gamma), (*this)(n.beta)};
    }
    template <class T>
    BranchGradient<T> operator()(const BranchGradient<T>& g) const {
        return {(*this)(g.factor), {(*this)(g.rows.floats), (*this)(g.rows.shorts)}, (*this)(g.sums)};
    }
    template <class T>
    LinearWeights<T> operator()(const LinearWeights<T>& w) const {
        return {(*this)(w.weight), (*this)(w.transposed), (*this)(w.bias)};
    }
    template <class T>
    AttentionWeights<T> operator()(const AttentionWeights<T>& w) const {
        return {(*this)(w.qkv),    (*this)(w.out), (*this)(w.q_norm), (*this)(w.k_norm),
                (*this)(w.angles), (*this)(w.eps), (*this)(w.scale)};
    }
    template <class T>
    AttentionTape<T> operator()(const AttentionTape<T>& t) const {
        return {(*this)(t.qkv),           (*this)(t.qk),    (*this)(t.q_norm),      (*this)(t.k_norm),
                (*this)(t.probabilities), (*this)(t.mixed), (*this)(t.row_softmax), (*this)(t.capped)};
    }
    template <class T>
    struct Gradients {
        std::optional<AttentionGradients<T>> real;
        operator const AttentionGradients<T>*() const { return real ? &*real : nullptr; }
    };
    /// Addresses in a structure of the host.
    template <class T>
    Gradients<T> operator()(const AttentionGradients<T>* g) const {
        if (!g) return {};
        return {AttentionGradients<T>{(*this)(g->wqkv), (*this)(g->bqkv), (*this)(g->wo), (*this)(g->bo),
                                      (*this)(g->q_norm), (*this)(g->k_norm), g->fresh}};
    }
    /// Of a host array of addresses.
    template <class T>
    std::vector<const T*> each(int count, const T* const* addresses) const {
        std::vector<const T*> real;
        for (int i = 0; i < count; ++i) real.push_back((*this)(addresses[i]));
        return real;
    }

  private:
    const TrappingDevice& device_;
    const char* operation_;
};

/// One class of another device's operations on the addresses of a TrappingDevice. `Operations`: the class.
template <class T, class Operations>
class TrappingCalls {
  public:
    TrappingCalls(const TrappingDevice& device, Operations& wrapped, std::atomic<std::size_t>& count)
        : inner(wrapped), device_(device), count_(count) {}

    template <class... P>
    void forward(const char* name, void (Operations::*operation)(P...),
                 std::type_identity_t<P>... arguments) const {
        [[maybe_unused]] const Translator at = translator(name);
        (inner.*operation)(at(arguments)...);
    }
    /// sum_shards(), whose shards are a host array of addresses.
    void forward(const char* name,
                 void (Operations::*operation)(const ArenaPiece*, int, int, int, const T* const*, T*,
                                               double*),
                 const ArenaPiece* pieces, int first, int end, int count, const T* const* shards, T* total,
                 double* squares) const {
        const Translator at = translator(name);
        (inner.*operation)(at(pieces), first, end, count, at.each(count, shards).data(), at(total),
                           at(squares));
    }

    Operations& inner;

  private:
    Translator translator(const char* operation) const {
        count_.fetch_add(1, std::memory_order_relaxed);
        return {device_, operation};
    }

    const TrappingDevice& device_;
    std::atomic<std::size_t>& count_;
};

#define NORMSCOPE_UNPACK(...) __VA_ARGS__
#define NORMSCOPE_FORWARD(name, ...) calls_.forward(#name, &Operations::name __VA_OPT__(, ) __VA_ARGS__)

template <class T>
class TrappingLayerOps final : public LayerOps<T> {
    using Operations = LayerOps<T>;

  public:
    TrappingLayerOps(const TrappingDevice& device, LayerOps<T>& inner, std::atomic<std::size_t>& count)
        : calls_(device, inner, count) {}

    bool prefers_transposed() const override { return calls_.inner.prefers_transposed(); }
    int step_rows() const override { return calls_.inner.step_rows(); }
    bool needs_probabilities(int n, int d_head) const override {
        return calls_.inner.needs_probabilities(n, d_head);
    }
#define NORMSCOPE_OPERATION(name, parameters, names)     \
    void name parameters override {                      \
        NORMSCOPE_FORWARD(name, NORMSCOPE_UNPACK names); \
    }
#include "core/backend/layer_operations.inc"

  private:
    TrappingCalls<T, LayerOps<T>> calls_;
};

template <class T>
class TrappingElementwiseOps final : public ElementwiseOps<T> {
    using Operations = ElementwiseOps<T>;

  public:
    TrappingElementwiseOps(const TrappingDevice& device, ElementwiseOps<T>& inner,
                           std::atomic<std::size_t>& count)
        : calls_(device, inner, count) {}

#define NORMSCOPE_OPERATION(name, parameters, names)     \
    void name parameters override {                      \
        NORMSCOPE_FORWARD(name, NORMSCOPE_UNPACK names); \
    }
#include "core/backend/elementwise_operations.inc"

  private:
    TrappingCalls<T, ElementwiseOps<T>> calls_;
};

template <class T>
class TrappingStepOps final : public StepOps<T> {
    using Operations = StepOps<T>;

  public:
    TrappingStepOps(const TrappingDevice& device, StepOps<T>& inner, std::atomic<std::size_t>& count)
        : calls_(device, inner, count) {}

#define NORMSCOPE_OPERATION(name, parameters, names)     \
    void name parameters override {                      \
        NORMSCOPE_FORWARD(name, NORMSCOPE_UNPACK names); \
    }
#include "core/backend/step_operations.inc"

  private:
    TrappingCalls<T, StepOps<T>> calls_;
};

#undef NORMSCOPE_FORWARD
#undef NORMSCOPE_UNPACK

/// The operations of a pass.
template <class T>
struct TrappingPassOps {
    TrappingPassOps(const TrappingDevice& device, PassOps<T> inner, std::atomic<std::size_t>& count)
        : layers(device, inner.layers, count), elementwise(device, inner.elementwise, count) {}
    operator PassOps<T>() { return {layers, elementwise}; }
    TrappingLayerOps<T> layers;
    TrappingElementwiseOps<T> elementwise;
};

}  // namespace normscope
