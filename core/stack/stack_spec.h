// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"
#include "core/stack/norm_kind.h"
#include "core/stack/scheme_rows.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

enum class Block { Gpt2, Llama };
enum class Activation { GeluTanh, GeluErf, Relu, Silu, SwiGlu, GeGlu };
/// Whether a feed-forward map is W_down(φ(g)∘u) of two projections g and u: φ is SiLU in SwiGLU and GELU in
/// its tanh form in GeGLU.
constexpr bool is_gated(Activation activation) {
    return activation == Activation::SwiGlu || activation == Activation::GeGlu;
}
enum class StackInput { Tokens, Patches };
enum class Position { Learned, Rope, None };
enum class Layout { Serial, Parallel };
enum class LnsForm { Factor, Gamma };
enum class RopeScalingKind { Off, Linear, Llama3, Yarn };
enum class FinalNorm { Auto, On, Off };
enum class QkNorm { Off, Head, Full };
enum class AttentionBias { Auto, On, Off, Qkv };
enum class BranchScale { None, Scalar, Channel };
enum class GateActivation { Silu, Identity, Relu, LeakyRelu, Tanh, Silu8 };
enum class GateSite { Auto, Output, Shortcut, Input, Norm, Branch };
enum class InitRule { Lab, Gpt2, Plain, Xavier, DeepNorm, PathLength };

/// Gradient-preserving activation scaling ([G] §3): P_g(x) = x − act(g)·sg(x).
struct GpasSpec {
    bool enabled = false;
    GateActivation activation = GateActivation::Silu;
    GateSite site = GateSite::Auto;
    bool stop_gradient = true;
    bool learnable = true;
    double clip = 0;  ///< norm at which the gates' own gradient is clipped; 0 = off
    bool operator==(const GpasSpec&) const = default;
};

/// How the frequencies of rotary positions are changed for contexts longer than those of the pretraining
/// (core/model/rope_table.h has the formulas).
struct RopeScaling {
    RopeScalingKind kind = RopeScalingKind::Off;
    double factor = 1;
    int original_context = 8192;           ///< tokens, of the pretraining (llama3, yarn)
    double low_frequency = 1;              ///< llama3: below this many turns in it, divided by the factor
    double high_frequency = 4;             ///< llama3: from this many on, kept
    double beta_fast = 32, beta_slow = 1;  ///< yarn: the same, interpolated over the pairs between
    double attention_factor = 0;           ///< yarn: of cosines and sines; 0: 0.1·ln(factor) + 1, at least 1
    bool operator==(const RopeScaling&) const = default;
};

struct InitSpec {
    InitRule rule = InitRule::Lab;
    double std = 0.02;
    double embedding_std = 0.02;
    int path_maps = 4;
    bool operator==(const InitSpec&) const = default;
};

/// The images of a stack whose input is patches: square, cut into square patches.
struct ImageSpec {
    int size = 32, channels = 3, patch = 4;
    int patches() const { return (size / patch) * (size / patch); }
    /// Values of a patch: its pixels, channel by channel, row by row.
    int patch_width() const { return channels * patch * patch; }
    bool operator==(const ImageSpec&) const = default;
};

/// The user's overrides in one sub-layer; absent = as the scheme.
struct RuleOverride {
    std::optional<bool> in, out, post;
    std::optional<double> a, b;
    bool empty() const { return !in && !out && !post && !a && !b; }
    bool operator==(const RuleOverride&) const = default;
};

struct LayerOverride {
    int index = 0;  ///< layer, from 0
    RuleOverride attn, ffn;
    bool operator==(const LayerOverride&) const = default;
};

/// The feed-forward width where none is given, as a multiple of d_model.
inline constexpr int kDefaultFeedForward = 4;

