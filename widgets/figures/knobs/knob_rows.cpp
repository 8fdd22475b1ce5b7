// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the knob column. Papers: [E] Emadi, [G] GPAS, [B] Baek, [K] Kan et al. (README).
#include "widgets/figures/knobs/knob_table.h"

#include <QtGlobal>

namespace normscope::widgets {
namespace {

using enum KnobScale::Kind;
using enum KnobSection;

#define T(text) QT_TRANSLATE_NOOP("KnobTable", text)

// The conditions under which a key has an effect.
bool mixes(const Recipe& r) {
    return r.stack.scheme == Scheme::Mix;
}
bool scalesByLayer(const Recipe& r) {
    return r.stack.scheme == Scheme::Lns;
}
bool rotates(const Recipe& r) {
    return r.stack.position == Position::Rope;
}
bool scalesBranch(const Recipe& r) {
    return r.stack.branch_scale != BranchScale::None;
}
bool emulated(const Recipe& recipe) {
    return recipe.train.precision == Precision::Bf16 || recipe.train.precision == Precision::Fp16;
}
bool usesGates(const Recipe& r) {
    return r.stack.gpas.enabled;
}
bool readsStd(const Recipe& r) {
    return r.stack.init.rule != InitRule::Lab && r.stack.init.rule != InitRule::Xavier;
}
bool readsEmbeddingStd(const Recipe& r) {
    return r.stack.init.rule != InitRule::Lab;
}
bool countsPaths(const Recipe& r) {
    return r.stack.init.rule == InitRule::PathLength;
}
bool ofImages(const Recipe& r) {
    return r.stack.of_images();
}
bool ofText(const Recipe& r) {
    return !r.stack.of_images();
}
bool readsFile(const Recipe& r) {
    return is_from_files(r.train.data.source);
}

}  // namespace

std::span<const KnobSpec> knobTable() {
    // clang-format off
static const KnobSpec kTable[] = {
    {InSight, "stack.scheme", T("Scheme"), T("scheme")},
    {InSight, "stack.depth", T("Depth"), T("depth"), {Integer, 1, 48, false, {6, 12, 24}}},
    {InSight, "stack.d_model", T("Width"), T("width"),
     {LogInteger, 8, 1024, false, {16, 32, 64, 128, 256, 512}}},
    {InSight, "stack.residual_step", T("Δt"), T("residual step"), {Log, 0.01, 2, false, {0.1, 1}}},
    {InSight, "stack.temperature", T("τ"), T("temperature"), {Log, 0.05, 20, false, {0.25, 1, 4}}},
    {InSight, "optimizer.lr", T("Learning rate"), T("learning rate"),
     {Log, 1e-5, 0.1, true, {1e-4, 1e-3, 3e-3, 1e-2}}},
    {InSight, "seed", T("Seed"), T("seed"), {Integer, 0, 100, false, {42}}},

    {Block, "stack.block", T("Family"), T("block family")},
    {Block, "stack.activation", T("Activation"), T("activation")},
    {Block, "stack.position", T("Positions"), T("positions")},
    {Block, "stack.rope_base", T("RoPE base"), T("RoPE base"),
     {Log, 100, 1e6, false, {10000, 500000}}, rotates},
    {Block, "stack.heads", T("Heads"), T("attention heads"), {LogInteger, 1, 64}},
    {Block, "stack.kv_heads", T("KV heads"), T("key/value heads"), {LogInteger, 1, 64}},
    {Block, "stack.d_ff", T("FFN width"), T("feed-forward width"),
     {LogInteger, 8, 4096, false, {64, 128, 256, 512, 1024, 2048}}},
    {Block, "stack.qk_norm", T("QK-norm"), T("query and key norm")},
    {Block, "stack.layout", T("Layout"), T("layout")},
    {Block, "stack.context", T("Context"), T("context length"),
     {LogInteger, 8, 1024, false, {32, 64, 128, 256, 512}}, ofText},
    {Block, "stack.bias", T("Biases"), T("biases")},
    {Block, "stack.attention_bias", T("QKV biases"), T("attention biases")},
    {Block, "stack.tied_head", T("Tied head"), T("tied head"), {}, ofText},
    {Block, "stack.logit_soft_cap", T("Soft cap"), T("soft cap of the logits"),
     {Log, 1, 100, true, {15, 30, 50}}},

    {Residual, "stack.norm.kind", T("Norm"), T("kind of norm")},
    {Residual, "stack.norm.eps", T("ε"), T("norm epsilon"), {Log, 1e-12, 1, true, {1e-8, 1e-6, 1e-5, 1e-3}}},
    {Residual, "stack.final_norm", T("Final norm"), T("final norm")},
    {Residual, "stack.embedding_norm", T("Emb. norm"), T("embedding norm")},
    {Residual, "stack.branch_scale", T("Branch λ"), T("branch scale")},
    {Residual, "stack.branch_scale_init", T("λ at start"), T("initial branch scale"),
     {Log, 1e-6, 2, true, {1e-4, 0.1, 1}}, scalesBranch},
    {Residual, "stack.mix_post_fraction", T("Post share"), T("share of Post-LN layers"),
     {Linear, 0, 1, false, {0.25, 0.5}}, mixes},
    {Residual, "stack.lns_form", T("LNS form"), T("form of the LNS factor"), {}, scalesByLayer},

    {Init, "stack.init.rule", T("Init"), T("initialisation")},
    {Init, "stack.init.std", T("Std"), T("initial standard deviation"),
     {Log, 1e-3, 1, true, {0.01, 0.02}}, readsStd},
    {Init, "stack.init.embedding_std", T("Emb. std"), T("standard deviation of the embeddings"),
     {Log, 1e-3, 2, true, {0.02, 0.6325, 1}}, readsEmbeddingStd},
    {Init, "stack.init.path_maps", T("Path maps"), T("maps on a path"), {Integer, 1, 8}, countsPaths},

    {Gpas, "stack.gpas.enabled", T("GPAS"), T("gradient-preserving activation scaling")},
    {Gpas, "stack.gpas.site", T("Site"), T("place of the gate"), {}, usesGates},
    {Gpas, "stack.gpas.activation", T("Function"), T("activation of the gate"), {}, usesGates},
    {Gpas, "stack.gpas.stop_gradient", T("Stop grad."), T("stop gradient"), {}, usesGates},
    {Gpas, "stack.gpas.learnable", T("Learnable"), T("learnable gates"), {}, usesGates},
    {Gpas, "stack.gpas.clip", T("Gate clip"), T("clip of the gates' gradient"),
     {Log, 1e-3, 10, true, {0.01, 1}}, usesGates},

    {Training, "optimizer.kind", T("Optimiser"), T("optimiser")},
    {Training, "schedule.warmup", T("Warm-up"), T("warm-up steps"), {Integer, 0, 200}},
    {Training, "optimizer.weight_decay", T("Decay"), T("weight decay"), {Log, 1e-3, 1, true, {0.01, 0.1}}},
    {Training, "optimizer.clip", T("Clip"), T("gradient clip"), {Log, 0.01, 100, true, {0.1, 1, 10}}},
    {Training, "stack.z_loss", T("z-loss"), T("z-loss"), {Log, 1e-6, 1e-1, true, {1e-4}}},
    {Training, "batch", T("Batch"), T("batch size"), {LogInteger, 1, 128, false, {4, 8, 16, 32, 64}}},
    {Training, "steps", T("Steps"), T("training steps"),
     {LogInteger, 10, 10000, false, {100, 200, 500, 1000, 2000, 5000}}},

    {Data, "data.source", T("Data"), T("data source")},
    {Data, "data.path", T("Files"), T("text file or image folder"), {}, readsFile},
    {Data, "stack.image.size", T("Image size"), T("image size"),
     {LogInteger, 12, 128, false, {16, 32, 64}}, ofImages},
    {Data, "stack.image.patch", T("Patch"), T("patch size"), {LogInteger, 1, 32, false, {2, 4, 8, 16}}, ofImages},
    {Data, "precision", T("Precision"), T("precision")},
    {Data, "precision_policy", T("Rounded"), T("precision policy"), {}, emulated},
};
    // clang-format on
    return kTable;
}

#undef T

}  // namespace normscope::widgets
