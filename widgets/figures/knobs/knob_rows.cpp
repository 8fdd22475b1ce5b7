// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the knob column. Papers: [E] Emadi, [G] GPAS, [B] Baek, [K] Kan et al. (README).
#include "core/recipe/recipe.h"
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
bool gates(const Recipe& r) {
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
bool readsFile(const Recipe& r) {
    return r.train.data.source == DataSource::Text;
}

// clang-format off
const KnobSpec kTable[] = {
    {InSight, "stack.scheme", T("Scheme"), T("scheme"),
     T("Where the norms are placed; one form for all ([G] §2, [K] §3):\n"
       "x' = N_post(a·x + Δt·b·N_out(f(s·N_in(x))))\nCustom starts with no norm: switch them in the stack "
       "above.")},
    {InSight, "stack.depth", T("Depth"), T("depth"),
     T("Layers N; each is attention, then feed-forward."),
     {Integer, 1, 48, false, {6, 12, 24}}},
    {InSight, "stack.d_model", T("Width"), T("width"),
     T("Width d of the hidden state, a multiple of the heads.\n"
       "The feed-forward width moves with it where it is the usual d_ff = 4·d."),
     {LogInteger, 8, 1024, false, {16, 32, 64, 128, 256, 512}}},
    {InSight, "stack.residual_step", T("Δt"), T("residual step"),
     T("Residual step: x + Δt·f(x), depth as time ([K] eq. 8).\nSnaps at 0.1, 1/√(2N), 1."),
     {Log, 0.01, 2, false, {0.1, 1}}},
    {InSight, "stack.temperature", T("τ"), T("temperature"),
     T("Softmax temperature: attention scores are q·k/(τ·√d_h) ([E] §5).\nThe smaller τ, the fewer keys a "
       "row attends to; the larger, the nearer to all alike."),
     {Log, 0.05, 20, false, {0.25, 1, 4}}},
    {InSight, "optimizer.lr", T("Learning rate"), T("learning rate"),
     T("Peak learning rate η."),
     {Log, 1e-5, 0.1, true, {1e-4, 1e-3, 3e-3, 1e-2}}},
    {InSight, "seed", T("Seed"), T("seed"),
     T("Of the initial weights and the batches. Runs with the same seed see the same text."),
     {Integer, 0, 100, false, {42}}},

    {Block, "stack.block", T("Family"), T("block family"),
     T("GPT-2: learned positions, GELU, biases, LayerNorm.\n"
       "LLaMA: RoPE, SwiGLU, RMSNorm with ε 1e-6, no bias.\nThe choice sets those keys; each may be "
       "changed after it.")},
    {Block, "stack.activation", T("Activation"), T("activation"),
     T("φ of the feed-forward map W₂·φ(W₁·u).\nSwiGLU: W_d·(SiLU(W_g·u) ∘ W_u·u).")},
    {Block, "stack.position", T("Positions"), T("positions"),
     T("Learned: a vector added to the embedding.\n"
       "RoPE: q and k rotated by pos·base^(−2i/d_h), pairs (i, i + d_h/2); the head width must be even.")},
    {Block, "stack.rope_base", T("RoPE base"), T("RoPE base"),
     T("Base of the angles pos·base^(−2i/d_h)."),
     {Log, 100, 1e6, false, {10000, 500000}}, rotates},
    {Block, "stack.heads", T("Heads"), T("attention heads"),
     T("Attention heads H; they divide the width: d_h = d/H."),
     {LogInteger, 1, 64}},
    {Block, "stack.kv_heads", T("KV heads"), T("key/value heads"),
     T("Key and value heads; they divide H. Query head h reads head ⌊h·kv/H⌋ (grouped-query attention)."),
     {LogInteger, 1, 64}},
    {Block, "stack.d_ff", T("FFN width"), T("feed-forward width"),
     T("Width of the feed-forward map, usually 4·d (SwiGLU models take about 8·d/3)."),
     {LogInteger, 8, 4096, false, {64, 128, 256, 512, 1024, 2048}}},
    {Block, "stack.qk_norm", T("QK-norm"), T("query and key norm"),
     T("A norm on q and k before RoPE: per head over d_h, or full over the whole projection (OLMo 2).")},
    {Block, "stack.layout", T("Layout"), T("layout"),
     T("Serial: attention, then feed-forward.\n"
       "Parallel: both read the same x and share one sum, z = a·x + Δt·(y_attn + y_ffn), and one post "
       "norm.")},
    {Block, "stack.context", T("Context"), T("context length"),
     T("Tokens n of a sequence."),
     {LogInteger, 8, 1024, false, {32, 64, 128, 256, 512}}},
    {Block, "stack.bias", T("Biases"), T("biases"),
     T("Of every linear map, and the β of every norm.")},
    {Block, "stack.tied_head", T("Tied head"), T("tied head"),
     T("The head's matrix is the token embedding's.")},
    {Block, "stack.logit_soft_cap", T("Soft cap"), T("soft cap of the logits"),
     T("logits ← c·tanh(logits/c) before the loss; 0 = off."),
     {Log, 1, 100, true, {15, 30, 50}}},

    {Residual, "stack.norm.kind", T("Norm"), T("kind of norm"),
     T("LayerNorm: γ∘(x − μ)/√(σ² + ε) + β.\nRMSNorm: γ∘x/√(mean x² + ε).")},
    {Residual, "stack.norm.eps", T("ε"), T("norm epsilon"),
     T("Added to the variance inside a norm: x̂ = (x − μ)/√(σ² + ε). Where σ² ≪ ε it divides by √ε, for "
       "any input ([B])."),
     {Log, 1e-12, 1, true, {1e-8, 1e-6, 1e-5, 1e-3}}},
    {Residual, "stack.final_norm", T("Final norm"), T("final norm"),
     T("The norm before the head. Auto: on, except for GPT-2 blocks under post and deepnorm.")},
    {Residual, "stack.embedding_norm", T("Emb. norm"), T("embedding norm"),
     T("A norm on the embedding before the first sub-layer.")},
    {Residual, "stack.branch_scale", T("Branch λ"), T("branch scale"),
     T("A learned factor λ on each branch: x + Δt·b·λ∘y. One number (ReZero, SkipInit) or one a channel "
       "(LayerScale).")},
    {Residual, "stack.branch_scale_init", T("λ at start"), T("initial branch scale"),
     T("λ of step 0: ReZero and SkipInit start at 0, LayerScale at 1e-4 … 0.1."),
     {Log, 1e-6, 2, true, {1e-4, 0.1, 1}}, scalesBranch},
    {Residual, "stack.mix_post_fraction", T("Post share"), T("share of Post-LN layers"),
     T("Mix-LN: the first ⌊share·N⌋ layers are Post-LN, the others Pre-LN ([G] §2 after Mix-LN, which "
       "takes 1/4)."),
     {Linear, 0, 1, false, {0.25, 0.5}}, mixes},
    {Residual, "stack.lns_form", T("LNS form"), T("form of the LNS factor"),
     T("LNS scales the input norm by 1/√ℓ ([G] eq. 3), ℓ the layer from 1.\n"
       "Factor: a fixed multiplier. Gain: γ starts at 1/√ℓ and is trained. Both have the same first "
       "forward pass."),
     {}, scalesByLayer},

    {Init, "stack.init.rule", T("Init"), T("initialisation"),
     T("How the weights are drawn.\nLab: std 1/√d for every matrix. GPT-2: std, outputs / √(2N). Plain: "
       "std for all.\n"
       "Xavier: √(2/(fan_in + fan_out)). DeepNorm: Xavier, v, o and FFN × (8N)^(−1/4).\n"
       "Path length: std × N^(−1/m) ([E] §6).")},
    {Init, "stack.init.std", T("Std"), T("initial standard deviation"),
     T("Standard deviation of the matrices; 0.02 in GPT-2 and in the LLaMA models of [G]."),
     {Log, 1e-3, 1, true, {0.01, 0.02}}, readsStd},
    {Init, "stack.init.embedding_std", T("Emb. std"), T("standard deviation of the embeddings"),
     T("Of token and position embeddings: 0.02 in GPT-2; √(2/5) = 0.632 is the Scaled Embed of [G]."),
     {Log, 1e-3, 2, true, {0.02, 0.6325, 1}}, readsEmbeddingStd},
    {Init, "stack.init.path_maps", T("Path maps"), T("maps on a path"),
     T("m, the matrices a path through one branch meets: each is scaled by N^(−1/m) ([E] §6)."),
     {Integer, 1, 8}, countsPaths},

    {Gpas, "stack.gpas.enabled", T("GPAS"), T("gradient-preserving activation scaling"),
     T("One learned gate g a layer scales the activations and leaves their gradients alone:\n"
       "P_g(x) = x − act(g)·sg(x), g = 0 at step 0 ([G] §3).")},
    {Gpas, "stack.gpas.site", T("Site"), T("place of the gate"),
     T("Where P_g is applied ([G] §3 and Table 5). Auto: on the shortcut where the sub-layer has a post "
       "norm, else on its output."),
     {}, gates},
    {Gpas, "stack.gpas.activation", T("Function"), T("activation of the gate"),
     T("act(g) ([G] Table 4). SiLU ×8: g·sigmoid(8g)."),
     {}, gates},
    {Gpas, "stack.gpas.stop_gradient", T("Stop grad."), T("stop gradient"),
     T("On: P_g(x) = x − act(g)·sg(x), the backward pass is the identity. Off: x·(1 − act(g)), the "
       "backward pass is multiplied by 1 − act(g) too."),
     {}, gates},
    {Gpas, "stack.gpas.learnable", T("Learnable"), T("learnable gates"),
     T("Off: the gates stay as they are ([G] Table 4, frozen gates)."),
     {}, gates},
    {Gpas, "stack.gpas.clip", T("Gate clip"), T("clip of the gates' gradient"),
     T("Global norm at which the gradient of all gates is clipped, after the global clip ([G] takes 0.01 "
       "at 1B); 0 = off."),
     {Log, 1e-3, 10, true, {0.01, 1}}, gates},

    {Training, "optimizer.kind", T("Optimiser"), T("optimiser"),
     T("AdamW: decoupled decay. Adam: decay in the gradient ([G]). SGD with momentum β₁.\n"
       "Muon: orthogonalised momentum on the blocks' matrices, AdamW elsewhere.")},
    {Training, "schedule.warmup", T("Warm-up"), T("warm-up steps"),
     T("Steps in which the learning rate rises linearly to η."),
     {Integer, 0, 200}},
    {Training, "optimizer.weight_decay", T("Decay"), T("weight decay"),
     T("Weight decay λ; decoupled: w ← w − η·λ·w."),
     {Log, 1e-3, 1, true, {0.01, 0.1}}},
    {Training, "optimizer.clip", T("Clip"), T("gradient clip"),
     T("g ← g·min(1, clip/‖g‖) over all gradients; 0 = off."),
     {Log, 0.01, 100, true, {0.1, 1, 10}}},
    {Training, "stack.z_loss", T("z-loss"), T("z-loss"),
     T("Adds z·mean(log²Σexp(logits)) to the loss; 0 = off."),
     {Log, 1e-6, 1e-1, true, {1e-4}}},
    {Training, "batch", T("Batch"), T("batch size"),
     T("Sequences of a step."),
     {LogInteger, 1, 128, false, {4, 8, 16, 32, 64}}},
    {Training, "steps", T("Steps"), T("training steps"),
     T("Steps of the run; the schedule ends with them."),
     {LogInteger, 10, 10000, false, {100, 200, 500, 1000, 2000, 5000}}},

    {Data, "data.source", T("Data"), T("data source"),
     T("What is learned: generated text, or the bytes of a file.")},
    {Data, "data.path", T("Text file"), T("text file"),
     T("The file whose bytes are the text."),
     {}, readsFile},
    {Data, "precision", T("Precision"), T("precision"),
     T("The arithmetic of training. TF32 rounds the operands of matmuls to 11 significant bits.\n"
       "BF16 and FP16 round results too, as the next knob selects. On the CPU the three are emulated.")},
    {Data, "precision_policy", T("Rounded"), T("precision policy"),
     T("Of BF16 and FP16. Pure: weights and the result of every operation are rounded ([B]).\n"
       "Autocast, as in PyTorch: matmuls and activations are rounded; weights, norms, softmax and\n"
       "residual sums stay FP32."),
     {}, emulated},
};
// clang-format on

#undef T

}  // namespace

std::span<const KnobSpec> knobTable() {
    return kTable;
}

}  // namespace normscope::widgets
