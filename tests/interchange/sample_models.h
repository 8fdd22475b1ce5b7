// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/model_file.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Tiny model files of other programs, written byte by byte, not by the code under test.
namespace sample {

using Bytes = std::vector<std::byte>;
using Shape = std::vector<std::size_t>;

/// A file as import_model takes it from memory.
struct ModelFile {
    std::string path;
    Bytes bytes;
    std::optional<std::string> config;
};

/// A safetensors file of any header text and data.
Bytes safetensors(const std::string& header, const Bytes& data);

/// The i-th value of the tensor at index t of its file: exact in float32, distinct.
inline float number(std::size_t t, std::size_t i) {
    return static_cast<float>(t * 1000 + i) / 1024.0f;
}
/// Consecutive float32 tensors filled with number(index, ·).
Bytes safetensors(const std::vector<std::pair<std::string, Shape>>& tensors);

/// GPT-2: width 4, 2 heads, 2 layers, context 3, vocabulary 5, feed-forward width 16. `conv1d`: Hugging
/// Face's layout [in, out] and names; else nanoGPT's.
ModelFile gpt2(bool conv1d);
std::vector<std::pair<std::string, Shape>> gpt2_tensors(bool conv1d);
/// LLaMA: width 8, 2 heads of 4 channels over one key/value head, 2 layers, feed-forward width 6,
/// vocabulary 7.
ModelFile llama(bool tied);
std::vector<std::pair<std::string, Shape>> llama_tensors(bool tied);
/// GPT-NeoX: width 8, 2 heads of 4 channels of which 2 turn, 1 layer, feed-forward width 6, vocabulary 7.
ModelFile neox();
/// GPT-J: width 8, 2 heads of 4 channels of which 2 rotate, 1 layer, feed-forward width 6, vocabulary 7.
ModelFile gpt_j();
std::vector<std::pair<std::string, Shape>> gpt_j_tensors();
/// ViT: width 8, 2 heads, 1 layer, feed-forward width 6, images of 4 × 4 pixels of 2 channels in 4 patches, 3
/// classes; as transformers writes it or as timm does, whose name would give 3 heads where none are stated.
ModelFile vit(bool timm);
std::vector<std::pair<std::string, Shape>> vit_tensors(bool timm);
/// The LLaMA below as llama.cpp's GGUF: its names, q and k in pairs of neighbours. `keys`: entries of the
/// metadata that are changed, added, or (empty) left.
struct GgufValue {
    std::uint32_t type = 4;  ///< 4: uint32, 6: float32, 8: text, 9: a list of one text
    double number = 0;
    std::string text;
};
ModelFile gguf(const std::map<std::string, std::optional<GgufValue>>& keys = {}, std::uint32_t matrices = 0);
std::vector<std::pair<std::string, Shape>> gguf_tensors();
/// Of Gemma 3: two layers, the first with a window of 3 tokens; tied.
ModelFile gemma3();
std::vector<std::pair<std::string, Shape>> neox_tensors();
/// llama2.c's first layout, the same sizes, context 5; every float is number(0, its index in the file).
ModelFile llama2_c(bool tied);
/// llm.c: GPT-2 of the sizes above, vocabulary padded from 5 to 8; version 3 (float32) or 5 (BF16).
ModelFile llm_c(int version);

/// The model of a file; InputError.
normscope::ImportedModel imported(const ModelFile& file);
/// The line with which it is rejected, or "accepted".
std::string rejected_with(const ModelFile& file);
/// The same file with the first `what` in its configuration replaced, which must be there.
ModelFile with_config(ModelFile file, const std::string& what, const std::string& with);

}  // namespace sample
