// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/process_memory.h"

#include <unistd.h>

#include <cstdlib>  // defines __GLIBC__
#include <fstream>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace normscope {

void retain_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that is accepted
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

std::size_t resident_memory() {
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0, resident = 0;
    if (!(statm >> size >> resident)) return 0;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace normscope
