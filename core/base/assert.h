// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdio>
#include <cstdlib>

// Assertions are on unless a build turns them off: the release build does (CMakeLists.txt), whatever NDEBUG
// is.
#ifndef NORMSCOPE_ASSERTIONS
#define NORMSCOPE_ASSERTIONS 1
#endif

namespace normscope {

[[noreturn]] inline void assertion_failed(const char* file, int line, const char* condition,
                                          const char* why) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s: %s\n", file, line, condition, why);
    std::abort();
}

}  // namespace normscope

/// NORMSCOPE_ASSERT(condition, "why it holds"): an invariant of the program itself. Where it does not hold,
/// one line on stderr with place, condition and reason, and abort(). In release builds the condition is
/// compiled but not evaluated. Invalid input is no assertion: it throws InputError (error.h).
#if NORMSCOPE_ASSERTIONS
#define NORMSCOPE_ASSERT(condition, why) \
    ((condition) ? static_cast<void>(0) : ::normscope::assertion_failed(__FILE__, __LINE__, #condition, why))
#else
#define NORMSCOPE_ASSERT(condition, why) static_cast<void>(true || (condition))
#endif
