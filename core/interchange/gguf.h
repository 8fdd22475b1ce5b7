// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"
#include "core/interchange/model_folder.h"

#include <map>
#include <memory>
#include <string>

namespace normscope {

/// The header of a GGUF file (version 2 or 3): its metadata, and its tensors in its own names.
struct GgufFile {
    /// Numbers, flags and texts by key; of a list its length alone, since the lists are a tokenizer's.
    std::map<std::string, nlohmann::json> metadata;
    Safetensors tensors;  ///< shapes as in PyTorch, slowest axis first
};

/// Checks everything and reads the header alone. InputError, one line: another version, a header that leaves
/// the file, a key or a tensor given twice, an unknown type of value, tensors that are quantised, overlap or
/// leave the file.
GgufFile parse_gguf(const std::shared_ptr<const ByteSource>& file, const std::string& where);

/// A model of llama.cpp's architectures llama, qwen2 and qwen3 in transformers' names, with the configuration
/// that its metadata state. Of llama the rows of q and k are those of rotary pairs 2i and 2i + 1
/// (ModelFiles::neighbours). InputError for other architectures, for a key of the architecture or a tensor
/// that is not known, since it may compute something.
ModelFiles gguf_model(const std::shared_ptr<const ByteSource>& file, const std::string& where);

}  // namespace normscope
