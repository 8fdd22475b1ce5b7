// SPDX-License-Identifier: GPL-3.0-or-later
// Papers: [E] Emadi, [N] the null-space note, [G] GPAS, [B] Baek, [K] Kan et al.
#include "core/recipe/key_help.h"

namespace normscope {

namespace {

// In the order in which a recipe writes its keys.
constexpr KeyHelp kRows[] = {
    {"stack.block",
     "GPT-2: learned positions, GELU, biases, LayerNorm.\nLLaMA: RoPE, SwiGLU, RMSNorm with ε 1e-6, no "
     "bias.\nThe choice sets those keys; each may be changed after it."},
    {"stack.depth", "Layers N; each is attention, then feed-forward."},
    {"stack.d_model",
     "Width d of the hidden state, a multiple of the heads.\nThe feed-forward width moves with it where it "
     "is the usual d_ff = 4·d."},
    {"stack.heads", "Attention heads H; they divide the width: d_h = d/H."},
    {"stack.kv_heads",
     "Key and value heads; they divide H. Query head h reads head ⌊h·kv/H⌋ (grouped-query attention)."},
    {"stack.head_width",
     "Width d_h of a head's queries, keys and values; auto is d/H. With another width all heads together are "
     "H·d_h wide (Qwen 3, Gemma)."},
    {"stack.d_ff", "Width of the feed-forward map, usually 4·d (SwiGLU models take about 8·d/3)."},
    {"stack.context", "Tokens n of a sequence."},
    {"stack.vocab", "Tokens V of the vocabulary; auto is that of the data source."},
    {"stack.activation",
     "φ of the feed-forward map W₂·φ(W₁·u).\nSwiGLU: W_d·(SiLU(W_g·u) ∘ W_u·u).\nGeGLU: the same with GELU "
     "in its "
     "tanh form."},
    {"stack.bias", "Of every linear map, and the β of every norm."},
    {"stack.attention_bias",
     "Of attention's maps: auto = as stack.bias, on, off, or qkv: of q, k and v without the output's (Qwen "
     "2)."},
    {"stack.position",
     "Learned: a vector added to the embedding.\nRoPE: q and k rotated by pos·base^(−2i/d_h), pairs (i, i + "
     "d_h/2); the head width must be even."},
    {"stack.rope_base", "Base of the angles pos·base^(−2i/d_h)."},
    {"stack.rope_fraction",
     "Share of a head's pairs that RoPE turns, the first ones, as if the head had only these (GPT-NeoX: "
     "1/4); the "
     "others keep their place."},
    {"stack.rope_scaling.kind",
     "How the frequencies base^(−2i/d_h) are changed for long contexts.\nLinear: all divided by the "
     "factor.\nLlama3: the slow ones divided, the fast ones kept, a line between (LLaMA 3.1).\nYaRN: the "
     "same "
     "over the pairs, and cosines and sines are multiplied by the attention factor."},
    {"stack.rope_scaling.factor", "What slow frequencies are divided by."},
    {"stack.rope_scaling.original_context", "Tokens of the context before it was extended (llama3, yarn)."},
    {"stack.rope_scaling.low_frequency",
     "Llama3: a frequency that turns fewer times than this in the original context is divided."},
    {"stack.rope_scaling.high_frequency", "Llama3: one that turns more often than this is kept."},
    {"stack.rope_scaling.beta_fast", "YaRN: turns in the original context from which a frequency is kept."},
    {"stack.rope_scaling.beta_slow", "YaRN: turns below which it is divided."},
    {"stack.rope_scaling.attention_factor",
     "YaRN: multiplies cosines and sines; 0 is 0.1·ln(factor) + 1, or 1 for a factor below 1."},
    {"stack.rope_global_every",
     "Layers whose number this divides have the base above; the others are local ones. 1: every layer (Gemma "
     "3: 6)."},
    {"stack.rope_local_base", "Base of the angles in local layers; their frequencies are not scaled."},
    {"stack.window",
     "Tokens that a token attends to in local layers (those whose number stack.rope_global_every does not "
     "divide), its own included; 0: all before it."},
    {"stack.tied_head", "The head's matrix is the token embedding's."},
    {"stack.head_bias", "A bias on the logits (GPT-J). Stacks of patches have one always."},
    {"stack.causal", "A token attends to itself and to earlier tokens only. Off: to all of the sequence."},
    {"stack.layout",
     "Serial: attention, then feed-forward.\nParallel: both read the same x and share one sum, z = a·x + "
     "Δt·(y_attn + y_ffn), and one post norm."},
    {"stack.shared_norm",
     "Parallel layers: one norm before both maps, with one γ and β (GPT-J). Off: one norm each."},
    {"stack.scheme",
     "Where the norms are placed; one form for all ([G] §2, [K] §3):\nx' = N_post(a·x + "
     "Δt·b·N_out(f(s·N_in(x))))\nCustom starts with no norm: switch them in the stack above."},
    {"stack.mix_post_fraction",
     "Mix-LN: the first ⌊share·N⌋ layers are Post-LN, the others Pre-LN ([G] §2 after Mix-LN, which takes "
     "1/4)."},
    {"stack.lns_form",
     "LNS scales the input norm by 1/√ℓ ([G] eq. 3), ℓ the layer from 1.\nFactor: a fixed multiplier. Gain: "
     "γ starts at 1/√ℓ and is trained. Both have the same first forward pass."},
    {"stack.norm.kind", "LayerNorm: γ∘(x − μ)/√(σ² + ε) + β.\nRMSNorm: γ∘x/√(mean x² + ε)."},
    {"stack.norm.eps",
     "Added to the variance inside a norm: x̂ = (x − μ)/√(σ² + ε). Where σ² ≪ ε it divides by √ε, for any "
     "input ([B])."},
    {"stack.norm.affine",
     "Off: norms keep the γ that they start with, and have no β (OLMo 1), as PyTorch's "
     "elementwise_affine=False."},
    {"stack.final_norm",
     "The norm before the head. Auto: on, except for GPT-2 blocks under post and deepnorm."},
    {"stack.embedding_norm", "A norm on the embedding before the first sub-layer."},
    {"stack.embedding_scale",
     "Multiplies the embedded tokens, positions included, before the first sub-layer and any norm (Gemma: "
     "√d)."},
    {"stack.qk_norm",
     "A norm on q and k before RoPE: per head over d_h, or full over the whole projection (OLMo 2)."},
    {"stack.residual_step",
     "Residual step: x + Δt·f(x), depth as time ([K] eq. 8).\nSnaps at 0.1, 1/√(2N), 1."},
    {"stack.temperature",
     "Softmax temperature: attention scores are q·k/(τ·√d_h) ([E] §5).\nThe smaller τ, the fewer keys a row "
     "attends to; the larger, the nearer to all alike."},
    {"stack.branch_scale",
     "A learned factor λ on each branch: x + Δt·b·λ∘y. One number (ReZero, SkipInit) or one a channel "
     "(LayerScale)."},
    {"stack.branch_scale_init", "λ of step 0: ReZero and SkipInit start at 0, LayerScale at 1e-4 … 0.1."},
    {"stack.logit_soft_cap", "logits ← c·tanh(logits/c) before the loss; 0 = off."},
    {"stack.attention_soft_cap",
     "Attention scores ← c·tanh(score/c) before the softmax; 0 = off (Gemma 2: 50)."},
    {"stack.z_loss", "Adds z·mean(log²Σexp(logits)) to the loss; 0 = off."},
    {"stack.gpas.enabled",
     "One learned gate g a layer scales the activations and leaves their gradients alone:\nP_g(x) = x − "
     "act(g)·sg(x), g = 0 at step 0 ([G] §3)."},
    {"stack.gpas.activation", "act(g) ([G] Table 4). SiLU ×8: g·sigmoid(8g)."},
    {"stack.gpas.site",
     "Where P_g is applied ([G] §3 and Table 5). Auto: on the shortcut where the sub-layer has a post norm, "
     "else on its output."},
    {"stack.gpas.stop_gradient",
     "On: P_g(x) = x − act(g)·sg(x), the backward pass is the identity. Off: x·(1 − act(g)), the backward "
     "pass is multiplied by 1 − act(g) too."},
    {"stack.gpas.learnable", "Off: the gates stay as they are ([G] Table 4, frozen gates)."},
    {"stack.gpas.clip",
     "Global norm at which the gradient of all gates is clipped, after the global clip ([G] takes 0.01 at "
     "1B); 0 = off."},
    {"stack.init.rule",
     "How the weights are drawn.\nLab: std 1/√d for every matrix. GPT-2: std, outputs / √(2N). Plain: std "
     "for all.\nXavier: √(2/(fan_in + fan_out)). DeepNorm: Xavier, v, o and FFN × (8N)^(−1/4).\nPath length: "
     "std × N^(−1/m) ([E] §6)."},
    {"stack.init.std", "Standard deviation of the matrices; 0.02 in GPT-2 and in the LLaMA models of [G]."},
    {"stack.init.embedding_std",
     "Of token and position embeddings: 0.02 in GPT-2; √(2/5) = 0.632 is the Scaled Embed of [G]."},
    {"stack.init.path_maps",
     "m, the matrices a path through one branch meets: each is scaled by N^(−1/m) ([E] §6)."},
    {"stack.input",
     "Tokens: a language model.\nPatches: a classifier of images, as a vision transformer. Each patch is a "
     "linear map of its pixels, and a class token comes first. Attention is bidirectional, and the head "
     "reads the class token alone. Context, vocabulary and causal follow. Where it is not given: the kind of "
     "the data."},
    {"stack.image.size", "Pixels of an edge of the square images."},
    {"stack.image.channels", "Values of a pixel: 3 of a colour image."},
    {"stack.image.patch", "Pixels of an edge of a patch; it divides the size."},
    {"stack.classes", "Classes of the images: the logits of the head."},
    {"stack.layers.index", "The layer that these overrides are of, from 0."},
    {"stack.layers.attn.in", "The norm before attention in this layer: on or off; absent = as the scheme."},
    {"stack.layers.attn.out", "The norm on the branch of attention in this layer; absent = as the scheme."},
    {"stack.layers.attn.post", "The norm after the sum of attention in this layer; absent = as the scheme."},
    {"stack.layers.attn.a",
     "The factor a of the shortcut around attention in this layer; absent = as the scheme."},
    {"stack.layers.attn.b", "The factor b of the branch of attention in this layer; absent = as the scheme."},
    {"stack.layers.ffn.in",
     "The norm before the feed-forward map in this layer: on or off; absent = as the scheme."},
    {"stack.layers.ffn.out",
     "The norm on the branch of the feed-forward map in this layer; absent = as the scheme."},
    {"stack.layers.ffn.post",
     "The norm after the sum of the feed-forward map in this layer; absent = as the scheme."},
    {"stack.layers.ffn.a",
     "The factor a of the shortcut around the feed-forward map in this layer; absent = as the scheme."},
    {"stack.layers.ffn.b",
     "The factor b of the branch of the feed-forward map in this layer; absent = as the scheme."},
    {"data.source",
     "What is learned. Text: generated (markov, copy, induction), the bytes of a file (text) or files of "
     "token ids (tokens). Images, for "
     "stack.input patches: generated shapes (images) or CIFAR-10's files (cifar10). external: those of "
     "another program, which recorded the run; it cannot be trained here."},
    {"data.path",
     "Text: the file whose bytes are the text.\nTokens: nanoGPT's or llm.c's .bin, a .npy, or a folder of "
     "them. Those with val in their name are held out.\nCIFAR-10: the folder with its binary files, "
     "data_batch_1.bin … and test_batch.bin."},
    {"data.tokenizer",
     "Tokens: the tokenizer.json of the model whose tokens they are. Nothing is computed with it: rows of "
     "attention then "
     "show the tokens' texts."},
    {"data.held_out",
     "The share of a text or token file, its end, that is excluded from training and measured as held-out "
     "loss; of "
     "CIFAR-10 only where test_batch.bin is missing."},
    {"batch", "Sequences of a step."},
    {"accumulate", "Micro-batches of a step: their gradients are averaged before the update."},
    {"optimizer.kind",
     "AdamW: decoupled decay. Adam: decay in the gradient ([G]). SGD with momentum β₁.\nMuon: orthogonalised "
     "momentum on the blocks' matrices, AdamW elsewhere."},
    {"optimizer.lr", "Peak learning rate η."},
    {"optimizer.betas", "β₁ and β₂ of the moments. SGD: the first is the momentum, the second is unused."},
    {"optimizer.eps", "Added to the root of the second moment, outside the root."},
    {"optimizer.weight_decay", "Weight decay λ; decoupled: w ← w − η·λ·w."},
    {"optimizer.clip", "g ← g·min(1, clip/‖g‖) over all gradients; 0 = off."},
    {"schedule.lr",
     "The learning rate after the warm-up, from η at its end to min_ratio·η at the last step; constant: η "
     "throughout."},
    {"schedule.warmup", "Steps in which the learning rate rises linearly to η."},
    {"schedule.warmup_from_zero",
     "On: the first step of the warm-up has the rate 0, as in [G]. Off: η/warmup, as in nanoGPT."},
    {"schedule.min_ratio", "The last learning rate over η."},
    {"schedule.temperature_from", "τ of step 0 where temperature_warmup is above 0 ([E] §7)."},
    {"schedule.temperature_warmup",
     "Steps in which τ moves linearly from temperature_from to stack.temperature; 0 = off ([E] §7)."},
    {"precision",
     "The arithmetic of training. TF32 rounds the operands of matmuls to 11 significant bits.\nBF16 and FP16 "
     "round results too, as the next knob selects. On the CPU the three are emulated."},
    {"precision_policy",
     "Of BF16 and FP16. Pure: weights and the result of every operation are rounded ([B]).\nAutocast, as in "
     "PyTorch: matmuls and activations are rounded; weights, norms, softmax and\nresidual sums stay FP32."},
    {"steps", "Steps of the run; the schedule ends with them."},
    {"seed", "Of the initial weights and the batches. Runs with the same seed see the same text."},
    {"validate.every",
     "Steps between two held-out losses, each of the same 64 sequences; the last step has one, too. 0 = "
     "none."},
    {"checkpoint.every", "Steps between two live checkpoints; 0 = automatic."},
    {"checkpoint.keep", "Live checkpoints that are kept."},
    {"probes.id",
     "The probe: an id of `normscope-cli probes`. A recipe that names none has all that run by default."},
    {"probes.every",
     "n: every n-th step, with step 0 and the last step added. auto: the steps follow from the recipe."},
    {"probes.steps",
     "The steps, as groups first:last:stride, with step 0 and the last step added; “auto …” is planned and "
     "is planned again."},
    {"probes.only",
     "The places of the stack that the probe measures, as patterns (“blocks.0, blocks.*.norm_in”); empty = "
     "all."},
    {"probes.formats",
     "Of the probe mismatch: the formats that it measures (“fp16, split”); empty = all. It costs as much "
     "less."},
    {"watch.quantity",
     "What is compared. entropy is that of the probe attention, at its steps; all others are of the training "
     "step."},
    {"watch.is", "How it is compared."},
    {"watch.value", "With what it is compared."},
    {"interventions.kind",
     "norm_eps raises ε of norms whose ρ_LN is between rho and 1 ([B] Exp-3); norm_eps_risk raises it in the "
     "layers "
     "whose predicted error is highest (the second code of [B]). ε is the recipe’s again when the run ends."},
    {"interventions.rho",
     "Of norm_eps: ε is raised to σ²·d·u/ρ, which acts where ρ_LN is between this value and 1, and lowers "
     "it."},
    {"interventions.cap", "The largest ε; at least that of the stack."},
    {"interventions.floor", "The smallest raised ε."},
    {"interventions.every", "Steps between two measurements."},
    {"interventions.samples", "Sequences, or images, of the step’s batch that are measured."},
};

}  // namespace

std::span<const KeyHelp> key_helps() {
    return kRows;
}

const char* key_help(std::string_view key) {
    for (const KeyHelp& row : kRows)
        if (key == row.key) return row.text;
    return nullptr;
}

}  // namespace normscope
