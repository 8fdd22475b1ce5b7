// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/lt_plans.h"

#include "core/backend/cuda/launch/check.h"
#include "core/base/error.h"

namespace normscope::cuda {

namespace {

struct Types {
    cudaDataType_t operands, scale;
    cublasComputeType_t compute;
};
Types types_of(LtType type) {
    switch (type) {
        case LtType::Float64:
            return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
        case LtType::Float32:
            break;
        case LtType::Tf32:
            return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case LtType::Bf16:
            return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
        case LtType::Fp16:
            return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    }
    return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
}

struct Preference {
    Preference() { check(cublas_lt().preference_create(&at), "preference"); }
    ~Preference() { cublas_lt().preference_destroy(at); }
    template <class V>
    void set(cublasLtMatmulPreferenceAttributes_t attribute, V value) {
        check(cublas_lt().preference_set(at, attribute, &value, sizeof value), "preference");
    }
    cublasLtMatmulPreference_t at = nullptr;
};

cublasLtMatrixLayout_t layout(const LtMatrix& m, cudaDataType_t type, int batch) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublas_lt().layout_create(&made, type, static_cast<std::uint64_t>(m.rows),
                                    static_cast<std::uint64_t>(m.columns), m.ld),
          "layout");
    if (batch == 1) return made;
    const std::int32_t count = batch;
    auto status = cublas_lt().layout_set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublas_lt().layout_set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.stride,
                                        sizeof m.stride);
    if (status != CUBLAS_STATUS_SUCCESS) cublas_lt().layout_destroy(made);
    check(status, "layout");
    return made;
}

}  // namespace

const char* word_of(LtType type) {
    constexpr const char* words[] = {"fp64", "fp32", "tf32", "bf16", "fp16"};
    return words[static_cast<int>(type)];
}

LtPlan::LtPlan(cublasLtHandle_t handle, const LtShape& shape, std::size_t workspace, const LtPlan* one) {
    try {
        make(shape);
        if (one)
            take(handle, *one, workspace);
        else
            choose(handle, shape, workspace);
    } catch (...) {
        destroy();
        throw;
    }
}

void LtPlan::choose(cublasLtHandle_t handle, const LtShape& shape, std::size_t workspace) {
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
    if (shape.short_result)
        preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                       static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    // Its default supposes 256 bytes; heads and biases begin anywhere.
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.A.alignment);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.B.alignment);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.D.alignment);
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.D.alignment);
    cublasLtMatmulHeuristicResult_t result{};
    int count = 0;
    const auto status =
        cublas_lt().heuristic(handle, product_, A_, B_, D_, D_, preference.at, 1, &result, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return;
    check(status, "choice of an algorithm");
    found_ = count > 0 && result.state == CUBLAS_STATUS_SUCCESS;
    algorithm_ = result.algo;
}

void LtPlan::take(cublasLtHandle_t handle, const LtPlan& one, std::size_t workspace) {
    cublasLtMatmulHeuristicResult_t result{};
    found_ = one.found_ &&
             cublas_lt().algorithm_check(handle, product_, A_, B_, D_, D_, &one.algorithm_, &result) ==
                 CUBLAS_STATUS_SUCCESS &&
             result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= workspace;
    algorithm_ = one.algorithm_;
}

void LtPlan::make(const LtShape& s) {
    const Types types = types_of(s.type);
    check(cublas_lt().desc_create(&product_, types.compute, types.scale), "descriptor");
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
        check(cublas_lt().desc_set(product_, attribute, &value, sizeof value), "descriptor");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, s.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, s.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (s.bias) {
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        // The heuristic reads no bias, but takes its alignment from the address (cublasLt.h).
        set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<const void*>(kLtVector));
        if (s.bias_stride != 0) set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, s.bias_stride);
    }
    A_ = layout(s.A, types.operands, s.batch);
    B_ = layout(s.B, types.operands, s.batch);
    D_ = layout(s.D, s.short_result ? types.operands : types.scale, s.batch);
}

LtPlan::~LtPlan() {
    destroy();
}
void LtPlan::destroy() noexcept {
    for (const cublasLtMatrixLayout_t made : {A_, B_, D_})
        if (made) cublas_lt().layout_destroy(made);
    if (product_) cublas_lt().desc_destroy(product_);
}

void LtPlan::run(cublasLtHandle_t handle, const void* alpha, const void* A, const void* B, const void* beta,
                 void* D, const void* bias, void* workspace, std::size_t workspace_bytes,
                 cudaStream_t stream) const {
    if (bias)
        check(cublas_lt().desc_set(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias), "bias");
    // With beta 0 cuBLAS does not read C, which is D here.
    check(cublas_lt().matmul(handle, product_, alpha, A, A_, B, B_, beta, D, D_, D, D_, &algorithm_,
                             workspace, workspace_bytes, stream),
          "GEMM");
}

LtPlans::LtPlans() {
    if (!cublas_lt().missing.empty()) throw SystemError(cublas_lt().missing);
    check(cublas_lt().create(&handle_), "start");
    check(cudaMalloc(&workspace_, kWorkspace), "workspace of GEMM");
}

// cuBLASLt's handle ends with the process: a device is never closed.
LtPlans::~LtPlans() {
    cudaFree(workspace_);
}

const LtPlan& LtPlans::plan_of(const LtShape& shape, const LtPlan* one) {
    if (const auto known = by_shape_.find(shape); known != by_shape_.end()) {
        plans_.splice(plans_.begin(), plans_, known->second);
    } else {
        if (plans_.size() == kMax) {
            by_shape_.erase(plans_.back().shape);
            plans_.pop_back();
        }
        plans_.emplace_front(handle_, shape, kWorkspace, one);
        by_shape_.emplace(shape, plans_.begin());
    }
    return plans_.front().plan;
}

bool LtPlans::run(const LtShape& shape, const void* alpha, const void* A, const void* B, const void* beta,
                  void* D, const void* bias, cudaStream_t stream, const LtShape* one) {
    // Held during the call: the descriptor contains the address of the bias.
    std::lock_guard lock(mutex_);
    // The single product's plan is the last used one then, which is not dropped for another.
    const LtPlan& plan = plan_of(shape, one ? &plan_of(*one, nullptr) : nullptr);
    if (!plan.has_algorithm()) return false;
    plan.run(handle_, alpha, A, B, beta, D, bias, workspace_, kWorkspace, stream);
    return true;
}

}  // namespace normscope::cuda
