// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/gpu/cublas_lt.h"

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace normscope::cuda {

/// One matrix of a call as cuBLASLt sees it, column-major.
struct LtMatrix {
    int rows, columns, ld;
    std::int64_t stride;      ///< of the batch, in entries; 0: the same matrix for all
    std::uint32_t alignment;  ///< a power of two that divides the addresses of all matrices, at most 16
    auto operator<=>(const LtMatrix&) const = default;
};

/// D = alpha·op(A)·op(B) + beta·D, in the type's own arithmetic.
struct LtShape {
    bool float64, a_transposed, b_transposed, bias;
    int batch;
    LtMatrix A, B, D;
    auto operator<=>(const LtShape&) const = default;
};

/// The descriptors and the algorithm of a shape.
class LtPlan {
  public:
    /// Asks the heuristic once, with at most that workspace; has_algorithm() is false where cuBLASLt has
    /// none.
    LtPlan(cublasLtHandle_t handle, const LtShape& shape, std::size_t workspace);
    ~LtPlan();
    LtPlan(const LtPlan&) = delete;
    LtPlan& operator=(const LtPlan&) = delete;

    bool has_algorithm() const { return found_; }
    /// alpha and beta point to values of the shape's type on the host; bias is null without one.
    void run(cublasLtHandle_t handle, const void* alpha, const void* A, const void* B, const void* beta,
             void* D, const void* bias, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream) const;

  private:
    void make(const LtShape& shape);
    void destroy() noexcept;

    cublasLtMatmulDesc_t product_ = nullptr;
    cublasLtMatrixLayout_t A_ = nullptr, B_ = nullptr, D_ = nullptr;
    cublasLtMatmulAlgo_t algorithm_{};
    bool found_ = false;
};

/// The plans of a device, the kMost last used ones: the heuristic costs tens of microseconds. One workspace,
/// which is enough since all products are in one stream. Any thread.
class LtPlans {
  public:
    static constexpr std::size_t kMost = 512;
    static constexpr std::size_t kWorkspace = std::size_t{32} << 20;

    /// For the current device. SystemError without cuBLASLt.
    LtPlans();
    ~LtPlans();
    LtPlans(const LtPlans&) = delete;
    LtPlans& operator=(const LtPlans&) = delete;

    /// False, with nothing done, where cuBLASLt has no algorithm for the shape.
    bool run(const LtShape& shape, const void* alpha, const void* A, const void* B, const void* beta, void* D,
             const void* bias, cudaStream_t stream);

  private:
    struct Entry {
        Entry(cublasLtHandle_t handle, const LtShape& of, std::size_t workspace)
            : shape(of), plan(handle, of, workspace) {}
        const LtShape shape;
        LtPlan plan;
    };
    cublasLtHandle_t handle_ = nullptr;
    void* workspace_ = nullptr;
    std::mutex mutex_;
    std::list<Entry> plans_;  ///< the last used first
    std::map<LtShape, std::list<Entry>::iterator> by_shape_;
};

}  // namespace normscope::cuda
