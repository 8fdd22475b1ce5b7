// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/launch/gemm.h"
#include "core/backend/device.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace normscope::cuda {

/// The graph of the emulated device: captured calls, with their arguments of then.
class CapturedCalls final : public Graph {
  public:
    /// moves: counts the blocks of scratch memory that moved. before: called before each of the calls.
    CapturedCalls(const std::atomic<std::uint64_t>& moves, std::function<void()> before)
        : moves_(moves), at_(moves), before_(std::move(before)) {}
    std::vector<std::function<void()>>& calls() { return calls_; }
    bool valid() const override { return moves_ == at_; }
    void launch() override {
        for (const auto& call : calls_) {
            before_();
            call();
        }
    }

  private:
    const std::atomic<std::uint64_t>& moves_;
    std::uint64_t at_;
    std::function<void()> before_;
    std::vector<std::function<void()>> calls_;
};

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
    QueuedGemm(Context& context, GemmLibrary<T>& library) : context_(context), library_(library) {}
    void multiply(const Gemm<T>& g) override {
        if (!is_logged(context_.log(), gemm_traffic(g), "gemm")) return;
        context_.queue().submit([this, g] { library_.multiply(g); });
    }
    void linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) override {
        const Gemm<T> g{Form::Nt, R, out, in, {x, in}, {weight, in}, {y, out}};
        if (!is_logged(context_.log(), gemm_traffic(g), "gemm")) return;
        context_.queue().submit([=, this] { library_.linear(R, out, in, x, weight, bias, y); });
    }

  private:
    Context& context_;
    GemmLibrary<T>& library_;
};

/// The same for operands in 16 bits.
class QueuedShortGemm final : public ShortGemmLibrary {
  public:
    QueuedShortGemm(Context& context, ShortGemmLibrary& library) : context_(context), library_(library) {}
    void multiply(Rounding format, const Gemm<float, std::uint16_t>& g) override {
        if (!is_logged(context_.log(), gemm_traffic(g), "gemm")) return;
        context_.queue().submit([this, format, g] { library_.multiply(format, g); });
    }
    void multiply(Rounding format, const ShortProduct& g) override {
        if (!is_logged(context_.log(), product_traffic(g.M, g.N, g.K, 1, 2, 2, false), "gemm")) return;
        context_.queue().submit([this, format, g] { library_.multiply(format, g); });
    }

  private:
    Context& context_;
    ShortGemmLibrary& library_;
};

}  // namespace normscope::cuda
