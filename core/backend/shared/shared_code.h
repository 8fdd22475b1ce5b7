// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Marks functions that kernels on a GPU call as the CPU does: the row math (row/), which is written once.
#if defined(__CUDACC__)
#define NORMSCOPE_SHARED_CODE __host__ __device__
#else
#define NORMSCOPE_SHARED_CODE
#endif
