// SPDX-License-Identifier: GPL-3.0-or-later
// What -fsanitize=thread calls for every load and store of a kernel. The kernels' sources are compiled with
// that option and linked without its runtime: these functions take its place and check the access
// (CheckedMemory). Not for a build that has the real runtime.
#include "core/backend/grid/emulator.h"

using normscope::grid::plain_access;

extern "C" {
#define NORMSCOPE_HOOKS(bytes)                             \
    void __tsan_read##bytes(void* p) {                     \
        plain_access(p, bytes, false);                     \
    }                                                      \
    void __tsan_write##bytes(void* p) {                    \
        plain_access(p, bytes, true);                      \
    }                                                      \
    void __tsan_unaligned_read##bytes(void* p) {           \
        plain_access(p, bytes, false);                     \
    }                                                      \
    void __tsan_unaligned_write##bytes(void* p) {          \
        plain_access(p, bytes, true);                      \
    }                                                      \
    void __tsan_volatile_read##bytes(void* p) {            \
        plain_access(p, bytes, false);                     \
    }                                                      \
    void __tsan_volatile_write##bytes(void* p) {           \
        plain_access(p, bytes, true);                      \
    }                                                      \
    void __tsan_unaligned_volatile_read##bytes(void* p) {  \
        plain_access(p, bytes, false);                     \
    }                                                      \
    void __tsan_unaligned_volatile_write##bytes(void* p) { \
        plain_access(p, bytes, true);                      \
    }
NORMSCOPE_HOOKS(1)
NORMSCOPE_HOOKS(2)
NORMSCOPE_HOOKS(4)
NORMSCOPE_HOOKS(8)
NORMSCOPE_HOOKS(16)
#undef NORMSCOPE_HOOKS
void __tsan_read_range(void* p, unsigned long bytes) {
    plain_access(p, bytes, false);
}
void __tsan_write_range(void* p, unsigned long bytes) {
    plain_access(p, bytes, true);
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {
    normscope::grid::set_accesses_checked();
}
}