/// The architecture of one transformer stack (recipe key "stack"). Plain data; sizes in elements.
struct StackSpec {
    int depth = 12;  ///< layers; each is an attention sub-layer, then a feed-forward sub-layer
    int d_model = 64;
    int heads = 4;
    int kv_heads = 0;    ///< 0: as many as heads
    int head_width = 0;  ///< of queries, keys and values; 0: d_model / heads
    int d_ff = 0;        ///< 0: kDefaultFeedForward · d_model
    int context = 64;
    int vocab = 0;  ///< 0: that of the data source
    Block block = Block::Gpt2;
    Activation activation = Activation::GeluTanh;
    bool bias = true;                                    ///< of every linear map and every norm
    AttentionBias attention_bias = AttentionBias::Auto;  ///< of attention's maps; Auto: as `bias`
    Position position = Position::Learned;
    double rope_base = 10000;
    double rope_fraction = 1;  ///< share of a head's pairs that turn, the first ones
    RopeScaling rope_scaling;
    int rope_global_every = 1;       ///< layers whose number from 1 it does not divide are local ones:
    double rope_local_base = 10000;  ///< their base; their frequencies are not scaled
    int window = 0;                  ///< tokens that they attend to, the own one included; 0: all before
    bool tied_head = false;
    bool head_bias = false;  ///< a stack of patches has one always
    bool causal = true;
    Layout layout = Layout::Serial;
    bool shared_norm = false;  ///< parallel layers: one norm before both maps
    Scheme scheme = Scheme::Pre;
    double mix_post_fraction = 0.25;
    LnsForm lns_form = LnsForm::Factor;
    NormSpec norm;  ///< every norm of the stack, wherever it is placed (scheme.h)
    FinalNorm final_norm = FinalNorm::Auto;
    bool embedding_norm = false;
    double embedding_scale = 1;  ///< of the embedded rows, positions included, before any norm
    QkNorm qk_norm = QkNorm::Off;
    double residual_step = 1.0;  ///< Δt ([K] eq. 8)
    double temperature = 1.0;    ///< τ: scores are q·k/(τ√d_h)
    BranchScale branch_scale = BranchScale::None;
    double branch_scale_init = 1.0;
    double logit_soft_cap = 0;
    double attention_soft_cap = 0;  ///< c: scores are c·tanh(score/c); 0: as they are
    double z_loss = 0;
    GpasSpec gpas;
    InitSpec init;
    StackInput input = StackInput::Tokens;
    ImageSpec image;   ///< patches
    int classes = 10;  ///< patches
    std::vector<LayerOverride> layers;

    int d_head() const { return head_width > 0 ? head_width : d_model / heads; }
    /// Width of all heads together, which is d_model unless a head width is given.
    int d_q() const { return head_width > 0 ? head_width * heads : d_model; }
    bool is_local(int layer) const { return (layer + 1) % rope_global_every != 0; }
    /// The first token that a token attends to in a layer, both from 0.
    int first_key(int layer, int token) const {
        return window > 0 && is_local(layer) && token >= window ? token - window + 1 : 0;
    }
    /// Pairs of a head that rotary positions turn.
    int rotary_pairs() const { return static_cast<int>(d_head() * rope_fraction / 2); }
    bool qkv_bias() const {
        return attention_bias == AttentionBias::Auto ? bias : attention_bias != AttentionBias::Off;
    }
    bool attention_out_bias() const {
        return attention_bias == AttentionBias::Auto ? bias : attention_bias == AttentionBias::On;
    }
    bool of_images() const { return input == StackInput::Patches; }
    bool has_head_bias() const { return head_bias || of_images(); }
    int d_kv() const { return d_head() * kv_heads; }
    bool operator==(const StackSpec&) const = default;
};

/// Names every key of "stack" once; see Fields.
void list_fields(Fields& fields, StackSpec& spec);

/// Sets activation, bias, position, tied head and norm to the defaults of a block family.
void apply_block_preset(StackSpec& spec, Block block);

/// Replaces every "auto" size by its value (kv_heads, d_ff); `source_vocab` fills vocab. A stack of patches
/// is bidirectional, and its context (class token and patches) and its vocabulary (the classes) follow from
/// its images.
void complete(StackSpec& spec, int source_vocab);

/// Throws InputError when a completed spec cannot be built (heads of no width of their own must divide
/// d_model, and so on).
void validate(const StackSpec& spec);

/// Whether a final norm is placed before the head: auto means on, except for GPT-2 blocks under post and
/// deepnorm.
bool has_final_norm(const StackSpec& spec);

}  // namespace normscope
