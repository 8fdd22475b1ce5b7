// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/stack_spec.h"

#include "core/base/error.h"
#include "core/stack/scheme.h"

#include <set>

namespace normscope {

namespace {
constexpr const char* kBlocks[] = {"gpt2", "llama"};
constexpr const char* kActivations[] = {"gelu_tanh", "gelu_erf", "relu", "silu", "swiglu", "geglu"};
constexpr const char* kInputs[] = {"tokens", "patches"};
constexpr const char* kPositions[] = {"learned", "rope", "none"};
constexpr const char* kRopeScalings[] = {"off", "linear", "llama3", "yarn"};
constexpr const char* kLayouts[] = {"serial", "parallel"};
constexpr const char* kLnsForms[] = {"factor", "gamma"};
constexpr const char* kFinalNorms[] = {"auto", "on", "off"};
constexpr const char* kQkNorms[] = {"off", "head", "full"};
constexpr const char* kAttentionBiases[] = {"auto", "on", "off", "qkv"};
constexpr const char* kBranchScales[] = {"none", "scalar", "channel"};
constexpr const char* kGateActivations[] = {"silu", "identity", "relu", "leaky_relu", "tanh", "silu8"};
constexpr const char* kGateSites[] = {"auto", "output", "shortcut", "input", "norm", "branch"};
constexpr const char* kInitRules[] = {"lab", "gpt2", "plain", "xavier", "deepnorm", "path_length"};
}  // namespace

template <>
std::span<const char* const> words_of<Block>() {
    return kBlocks;
}
template <>
std::span<const char* const> words_of<Activation>() {
    return kActivations;
}
template <>
std::span<const char* const> words_of<StackInput>() {
    return kInputs;
}
template <>
std::span<const char* const> words_of<Position>() {
    return kPositions;
}
template <>
std::span<const char* const> words_of<RopeScalingKind>() {
    return kRopeScalings;
}
template <>
std::span<const char* const> words_of<Layout>() {
    return kLayouts;
}
template <>
std::span<const char* const> words_of<Scheme>() {
    return scheme_rows::kWords;
}
template <>
std::span<const char* const> words_of<LnsForm>() {
    return kLnsForms;
}
template <>
std::span<const char* const> words_of<NormKind>() {
    return norm_kind_words();
}
template <>
std::span<const char* const> words_of<FinalNorm>() {
    return kFinalNorms;
}
template <>
std::span<const char* const> words_of<QkNorm>() {
    return kQkNorms;
}
template <>
std::span<const char* const> words_of<AttentionBias>() {
    return kAttentionBiases;
}
template <>
std::span<const char* const> words_of<BranchScale>() {
    return kBranchScales;
}
template <>
std::span<const char* const> words_of<GateActivation>() {
    return kGateActivations;
}
template <>
std::span<const char* const> words_of<GateSite>() {
    return kGateSites;
}
template <>
std::span<const char* const> words_of<InitRule>() {
    return kInitRules;
}

namespace {

constexpr RealRange kPositive{0, std::numeric_limits<double>::infinity(), true};
constexpr RealRange kAny{-std::numeric_limits<double>::infinity()};

void list_rule(Fields& f, RuleOverride& rule) {
    f.optional_flag("in", rule.in);
    f.optional_flag("out", rule.out);
    f.optional_flag("post", rule.post);
    f.optional_real("a", rule.a, kAny);
    f.optional_real("b", rule.b, kAny);
}

}  // namespace

void list_fields(Fields& f, StackSpec& s) {
    // The block comes first: it sets the defaults of the keys after it, which a recipe may then override.
    f.choice<Block>(
        "block", s, [](const StackSpec& of) { return of.block; },
        [](StackSpec& of, Block block) {
            if (block != of.block) apply_block_preset(of, block);
        });
    f.integer("depth", s.depth, 1, 4096);
    f.integer("d_model", s.d_model, 1, 65536);
    f.integer("heads", s.heads, 1, 4096);
    f.integer_or_auto("kv_heads", s.kv_heads, 1, 4096, follows("stack.heads", 1));
    f.integer_or_auto("head_width", s.head_width, 1, 65536);
    f.integer_or_auto("d_ff", s.d_ff, 1, 1 << 20, follows("stack.d_model", kDefaultFeedForward));
    f.integer("context", s.context, 1, 1 << 20);
    f.integer_or_auto("vocab", s.vocab, 2, 1 << 24, follows("data"));
    f.choice("activation", s.activation);
    f.flag("bias", s.bias);
    f.choice("attention_bias", s.attention_bias);
    f.choice("position", s.position);
    f.real("rope_base", s.rope_base, kPositive);
    f.real("rope_fraction", s.rope_fraction, RealRange{0, 1, true});
    f.group("rope_scaling", [&] {
        f.choice("kind", s.rope_scaling.kind);
        f.real("factor", s.rope_scaling.factor, kPositive);
        f.integer("original_context", s.rope_scaling.original_context, 1, 1 << 24);
        f.real("low_frequency", s.rope_scaling.low_frequency, kPositive);
        f.real("high_frequency", s.rope_scaling.high_frequency, kPositive);
        f.real("beta_fast", s.rope_scaling.beta_fast, kPositive);
        f.real("beta_slow", s.rope_scaling.beta_slow, kPositive);
        f.real("attention_factor", s.rope_scaling.attention_factor, {0});
    });
    f.integer("rope_global_every", s.rope_global_every, 1, 4096);
    f.real("rope_local_base", s.rope_local_base, kPositive);
    f.integer("window", s.window, 0, 1 << 20);
    f.flag("tied_head", s.tied_head);
    f.flag("head_bias", s.head_bias);
    f.flag("causal", s.causal);
    f.choice("layout", s.layout);
    f.flag("shared_norm", s.shared_norm);
    f.choice("scheme", s.scheme);
    f.real("mix_post_fraction", s.mix_post_fraction, {0, 1});
    f.choice("lns_form", s.lns_form);
    f.group("norm", [&] {
        f.choice("kind", s.norm.kind);
        f.real("eps", s.norm.eps, {0}, hot("ε", &HotKnobs::eps));
        f.flag("affine", s.norm.affine);
    });
    f.choice("final_norm", s.final_norm);
    f.flag("embedding_norm", s.embedding_norm);
    f.real("embedding_scale", s.embedding_scale, kPositive);
    f.choice("qk_norm", s.qk_norm);
    f.real("residual_step", s.residual_step, {0}, hot("Δt", &HotKnobs::residual_step));
    f.real("temperature", s.temperature, kPositive, hot("τ", &HotKnobs::temperature));
    f.choice("branch_scale", s.branch_scale);
    f.real("branch_scale_init", s.branch_scale_init, kAny);
    f.real("logit_soft_cap", s.logit_soft_cap, {0});
    f.real("attention_soft_cap", s.attention_soft_cap, {0});
    f.real("z_loss", s.z_loss, {0});
    f.group("gpas", [&] {
        f.flag("enabled", s.gpas.enabled);
        f.choice("activation", s.gpas.activation);
        f.choice("site", s.gpas.site);
        f.flag("stop_gradient", s.gpas.stop_gradient);
        f.flag("learnable", s.gpas.learnable);
        f.real("clip", s.gpas.clip, {0});
    });
    f.group("init", [&] {
        f.choice("rule", s.init.rule);
        f.real("std", s.init.std, {0});
        f.real("embedding_std", s.init.embedding_std, {0});
        f.integer("path_maps", s.init.path_maps, 1, 8);
    });
    f.choice("input", s.input);
    f.group("image", [&] {
        f.integer("size", s.image.size, 1, 1024);
        f.integer("channels", s.image.channels, 1, 64);
        f.integer("patch", s.image.patch, 1, 1024);
    });
    f.integer("classes", s.classes, 2, 65536);
    f.list("layers", s.layers, [&](LayerOverride& layer) {
        f.integer("index", layer.index, 0, 4095);
        f.group("attn", [&] { list_rule(f, layer.attn); });
        f.group("ffn", [&] { list_rule(f, layer.ffn); });
    });
}

void apply_block_preset(StackSpec& s, Block block) {
    const bool llama = block == Block::Llama;
    s.block = block;
    s.activation = llama ? Activation::SwiGlu : Activation::GeluTanh;
    s.bias = !llama;
    s.position = llama ? Position::Rope : Position::Learned;
    s.rope_base = 10000;
    s.rope_global_every = 1;
    s.tied_head = false;
    s.norm.kind = llama ? NormKind::RmsNorm : NormKind::LayerNorm;
    s.norm.eps = llama ? 1e-6 : 1e-5;
}

void complete(StackSpec& s, int source_vocab) {
    if (s.kv_heads == 0) s.kv_heads = s.heads;
    if (s.d_ff == 0) s.d_ff = kDefaultFeedForward * s.d_model;
    if (s.of_images()) {
        s.causal = false;
        s.context = s.image.patches() + 1;
        s.vocab = s.classes;
    }
    if (s.vocab == 0) s.vocab = source_vocab;
}

void validate(const StackSpec& s) {
    if (s.head_width == 0 && s.d_model % s.heads != 0)
        throw InputError("stack.heads",
                         std::to_string(s.heads) + " does not divide d_model " + std::to_string(s.d_model),
                         "divisors of d_model, or a stack.head_width");
    if (s.heads % s.kv_heads != 0)
        throw InputError("stack.kv_heads",
                         std::to_string(s.kv_heads) + " does not divide heads " + std::to_string(s.heads),
                         "divisors of heads");
    if (s.position == Position::Rope && s.d_head() % 2 != 0)
        throw InputError("stack.position",
                         "rope rotates pairs, but the head width is odd (" + std::to_string(s.d_head()) + ")",
                         "an even d_model / heads or stack.head_width, or learned, none");
    if (s.position == Position::Rope && s.rotary_pairs() < 1)
        throw InputError("stack.rope_fraction",
                         "no pair of a head of " + std::to_string(s.d_head()) + " turns",
                         "at least " + std::to_string(2.0 / s.d_head()));
    if (s.window > 0 && (!s.causal || s.rope_global_every == 1))
        throw InputError("stack.window", s.causal ? "no layer is a local one" : "is of causal attention",
                         s.causal ? "0, or stack.rope_global_every above 1" : "0, or stack.causal true");
    if (s.shared_norm && s.layout != Layout::Parallel)
        throw InputError("stack.shared_norm", "the two maps of a serial layer read different rows",
                         "false, or stack.layout parallel");
    const RopeScaling& scaling = s.rope_scaling;
    if (scaling.kind == RopeScalingKind::Llama3 && scaling.low_frequency >= scaling.high_frequency)
        throw InputError("stack.rope_scaling.low_frequency", "is not below stack.rope_scaling.high_frequency",
                         "less than it");
    if (scaling.kind == RopeScalingKind::Yarn && s.rope_base <= 1)
        throw InputError("stack.rope_base", "yarn divides by its logarithm", "more than 1");
    if (s.of_images()) {
        if (s.image.size % s.image.patch != 0)
            throw InputError("stack.image.patch",
                             std::to_string(s.image.patch) + " does not divide the image's size " +
                                 std::to_string(s.image.size),
                             "divisors of stack.image.size");
        if (s.tied_head)
            throw InputError("stack.tied_head", "a stack of patches has no token embedding to share",
                             "false");
    }
    std::set<int> seen;
    for (const auto& layer : s.layers) {
        if (layer.index >= s.depth)
            throw InputError("stack.layers.index", std::to_string(layer.index) + " is not a layer",
                             "0 … " + std::to_string(s.depth - 1));
        if (!seen.insert(layer.index).second)
            throw InputError("stack.layers.index", std::to_string(layer.index) + " appears twice",
                             "each layer once");
    }
    for (int l = 0; l < s.depth; ++l)
        for (const Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward})
            check_computed(sublayer_rule(s, l, kind));
}

bool has_final_norm(const StackSpec& s) {
    if (s.final_norm != FinalNorm::Auto) return s.final_norm == FinalNorm::On;
    return s.block != Block::Gpt2 || scheme_row(s.scheme).final_norm;
}

}  // namespace normscope
