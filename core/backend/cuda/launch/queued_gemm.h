// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm_call.h"

#include <cstdint>

namespace normscope::cuda {

/// Of C[M, N] = op(A)·op(B), `batch` times; bytes of an entry of the operands and of C.
inline Traffic product_traffic(int M, int N, int K, int batch, double operand, double result, bool adds) {
    const double m = M, n = N, k = K;
    return Traffic{(m * k + k * n) * operand + (adds ? m * n * result : 0), m * n * result, 2 * m * n * k} *
           batch;
}
template <class T, class In>
Traffic gemm_traffic(const Gemm<T, In>& g) {
    return product_traffic(g.M, g.N, g.K, g.batch, sizeof(In), sizeof(T), g.beta != T(0));
}
/// Writes a call down where there is a log; false: it is not to be made.
inline bool is_logged(LaunchLog* log, const Traffic& traffic, const char* name) {
    if (!log) return true;
    log->state(traffic);
    log->add(name);
    return log->executes;
}

/// A GEMM library of the host in the queue of a context, so that its calls are captured too.
template <class T>
class QueuedGemm final : public GemmLibrary<T> {
  public:
    /// operands: how the library rounds them.
    QueuedGemm(Context& context, GemmLibrary<T>& library, Rounding operands)
        : context_(context), library_(library), arithmetic_(static_cast<int>(operands)) {}
    void multiply(const Gemm<T>& g) override {
        if (!is_logged(context_.log(), gemm_traffic(g), "gemm")) return;
        const auto multiply = [this](const Queue&, const Gemm<T>& of, const Spread& spread) {
            for_each_replica(of, spread, [this](const Gemm<T>& one) { library_.multiply(one); });
        };
        submit(context_.queue(), GemmCall(g, arithmetic_, multiply));
    }
    void linear(const Linear<T>& g) override {
        const Gemm<T> product{Form::Nt, g.R, g.out, g.in, {g.x, g.in}, {g.weight, g.in}, {g.y, g.out}};
        if (!is_logged(context_.log(), gemm_traffic(product), "gemm")) return;
        const auto multiply = [this](const Queue&, const Linear<T>& of, const Spread& spread) {
            for_each_replica(of, spread, [this](const Linear<T>& one) { library_.linear(one); });
        };
        submit(context_.queue(), GemmCall(g, arithmetic_, multiply));
    }

  private:
    Context& context_;
    GemmLibrary<T>& library_;
    int arithmetic_;
};

/// The same for operands in 16 bits.
class QueuedShortGemm final : public ShortGemmLibrary {
  public:
    QueuedShortGemm(Context& context, ShortGemmLibrary& library) : context_(context), library_(library) {}
    void multiply(Rounding format, const Gemm<float, std::uint16_t>& g) override {
        if (is_logged(context_.log(), gemm_traffic(g), "gemm")) queue(format, g);
    }
    void multiply(Rounding format, const ShortProduct& g) override {
        if (is_logged(context_.log(), product_traffic(g.M, g.N, g.K, 1, 2, 2, false), "gemm"))
            queue(format, g);
    }

  private:
    template <class G>
    void queue(Rounding format, const G& g) {
        const auto multiply = [this, format](const Queue&, const G& of, const Spread& spread) {
            for_each_replica(of, spread, [this, format](const G& one) { library_.multiply(format, one); });
        };
        submit(context_.queue(), GemmCall(g, static_cast<int>(format), multiply));
    }
    Context& context_;
    ShortGemmLibrary& library_;
};

}  // namespace normscope::cuda
