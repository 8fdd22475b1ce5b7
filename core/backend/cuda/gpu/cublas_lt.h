// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cublasLt.h>

#include <string>

namespace normscope::cuda {

/// The functions of cuBLASLt that are used. The library is opened at run time, so that a machine without it
/// still loads the plug-in.
struct CublasLt {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;
    decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
    decltype(&cublasLtMatmulAlgoCheck) algorithm_check = nullptr;
    decltype(&cublasLtGetStatusString) status_string = nullptr;
    std::string missing;  ///< empty, or one line on why the functions are null
};

/// Opened by the first call: libcublasLt.so.13, else .12, where the dynamic linker or CUDA's default folder
/// has it.
const CublasLt& cublas_lt();

/// SystemError for a status that is no success.
void check(cublasStatus_t status, const char* what);

}  // namespace normscope::cuda
