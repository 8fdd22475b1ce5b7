// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/ops.h"
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
    template <class T>
    NormStatistics<T> operator()(const NormStatistics<T>& s) const {
        return {(*this)(s.mean), (*this)(s.rstd)};
    }
    template <class T>
    NormRows<T> operator()(const NormRows<T>& n) const {
        return {n.kind, n.rows, n.d, (*this)(n.x), (*this)(n.statistics), (*this)(n.gamma), (*this)(n.beta)};
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
        return {(*this)(t.qkv),           (*this)(t.qk),    (*this)(t.q_norm),     (*this)(t.k_norm),
                (*this)(t.probabilities), (*this)(t.mixed), (*this)(t.row_softmax)};
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

/// Another device's operations on the addresses of a TrappingDevice.
template <class T>
class TrappingOps final : public Ops<T> {
  public:
    TrappingOps(const TrappingDevice& device, Ops<T>& inner, std::atomic<std::size_t>& count)
        : device_(device), inner_(inner), count_(count) {}

    bool prefers_transposed() const override { return inner_.prefers_transposed(); }
    int step_rows() const override { return inner_.step_rows(); }
    bool needs_probabilities(int n, int d_head) const override {
        return inner_.needs_probabilities(n, d_head);
    }
#define NORMSCOPE_OPERATION(name, parameters, names)     \
    void name parameters override {                      \
        NORMSCOPE_FORWARD(name, NORMSCOPE_UNPACK names); \
    }
#define NORMSCOPE_UNPACK(...) __VA_ARGS__
#define NORMSCOPE_FORWARD(name, ...) forward(#name, &Ops<T>::name, __VA_ARGS__)
#include "core/backend/operations.inc"
#undef NORMSCOPE_FORWARD
#undef NORMSCOPE_UNPACK

  private:
    Translator translator(const char* operation) const {
        count_.fetch_add(1, std::memory_order_relaxed);
        return {device_, operation};
    }
    template <class... P>
    void forward(const char* name, void (Ops<T>::*operation)(P...), std::type_identity_t<P>... arguments) {
        const Translator at = translator(name);
        (inner_.*operation)(at(arguments)...);
    }
    /// sum_shards(), whose shards are a host array of addresses.
    void forward(const char* name,
                 void (Ops<T>::*operation)(const ArenaPiece*, int, int, int, const T* const*, T*, double*),
                 const ArenaPiece* pieces, int first, int end, int count, const T* const* shards, T* total,
                 double* squares) {
        const Translator at = translator(name);
        (inner_.*operation)(at(pieces), first, end, count, at.each(count, shards).data(), at(total),
                            at(squares));
    }
    const TrappingDevice& device_;
    Ops<T>& inner_;
    std::atomic<std::size_t>& count_;
};

}  // namespace normscope
