// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loops over a lane's registers: nvcc must unroll them, or their arrays go to memory.
#if defined(__CUDACC__)
#define NORMSCOPE_UNROLL _Pragma("unroll")
#define NORMSCOPE_PRAGMA(text) _Pragma(#text)
#define NORMSCOPE_UNROLL_BY(times) NORMSCOPE_PRAGMA(unroll times)
#else
#define NORMSCOPE_UNROLL
#define NORMSCOPE_UNROLL_BY(times)
#endif
