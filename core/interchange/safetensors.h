// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/stored_tensor.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// One tensor of a safetensors file: where its bytes lie.
struct SafetensorsEntry {
    std::string name, dtype;  ///< dtype as in the file: "F32", "BF16", "I64", …
    std::vector<std::size_t> shape;
    std::span<const std::byte> bytes;  ///< exactly shape × dtype
};

/// The header of a safetensors file: 8 bytes little-endian header length, a JSON object, the tensors' bytes.
struct Safetensors {
    std::vector<SafetensorsEntry> tensors;  ///< in the order of their bytes
    std::map<std::string, std::string> metadata;

    const SafetensorsEntry* find(const std::string& name) const;  ///< nullptr where there is none

  private:
    friend Safetensors parse_safetensors(std::span<const std::byte>, const std::string&);
    std::map<std::string, std::size_t> index_;
};

/// Checks everything and copies nothing: the entries look into `file`, which must outlive them. InputError
/// ("where: tensor: reason") for a header beyond the file or above 100 MB, no JSON, a name given twice, an
/// unknown dtype, a shape whose bytes are not those of its offsets, offsets that overlap, leave holes or
/// leave the file.
Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& where);

/// The numbers of an F16, BF16, F32 or F64 tensor; InputError for the other types.
StoredTensor float_tensor(const SafetensorsEntry& entry, const std::string& where);

/// float32 and float64 tensors as F32 and F64, in the order given. Put in place atomically. SystemError where
/// that fails.
void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace normscope
