// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/large_pages.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

namespace normscope {

void advise_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    // Only whole large pages inside the block: the advice must not cover neighbouring memory.
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes) / page * page;
    if (begin < end) madvise(static_cast<char*>(block) + (begin - address), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace normscope
