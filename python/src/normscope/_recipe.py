# SPDX-License-Identifier: GPL-3.0-or-later
"""Describes a model of PyTorch and its optimizer as a recipe, as far as the recipe's keys go."""

import math

import torch
from torch import nn

_SCHEMES = {
    (): "none",
    ("norm_in",): "pre",
    ("norm_out",): "output",
    ("norm_in", "norm_out"): "peri",
    ("norm_post",): "post",
}
_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh", "gelu": "gelu_erf",
                "relu": "relu", "silu": "silu", "swish": "silu"}
_OPTIMIZERS = {"AdamW": "adamw", "Adam": "adam", "SGD": "sgd", "Muon": "muon"}


def recipe_of(model, structure, optimizer, *, steps, batch, context, seed, probes):
    """(recipe, what it cannot state): a dict as Normscope reads it, and one phrase for each simplification.

    Its data source is `external`: the data are in the program that trains. batch: sequences of a step.
    """
    unstated = []
    stack = _stack(model, structure, context, unstated)
    recipe = {"format": "normscope-recipe", "version": 1, "stack": stack, "data": {"source": "external"},
              "batch": max(1, batch), "schedule": {"lr": "constant"}, "steps": steps, "seed": seed,
              "precision": _precision(model),
              "probes": [{"id": probe.ID, "every": "auto"} for probe in probes]}
    kind, settings = _optimizer(optimizer, unstated)
    recipe["optimizer"] = {"kind": kind, **settings}
    return recipe, unstated


