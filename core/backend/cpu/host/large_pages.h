// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace normscope {

/// Asks the system to back a block of memory that was not touched yet with large pages (2 MiB on Linux). A
/// step accesses tens of MiB; with small pages address translation takes more than a tenth of its time. A
/// hint: ignored on systems without large pages.
void advise_huge_pages(void* block, std::size_t bytes);

/// Resizes to `count` entries, on large pages and zero where newly allocated. Old entries are kept only if
/// the block does not move.
template <class T>
void resize_on_large_pages(std::vector<T>& values, std::size_t count) {
    if (count > values.capacity()) {
        std::vector<T>().swap(values);
        values.reserve(count);
        advise_huge_pages(values.data(), count * sizeof(T));
    }
    values.resize(count);
}

}  // namespace normscope
