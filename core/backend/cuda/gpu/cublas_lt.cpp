// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/cublas_lt.h"

#include "core/base/error.h"

#include <dlfcn.h>

namespace normscope::cuda {

namespace {

CublasLt opened() {
    CublasLt lt;
    void* library = nullptr;
    for (const char* name : {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13",
                             "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12"})
        if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        lt.missing = "no cuBLASLt (libcublasLt.so.13 or libcublasLt.so.12 on the dynamic linker's path)";
        return lt;
    }
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (!function && lt.missing.empty()) lt.missing = std::string("cuBLASLt has no function ") + name;
    };
    find(lt.create, "cublasLtCreate");
    find(lt.matmul, "cublasLtMatmul");
    find(lt.desc_create, "cublasLtMatmulDescCreate");
    find(lt.desc_destroy, "cublasLtMatmulDescDestroy");
    find(lt.desc_set, "cublasLtMatmulDescSetAttribute");
    find(lt.layout_create, "cublasLtMatrixLayoutCreate");
    find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
    find(lt.layout_set, "cublasLtMatrixLayoutSetAttribute");
    find(lt.preference_create, "cublasLtMatmulPreferenceCreate");
    find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    find(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    find(lt.algorithm_check, "cublasLtMatmulAlgoCheck");
    find(lt.status_string, "cublasLtGetStatusString");
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
