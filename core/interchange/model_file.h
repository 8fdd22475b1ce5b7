// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/stored_tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// A model of another program as a recipe and its weights.
struct ImportedModel {
    /// The stack is complete and valid; the training part is a conservative default (or, in a file of
    /// export_model, that of the run). complete_and_validate or complete_for_evaluation checks whether this
    /// engine can run it.
    Recipe recipe;
    /// Exactly the stack's tensors, by Normscope's names, in the table's order; float32, or float64 from a
    /// float64 file.
    std::vector<StoredTensor> weights;
    std::string format;  ///< "gpt2", "nanogpt", "llama", "normscope", "llm.c" or "llama2.c"
    /// What the reader should know of the reading, a line each: names without their prefixes, a head that was
    /// tied again, keys of the configuration without effect, tensors that are not used.
    std::vector<std::string> notes = {};
};

/// Reads a folder, an index of shards or MODEL.safetensors (with the recipe that export_model embeds, else
/// the config.json next to it) or MODEL.bin (llm.c, llama2.c: they contain their sizes). Only headers are
/// read before the sizes are known to fit together; then tensor by tensor. InputError, one line, for what
/// cannot be read or expressed. Any thread.
ImportedModel import_model(const std::string& path);

/// The same from memory; `path` gives the ending and names the file in messages.
ImportedModel import_model(std::span<const std::byte> file, const std::optional<std::string>& config_json,
                           const std::string& path);

/// The result of export_model.
struct ExportedModel {
    std::string format;  ///< "gpt2", "nanogpt", "llama", or "normscope" where no family computes this stack
    std::size_t tensors = 0;
    std::string config;  ///< the text of the config.json that other programs need with the file; empty for
                         ///< "normscope"
};

/// Writes a safetensors file under the names of the first family that computes what the stack computes, else
/// under Normscope's; the recipe is stored in its __metadata__, so that import_model gives back the same
/// bits. `weights` are exactly the stack's tensors, all of one type. The caller writes the config.json.
/// InputError, SystemError.
ExportedModel export_model(const std::string& path, const Recipe& recipe,
                           const std::vector<StoredTensor>& weights);

}  // namespace normscope
