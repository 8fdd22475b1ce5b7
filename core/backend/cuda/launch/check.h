// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace normscope::cuda {

/// SystemError, one line with what was done, for an error of the CUDA runtime; after one that ends the
/// device's context ("lost") every later call fails too, and the line states that the program must be started
/// again.
void check(cudaError_t error, const char* what);

/// "12 MiB", rounded up.
std::string mebibytes(std::size_t bytes);

}  // namespace normscope::cuda