def _stack(model, structure, context, unstated):
    config = getattr(getattr(model, "config", None), "text_config", getattr(model, "config", None))
    sizes = structure.sizes
    norms = structure.sites()
    stack = {
        "block": "gpt2", "depth": structure.depth, "d_model": structure.d_model, "heads": structure.heads,
        "kv_heads": sizes.get("kv_heads") or structure.heads, "d_ff": sizes.get("d_ff") or 4 * structure.d_model,
        "context": max(context, 1), "vocab": max(2, sizes.get("vocab") or 2),
        "layout": "parallel" if structure.parallel else "serial",
        "activation": _activation(model, structure, config, unstated),
        "bias": any(name.endswith("bias") for module in structure.sublayers[0].modules for name, _ in module.named_parameters()),
        "position": _position(model, config),
        "tied_head": _tied(structure),
        "final_norm": "on" if structure.final_norm else "off",
        "norm": {"kind": norms[0].kind if norms else "layernorm", "eps": norms[0].eps if norms else 1e-5},
        "residual_step": 1.0, "temperature": 1.0,
    }
    head_dim = getattr(config, "head_dim", None)
    if isinstance(head_dim, int) and head_dim > 0 and head_dim * structure.heads != structure.d_model:
        stack["head_width"] = head_dim
    elif stack["d_model"] % stack["heads"]:
        unstated.append(f"{stack['heads']} heads, which do not divide d_model {stack['d_model']}")
        stack["heads"] = stack["kv_heads"] = math.gcd(stack["d_model"], stack["heads"])
    if stack["heads"] % stack["kv_heads"]:
        stack["kv_heads"] = stack["heads"]
    if stack["position"] == "rope" and stack.get("head_width", stack["d_model"] // stack["heads"]) % 2:
        stack["position"] = "none"
    theta = getattr(config, "rope_theta", None) or _rotation(config).get("rope_theta")
    if isinstance(theta, (int, float)) and theta > 1:
        stack["rope_base"] = float(theta)
    scaling = _rope_scaling(config, stack["context"], unstated)
    if scaling:
        stack["rope_scaling"] = scaling
    fraction = _rotary_fraction(config)
    if fraction != 1:
        stack["rope_fraction"] = fraction
    stack.update(_local_layers(config, structure.depth, unstated))
    stack.update(_windows(config, stack, unstated))
    scale = next((float(m.scalar_embed_scale) for m in structure.embeddings if hasattr(m, "scalar_embed_scale")), 1.0)
    if scale != 1:
        stack["embedding_scale"] = scale
    if norms and all(site.gain() is None for site in norms):
        stack["norm"]["affine"] = False
    if getattr(structure.head, "bias", None) is not None:
        stack["head_bias"] = True
    for key, theirs in (("attention_soft_cap", "attn_logit_softcapping"), ("logit_soft_cap", "final_logit_softcapping")):
        cap = getattr(config, theirs, None)
        if isinstance(cap, (int, float)) and cap > 0:
            stack[key] = float(cap)
    if any(site.kind != norms[0].kind or site.eps != norms[0].eps for site in norms):
        unstated.append("norms of more than one kind or ε")
    if any(site.unit_offset for site in norms):
        unstated.append("norms with the gain 1 + γ")
    _scheme(structure, stack, unstated)
    return stack


def _rotation(config, kind="full_attention"):
    """What a configuration states of rotary positions; where that is by the kind of layer, of this kind."""
    parameters = getattr(config, "rope_parameters", None) or {}
    return parameters.get(kind) or {} if {"full_attention", "sliding_attention"} & parameters.keys() else parameters


def _local_layers(config, depth, unstated):
    """The keys of layers with rotary positions of their own (Gemma 3)."""
    types, local = getattr(config, "layer_types", None), _rotation(config, "sliding_attention")
    if not types or local == _rotation(config) or "sliding_attention" not in types:
        return {}
    for every in range(2, depth + 2):
        if all((kind == "full_attention") == ((layer + 1) % every == 0) for layer, kind in enumerate(types)):
            return {"rope_global_every": every, "rope_local_base": float(local.get("rope_theta") or 10000.0)}
    unstated.append("which layers have rotary positions of their own")
    return {}


def _windows(config, stack, unstated):
    """The keys of sliding windows that hide a token."""
    window = getattr(config, "sliding_window", None)
    if not isinstance(window, int) or not 0 < window < stack["context"] or not getattr(config, "use_sliding_window", True):
        return {}
    types = getattr(config, "layer_types", None) or ["sliding_attention"] * stack["depth"]
    if "sliding_attention" not in types:
        return {}
    for every in range(2, stack["depth"] + 2):
        if all((kind == "full_attention") == ((layer + 1) % every == 0) for layer, kind in enumerate(types)):
            base = stack.get("rope_local_base", stack.get("rope_base", 10000.0))
            return {"window": window, "rope_global_every": every, "rope_local_base": base}
    unstated.append("which layers have sliding windows")
    return {}


def _rotary_fraction(config):
    """The share of a head's entries that rotary positions turn."""
    parameters = _rotation(config)
    for value in (parameters.get("partial_rotary_factor"), getattr(config, "partial_rotary_factor", None),
                  getattr(config, "rotary_pct", None)):
        if isinstance(value, (int, float)) and 0 < value <= 1:
            return float(value)
    return 1.0


def _rope_scaling(config, context, unstated):
    """stack.rope_scaling of a configuration of transformers, or None."""
    given = {**(getattr(config, "rope_scaling", None) or {}), **_rotation(config)}
    kind = given.get("rope_type") or given.get("type") or "default"
    if kind == "default":
        return None
    names = {"factor": "factor", "original_max_position_embeddings": "original_context", "low_freq_factor": "low_frequency",
             "high_freq_factor": "high_frequency", "beta_fast": "beta_fast", "beta_slow": "beta_slow",
             "attention_factor": "attention_factor"}
    if kind not in ("linear", "llama3", "yarn") or given.get("mscale") or given.get("truncate") is False:
        unstated.append(f"rotary positions scaled by {kind}")
        return None
    original = getattr(config, "original_max_position_embeddings", None) or \
        getattr(config, "max_position_embeddings", None) or context
    return {"original_context": original, **{to: given[name] for name, to in names.items() if given.get(name) is not None},
            "kind": kind}


def _scheme(structure, stack, unstated):
    placed = [tuple(site for site in ("norm_in", "norm_out", "norm_post") if site in sublayer.norms)
              for sublayer in structure.sublayers]
    if structure.parallel:  # one norm, or two alike, before both maps
        if all(placed[layer] and not placed[layer + 1] for layer in range(0, len(placed), 2)):
            stack["shared_norm"] = True
        placed = [one or placed[0] for one in placed]
    if len(set(placed)) == 1 and placed[0] in _SCHEMES:
        stack["scheme"] = _SCHEMES[placed[0]]
        return
    stack["scheme"] = "custom"
    stack["layers"] = [
        {"index": layer, **{short: {key: "norm_" + key in placed[2 * layer + half] for key in ("in", "out", "post")}
                            for half, short in enumerate(("attn", "ffn"))}}
        for layer in range(structure.depth)]


def _activation(model, structure, config, unstated):
    block_ffn = structure.sublayers[1].modules
    gated = sum(1 for module in block_ffn for child in module.modules() if isinstance(child, nn.Linear)) >= 3 or any(
        "gate" in name for module in block_ffn for name, _ in module.named_modules())
    name = next((getattr(config, key) for key in ("hidden_activation", "hidden_act", "activation_function")
                 if isinstance(getattr(config, key, None), str)), None)
    if gated:
        if name in ("gelu_pytorch_tanh", "gelu_new"):
            return "geglu"
        if name not in (None, "silu", "swish"):
            unstated.append(f"a gated map with {name}")
        return "swiglu"
    if name in _ACTIVATIONS:
        return _ACTIVATIONS[name]
    for module in block_ffn:
        for child in module.modules():
            if isinstance(child, nn.GELU):
                return "gelu_tanh" if getattr(child, "approximate", "none") == "tanh" else "gelu_erf"
            if isinstance(child, nn.ReLU):
                return "relu"
            if isinstance(child, nn.SiLU):
                return "silu"
    for layer in model.modules():
        if isinstance(layer, nn.TransformerEncoderLayer):
            word = getattr(layer.activation, "__name__", type(layer.activation).__name__.lower())
            return {"relu": "relu", "gelu": "gelu_erf"}.get(word, "relu")
    if name is not None:
        unstated.append(f"the activation {name}")
    return "gelu_tanh"


def _position(model, config):
    names = {path.rpartition(".")[2] for path, _ in model.named_modules()}
    if names & {"wpe", "pos_emb", "embed_positions", "position_embeddings"} or any(
            path.rpartition(".")[2] in ("pos_embed", "position_embeddings") for path, _ in model.named_parameters()):
        return "learned"
    if names & {"rotary_emb", "rotary"} or hasattr(config, "rope_theta") or hasattr(config, "rope_parameters"):
        return "rope"
    return "none"


def _tied(structure):
    if structure.head is None:
        return False
    weight = structure.head.weight
    return any(p is weight for module in structure.embeddings for p in module.parameters())


def _precision(model):
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    return {torch.float64: "fp64", torch.bfloat16: "bf16", torch.float16: "fp16"}.get(dtype, "fp32")


def _optimizer(optimizer, unstated):
    if optimizer is None:
        unstated.append("the optimizer, which was not given")
        return "adamw", {}
    kind = _OPTIMIZERS.get(type(optimizer).__name__)
    if kind is None:
        unstated.append(f"the optimizer {type(optimizer).__name__}")
        kind = "adamw"
    group = optimizer.param_groups[0]
    if len(optimizer.param_groups) > 1 and len({g["lr"] for g in optimizer.param_groups}) > 1:
        unstated.append("learning rates by group; that of the first is recorded")
    settings = {}
    for ours, theirs in (("lr", "lr"), ("eps", "eps"), ("weight_decay", "weight_decay")):
        value = group.get("initial_" + theirs, group.get(theirs))  # before a scheduler changed it
        if isinstance(value, (int, float)) and value > 0:
            settings[ours] = float(value)
    settings["weight_decay"] = float(max(g.get("weight_decay", 0.0) or 0.0 for g in optimizer.param_groups))
    betas = group.get("betas")
    if betas is not None and all(0 <= b < 1 for b in betas):
        settings["betas"] = [float(b) for b in betas]
    settings["clip"] = 0.0
    return kind, settings
