// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// The instruction sets that kernels are compiled for, from the smallest.
enum class Isa { Serial, Baseline, Avx2, Avx512 };
/// "serial", "baseline", "avx2" or "avx512".
const char* isa_name(Isa isa);

/// The largest that this processor has, at most the one that the environment variable NORMSCOPE_ISA names:
/// for measurements of another machine's kernels (tests/with_avx2). InputError for another word there. Any
/// thread.
Isa best_isa();

}  // namespace normscope
