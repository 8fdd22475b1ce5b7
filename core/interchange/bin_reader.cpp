// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/bin_reader.h"

#include "core/base/error.h"

#include <cstring>

namespace normscope {

std::int32_t header_int(std::span<const std::byte> file, std::size_t i) {
    std::int32_t value;
    std::memcpy(&value, file.data() + i * sizeof value, sizeof value);
    return value;
}

void require_size(std::span<const std::byte> file, std::uint64_t needed, const std::string& where,
                  const char* format) {
    if (file.size() != needed)
        throw InputError(where, "is " + std::to_string(file.size()) + " bytes long",
                         std::to_string(needed) + ", a " + format + " file of the sizes in its header");
}

}  // namespace normscope
