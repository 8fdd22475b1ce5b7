// SPDX-License-Identifier: GPL-3.0-or-later
#define NORMSCOPE_ASSERTIONS 0

#include "tests/base/assert_released.h"

#include "core/base/assert.h"

void assert_in_release_build(int& evaluated) {
    NORMSCOPE_ASSERT(++evaluated < 0, "not evaluated");
}
