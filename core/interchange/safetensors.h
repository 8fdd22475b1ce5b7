// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/session/stored_tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// One tensor of a safetensors file and the place of its bytes.
struct SafetensorsEntry {
    std::string name, dtype;  ///< dtype as in the file: "F32", "BF16", "I64", …
    std::vector<std::size_t> shape;
    std::shared_ptr<const ByteSource> file;
    std::uint64_t at = 0, bytes = 0;  ///< in the file; exactly shape × dtype

    std::vector<std::byte> read() const;  ///< InputError where the file cannot be read any more
};

/// The header of a safetensors file: 8 bytes little-endian header length, a JSON object, the tensors' bytes.
/// Or those of the shards of a model.
class Safetensors {
  public:
    std::map<std::string, std::string> metadata;

    const std::vector<SafetensorsEntry>& tensors() const { return tensors_; }  ///< by place, file by file
    const SafetensorsEntry* find(const std::string& name) const;               ///< nullptr if absent
    /// False, without a change, where there is one of that name.
    bool add(SafetensorsEntry entry);

  private:
    std::vector<SafetensorsEntry> tensors_;
    std::map<std::string, std::size_t> index_;
};

/// Checks everything and reads the header alone. InputError ("where: tensor: reason") for a header beyond the
/// file or above 100 MB, no JSON, a name given twice, an unknown dtype, a shape whose bytes are not those of
/// its offsets, offsets that overlap, leave holes or leave the file.
Safetensors parse_safetensors(const std::shared_ptr<const ByteSource>& file, const std::string& where);
/// Of a file in memory, which must outlive the entries.
Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& where);

/// The values of an F16, BF16, F32 or F64 tensor; InputError for the other types, with what would fit.
StoredTensor float_tensor(const SafetensorsEntry& entry, const std::string& where);

/// float32 and float64 tensors as F32 and F64, in the order given. Put in place atomically. SystemError where
/// that fails.
void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace normscope
