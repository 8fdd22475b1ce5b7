// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace normscope {

/// Asks the system to back a block of memory that was not touched yet with large pages (2 MiB on Linux). A
/// step walks through tens of MiB; with small pages a good tenth of its time is the translation of addresses.
/// A wish: systems without large pages continue silently.
void wish_large_pages(void* block, std::size_t bytes);

/// Makes room for `count` entries, on large pages where that is new memory, whose entries are then zero. Old
/// ones are kept only where the block does not move.
template <class T>
void resize_on_large_pages(std::vector<T>& values, std::size_t count) {
    if (count > values.capacity()) {
        std::vector<T>().swap(values);
        values.reserve(count);
        wish_large_pages(values.data(), count * sizeof(T));
    }
    values.resize(count);
}

}  // namespace normscope
