// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/safetensors.h"
#include "core/session/stored_tensor.h"
#include "core/stack/stack_spec.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// How a model file calls its tensors and lays them out.
enum class Naming {
    Normscope,  ///< our own names, [out, in]
    Gpt2,     ///< Hugging Face GPT-2: q, k, v fused in c_attn; every matrix of a layer is a Conv1D, [in, out]
    NanoGpt,  ///< the same names under "transformer.", every matrix a Linear, [out, in]
    Llama,    ///< Hugging Face LLaMA; rotary pairs are i and i + d_h/2, as ours
};
const char* naming_word(Naming naming);  ///< "normscope", "gpt2", "nanogpt", "llama"

/// One tensor of a foreign file: ours, stacked along their first axis, then transposed where said.
struct ForeignTensor {
    std::string name;
    std::vector<std::string> parts;
    bool transposed = false;
};

/// Every tensor of a stack in a naming, in the order in which files hold them. `prefix` stands before the
/// names of a GPT-2 file ("" or "transformer.").
std::vector<ForeignTensor> foreign_tensors(const StackSpec& stack, Naming naming, const std::string& prefix);

/// Whether a reader of that naming would compute what this completed stack computes. The head's soft cap, Δt,
/// τ, the scheme, every norm, the gates: all must be what that family has.
bool expressible(const StackSpec& stack, Naming naming);

/// The naming whose names the file has, with its prefix; nothing where they are no model's that we know.
struct FoundNaming {
    Naming naming;
    std::string prefix;
};
std::optional<FoundNaming> find_naming(const Safetensors& file);

/// The stack's tensors out of a file, in our names and order, float32 or (from F64) float64. Tensors that the
/// stack does not have are refused, but for those that hold no weights (causal masks, rotary tables) and a
/// tied head that equals the embedding. InputError names the first tensor that is missing, unknown or
/// misshapen.
std::vector<StoredTensor> from_foreign(const StackSpec& stack, const FoundNaming& found,
                                       const Safetensors& file, const std::string& where);

/// The other way; `ours` has exactly the stack's tensors, all float32 or all float64.
std::vector<StoredTensor> to_foreign(const StackSpec& stack, Naming naming,
                                     const std::vector<StoredTensor>& ours);

}  // namespace normscope
