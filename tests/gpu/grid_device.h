// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/cuda/ops/cuda_ops.h"
#include "core/backend/device.h"
#include "core/base/error.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace normscope::gpu_test {

/// GEMM by three loops in float64: needs no library.
class PlainGemm final : public cuda::GemmLibrary<double> {
  public:
    void multiply(const cuda::Gemm<double>& g) override {
        for (int i = 0; i < g.batch; ++i) {
            const double* A = g.A.data + at(i, g.A.stride);
            const double* B = g.B.data + at(i, g.B.stride);
            double* C = g.C.data + at(i, g.C.stride);
            for (int r = 0; r < g.M; ++r)
                for (int c = 0; c < g.N; ++c) {
                    double sum = 0;
                    for (int k = 0; k < g.K; ++k)
                        sum += entry(A, g.form == cuda::Form::Tn, r, k, g.A.ld) *
                               entry(B, g.form == cuda::Form::Nt, k, c, g.B.ld);
                    double& to = C[at(r, static_cast<std::size_t>(g.C.ld)) + static_cast<std::size_t>(c)];
                    to = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * to);
                }
        }
    }
    void linear(const cuda::Linear<double>& g) override {
        const auto [R, out, in, x, weight, bias, y] = g;
        multiply({cuda::Form::Nt, R, out, in, {x, in}, {weight, in}, {y, out}});
        if (!bias) return;
        for (int r = 0; r < R; ++r)
            for (int c = 0; c < out; ++c)
                y[at(r, static_cast<std::size_t>(out)) + static_cast<std::size_t>(c)] += bias[c];
    }

  private:
    static std::size_t at(int i, std::size_t stride) { return static_cast<std::size_t>(i) * stride; }
    static double entry(const double* x, bool transposed, int r, int c, int ld) {
        const int row = transposed ? c : r, column = transposed ? r : c;
        return x[at(row, static_cast<std::size_t>(ld)) + static_cast<std::size_t>(column)];
    }
};

/// The kernels in float64 on the emulated grid, unchecked: the reference of a GPU where neither OpenBLAS nor
/// libxsmm is installed. For one thread.
class GridDevice final : public Device, private cuda::Context {
  public:
    ~GridDevice() override {
        for (const auto& [slot, kept] : stored_) std::free(kept.first);
    }
    DeviceCapabilities capabilities() const override { return {"grid", "emulated grid", false, {}}; }
    DeviceMemory memory() const override { return {}; }
    void* allocate(std::size_t bytes) override {
        void* block = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (block) std::memset(block, 0xff, bytes);
        return block;
    }
    void release(void* block, std::size_t) noexcept override { std::free(block); }
    void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void zero(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }
    void synchronize() override {}
    void* scratch(int slot, std::size_t bytes) override {
        auto& [block, size] = stored_[slot];
        if (bytes > size) {
            std::free(block);
            block = allocate(bytes);
            size = bytes;
        }
        return block;
    }
    int shards(int sequences) const override { return sequences > 0 ? 1 : 0; }
    void run(ThreadPool&, int count, const std::function<void(int)>& piece) override {
        for (int i = 0; i < count; ++i) piece(i);
    }
    void run_ranges(ThreadPool&, int count, const std::function<void(int, int)>& range) override {
        if (count > 0) range(0, count);
    }
    PassOps<float> pass_ops_float(Rounding, PrecisionPolicy) override { only_float64(); }
    PassOps<double> pass_ops_double() override { return pass_; }
    StepOps<float>& step_ops_float() override { only_float64(); }
    StepOps<double>& step_ops_double() override { return step_; }

  private:
    [[noreturn]] static void only_float64() { throw InputError("the reference computes in float64"); }
    cuda::Queue queue() const override { return {{grid::Schedule::Order::Ascending, 1, false}}; }
    void* workspace(cuda::Work slot, std::size_t bytes) override {
        return scratch(kScratchSlots + static_cast<int>(slot), bytes);
    }

    cuda::DelayedSums& sums() override { return sums_; }

    std::map<int, std::pair<void*, std::size_t>> stored_;
    cuda::DelayedSums sums_;
    PlainGemm gemm_;
    cuda::CudaPassOps<double> pass_{*this, gemm_};
    cuda::CudaStepOps<double> step_{*this, gemm_};
};

}  // namespace normscope::gpu_test
