// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/launch/check.h"

#include "core/base/error.h"

namespace normscope::cuda {

namespace {

/// Errors after which the context cannot be used (CUDA Runtime API, "cudaError": "leaves the process in an
/// inconsistent state").
bool loses_device(cudaError_t error) {
    switch (error) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorLaunchFailure:
        case cudaErrorAssert:
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorDevicesUnavailable:
            return true;
        default:
            return false;
    }
}

}  // namespace

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::string line = std::string("CUDA: ") + what + ": " + cudaGetErrorString(error);
    if (loses_device(error)) line += "; the device is lost, start the program again";
    cudaGetLastError();  // an error that loses nothing must not be reported by the next launch
    throw SystemError(line);
}

std::string mebibytes(std::size_t bytes) {
    constexpr std::size_t unit = std::size_t{1} << 20;
    return std::to_string(bytes / unit + (bytes % unit != 0)) + " MiB";
}

}  // namespace normscope::cuda
