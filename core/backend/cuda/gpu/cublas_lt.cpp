// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/cublas_lt.h"

#include "core/backend/plugin/library_functions.h"
#include "core/base/error.h"

namespace normscope::cuda {

namespace {

CublasLt opened() {
    CublasLt lt;
    LibraryFunctions library("cuBLASLt", "libcublasLt.so.13 or libcublasLt.so.12",
                             {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13",
                              "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12"});
    library.find(lt.create, "cublasLtCreate");
    library.find(lt.matmul, "cublasLtMatmul");
    library.find(lt.desc_create, "cublasLtMatmulDescCreate");
    library.find(lt.desc_destroy, "cublasLtMatmulDescDestroy");
    library.find(lt.desc_set, "cublasLtMatmulDescSetAttribute");
    library.find(lt.layout_create, "cublasLtMatrixLayoutCreate");
    library.find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
    library.find(lt.layout_set, "cublasLtMatrixLayoutSetAttribute");
    library.find(lt.preference_create, "cublasLtMatmulPreferenceCreate");
    library.find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library.find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.find(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library.find(lt.algorithm_check, "cublasLtMatmulAlgoCheck");
    library.find(lt.status_string, "cublasLtGetStatusString");
    lt.missing = library.missing();
    return lt;
}

}  // namespace

const CublasLt& cublas_lt() {
    static const CublasLt lt = opened();
    return lt;
}

void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw SystemError(std::string("cuBLASLt: ") + what + ": " + cublas_lt().status_string(status));
}

}  // namespace normscope::cuda
