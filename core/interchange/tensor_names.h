// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/safetensors.h"
#include "core/session/stored_tensor.h"
#include "core/stack/stack_spec.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The tensor names and layout of a model file.
enum class Naming {
    Normscope,  ///< Normscope's names, [out, in]
    Gpt2,     ///< Hugging Face GPT-2: q, k, v fused in c_attn; every matrix of a layer is a Conv1D, [in, out]
    NanoGpt,  ///< the same names under "transformer.", every matrix a Linear, [out, in]
    Llama,    ///< Hugging Face LLaMA and its relatives; rotary pairs are i and i + d_h/2, as ours
    // These are only read:
    GptNeoX,  ///< Hugging Face GPT-NeoX: q, k and v of each head one after another
    GptJ,     ///< Hugging Face GPT-J: rotary pairs are 2i and 2i + 1
    Vit,      ///< Hugging Face ViT with its classifier
    TimmVit,  ///< timm's ViT: q, k, v are one matrix
};
const char* naming_word(
    Naming naming);  ///< "normscope", "gpt2", "nanogpt", "llama", "gpt_neox", "gpt_j", "vit", "timm_vit"

/// One tensor of a foreign file: our tensors, stacked along their first axis, then transposed if set. Where
/// there are `rows`, row r of ours is row rows[r] of theirs. `plus` is added to every number of theirs. Where
/// theirs has another `shape`, the order of its numbers is that of ours.
struct ForeignTensor {
    std::string name;
    std::vector<std::string> parts;
    bool transposed = false;
    std::vector<std::size_t> rows = {};
    double plus = 0;
    std::vector<std::size_t> shape = {};
};

/// The naming of a file, with the prefix of all names but the head's ("", "transformer." or "model."),
/// whether q, k, v and the two halves of a gated map are one matrix each (Phi-3), and what is added to the
/// norms' gains (1 in Gemma, which stores γ − 1).
struct FoundNaming {
    Naming naming;
    std::string prefix;
    bool fused = false;
    double plus_gain = 0;
    bool neighbours = false;  ///< rotary pairs of q and k are 2i and 2i + 1 (GGUF)
};

/// Every tensor of a stack in a naming, in the order in which files hold them; the first is the embedding.
std::vector<ForeignTensor> foreign_tensors(const StackSpec& stack, const FoundNaming& naming);
/// The names of the token embedding and of the head that is not tied to it.
std::string embedding_name(const FoundNaming& naming);
std::string head_name(const FoundNaming& naming);
/// How a naming's own classes write it.
FoundNaming as_written(Naming naming);

/// Whether a reader of that naming would compute what this completed stack computes. The head's soft cap, Δt,
/// τ, the scheme, every norm, the gates: all must match that family.
bool expressible(const StackSpec& stack, Naming naming);

/// nullopt for an unknown model.
std::optional<FoundNaming> find_naming(const Safetensors& file);

/// The stack's tensors out of a file, in our names and order, float32 or (from F64) float64. A tied embedding
/// that a file holds under the head's name alone is taken from there. Tensors of the model that the stack
/// does not have are rejected, except those without weights (causal masks, rotary tables) and a tied head
/// that equals the embedding; tensors next to the model are named in `notes` as unused. InputError names the
/// first tensor that is missing, unknown, empty or misshapen.
std::vector<StoredTensor> from_foreign(const StackSpec& stack, const FoundNaming& found,
                                       const Safetensors& file, const std::string& where,
                                       std::vector<std::string>& notes);

/// The inverse; `ours` has exactly the stack's tensors, all float32 or all float64.
std::vector<StoredTensor> to_foreign(const StackSpec& stack, Naming naming,
                                     const std::vector<StoredTensor>& ours);

}  // namespace normscope
