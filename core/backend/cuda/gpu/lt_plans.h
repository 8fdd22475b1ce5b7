// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/gpu/cublas_lt.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace normscope::cuda {

/// The types of a product. Alpha, beta and sums are float32 but for Float64, and so is D unless LtShape
/// states otherwise. A bias has the type of D (cublasLt.h, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE). Where D is
/// float32, parts of a sum over K are added in float32 under any reduction scheme; where it is in 16 bits,
/// the scheme that would add them in 16 bits is not allowed.
///   Float32  true float32 (CUBLAS_COMPUTE_32F)
///   Tf32     float32 operands, which cuBLAS may convert to TF32 (CUBLAS_COMPUTE_32F_FAST_TF32): how it
///            rounds them is not documented
///   Bf16, Fp16  operands in 16 bits, their products exact in float32
enum class LtType { Float64, Float32, Tf32, Bf16, Fp16 };
/// As in messages: "bf16".
const char* word_of(LtType type);

/// Bytes of the widest load; larger alignments of operands choose nothing else.
inline constexpr std::size_t kLtVector = 16;

/// One matrix of a call as cuBLASLt sees it, column-major.
struct LtMatrix {
    int rows, columns, ld;
    /// Of the batch, in entries. 0: the same matrix for all, which cuBLAS allows for A and B, not for D
    /// (cuBLAS documentation, "cublas<t>gemmStridedBatched()").
    std::int64_t stride;
    /// A power of two that divides the addresses of all matrices, at most kLtVector.
    std::uint32_t alignment;
    auto operator<=>(const LtMatrix&) const = default;
};

/// D = alpha·op(A)·op(B) + beta·D. A bias is at a multiple of kLtVector.
struct LtShape {
    LtType type;
    bool short_result;  ///< D has the type of the operands
    bool a_transposed, b_transposed, bias;
    int batch;
    LtMatrix A, B, D;
    std::int64_t bias_stride = 0;  ///< of the batch, in entries
    bool as_one = false;           ///< by the algorithm of LtShape with batch 1: the bits of single products
    auto operator<=>(const LtShape&) const = default;
};

/// The descriptors and the algorithm of a shape.
class LtPlan {
  public:
    /// Asks the heuristic once, with at most that workspace; has_algorithm() is false where cuBLASLt has
    /// none. one: not null, its algorithm is taken, if it can compute this shape.
    LtPlan(cublasLtHandle_t handle, const LtShape& shape, std::size_t workspace, const LtPlan* one);
    ~LtPlan();
    LtPlan(const LtPlan&) = delete;
    LtPlan& operator=(const LtPlan&) = delete;

    bool has_algorithm() const { return found_; }
    /// alpha and beta point to float32 or, for Float64, float64 values on the host; bias is null without one.
    void run(cublasLtHandle_t handle, const void* alpha, const void* A, const void* B, const void* beta,
             void* D, const void* bias, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream) const;

  private:
    void make(const LtShape& shape);
    void choose(cublasLtHandle_t handle, const LtShape& shape, std::size_t workspace);
    void take(cublasLtHandle_t handle, const LtPlan& one, std::size_t workspace);
    void destroy() noexcept;

    cublasLtMatmulDesc_t product_ = nullptr;
    cublasLtMatrixLayout_t A_ = nullptr, B_ = nullptr, D_ = nullptr;
    cublasLtMatmulAlgo_t algorithm_{};
    bool found_ = false;
};

/// The plans of a device, the kMax last used ones: the heuristic costs tens of microseconds. One workspace,
/// which is enough since all products are in one stream. Any thread.
class LtPlans {
  public:
    static constexpr std::size_t kMax = 512;
    static constexpr std::size_t kWorkspace = std::size_t{32} << 20;

    /// For the current device. SystemError without cuBLASLt.
    LtPlans();
    ~LtPlans();
    LtPlans(const LtPlans&) = delete;
    LtPlans& operator=(const LtPlans&) = delete;

    /// False, with nothing done, where cuBLASLt has no algorithm for the shape. one: of a shape with as_one,
    /// that of its single products.
    bool run(const LtShape& shape, const void* alpha, const void* A, const void* B, const void* beta, void* D,
             const void* bias, cudaStream_t stream, const LtShape* one = nullptr);

  private:
    struct Entry {
        Entry(cublasLtHandle_t handle, const LtShape& of, std::size_t workspace, const LtPlan* one)
            : shape(of), plan(handle, of, workspace, one) {}
        const LtShape shape;
        LtPlan plan;
    };
    const LtPlan& plan_of(const LtShape& shape, const LtPlan* one);

    cublasLtHandle_t handle_ = nullptr;
    void* workspace_ = nullptr;
    std::mutex mutex_;
    std::list<Entry> plans_;  ///< the last used first
    std::map<LtShape, std::list<Entry>::iterator> by_shape_;
};

}  // namespace normscope::cuda
