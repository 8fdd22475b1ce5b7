# SPDX-License-Identifier: GPL-3.0-or-later
"""The stack part of a recipe, read from its meaning: complete, with the rule of every sub-layer and the tensors."""

import math
from dataclasses import dataclass, fields


class Unsupported(ValueError):
    """The recipe asks for something that this reference model does not compute."""


@dataclass(frozen=True)
class Rule:
    """Which norms a sub-layer has, the factor a on its shortcut, b on its branch, and s_in after its input norm."""

    norm_in: bool = False
    norm_out: bool = False
    norm_post: bool = False
    a: float = 1.0
    b: float = 1.0
    s_in: float = 1.0


# Mix-LN is Post-LN, then Pre-LN, and "custom" starts from "none"; a and s_in are set in Stack.rule.
RULES = {
    "none": Rule(),
    "post": Rule(norm_post=True),
    "pre": Rule(norm_in=True),
    "peri": Rule(norm_in=True, norm_out=True),
    "sandwich": Rule(norm_in=True, norm_out=True),
    "deepnorm": Rule(norm_post=True),
    "lns": Rule(norm_in=True),
    "output": Rule(norm_out=True),
    "custom": Rule(),
}
SCHEMES = (*RULES, "mix")

# final_norm "auto": GPT-2 blocks under these schemes have none.
NO_FINAL_NORM = {"post", "deepnorm"}

WORDS = {
    "block": ("gpt2", "llama"),
    "input": ("tokens", "patches"),
    "activation": ("gelu_tanh", "gelu_erf", "relu", "silu", "swiglu"),
    "position": ("learned", "rope", "none"),
    "layout": ("serial", "parallel"),
    "scheme": SCHEMES,
    "lns_form": ("factor", "gamma"),
    "final_norm": ("auto", "on", "off"),
    "qk_norm": ("off", "head", "full"),
    "branch_scale": ("none", "scalar", "channel"),
    "norm.kind": ("layernorm", "rmsnorm"),
    "gpas.activation": ("silu", "identity", "relu", "leaky_relu", "tanh", "silu8"),
    "gpas.site": ("auto", "output", "shortcut", "input", "norm", "branch"),
}

DEFAULTS = {
    "block": "gpt2", "depth": 12, "d_model": 64, "heads": 4, "kv_heads": "auto", "d_ff": "auto", "context": 64,
    "vocab": 256, "causal": True, "layout": "serial", "scheme": "pre", "mix_post_fraction": 0.25,
    "lns_form": "factor", "final_norm": "auto", "embedding_norm": False, "qk_norm": "off", "residual_step": 1.0,
    "temperature": 1.0, "branch_scale": "none", "branch_scale_init": 1.0, "logit_soft_cap": 0.0, "z_loss": 0.0,
    "gpas": {"enabled": False, "activation": "silu", "site": "auto", "stop_gradient": True, "learnable": True,
             "clip": 0.0},
    "init": {"rule": "lab", "std": 0.02, "embedding_std": 0.02, "path_maps": 4},
    "input": "tokens", "image": {"size": 32, "channels": 3, "patch": 4}, "classes": 10,
    "layers": [],
}  # fmt: skip
BLOCK_DEFAULTS = {
    "gpt2": {"activation": "gelu_tanh", "bias": True, "position": "learned", "rope_base": 10000.0,
             "tied_head": False, "norm": {"kind": "layernorm", "eps": 1e-5}},
    "llama": {"activation": "swiglu", "bias": False, "position": "rope", "rope_base": 10000.0,
              "tied_head": False, "norm": {"kind": "rmsnorm", "eps": 1e-6}},
}  # fmt: skip


def merged(defaults, given, path="stack"):
    """defaults with what was given instead, group by group; unknown keys and words are rejected."""
    result = dict(defaults)
    for key, value in given.items():
        if key not in defaults:
            raise Unsupported(f"{path}.{key}: unknown key")
        name = f"{path}.{key}".removeprefix("stack.")
        if name in WORDS and value not in WORDS[name]:
            raise Unsupported(f"{path}.{key}: {value!r} is not in the reference model: {list(WORDS[name])}")
        result[key] = merged(defaults[key], value, f"{path}.{key}") if isinstance(value, dict) else value
    return result


@dataclass(frozen=True)
class Stack:
    """Complete: every default filled in. The keys and their values are the recipe's."""

    block: str
    depth: int
    d_model: int
    heads: int
    kv_heads: int
    d_ff: int
    context: int
    vocab: int
    activation: str
    bias: bool
    position: str
    rope_base: float
    tied_head: bool
    causal: bool
    layout: str
    scheme: str
    mix_post_fraction: float
    lns_form: str
    norm: dict
    final_norm: str
    embedding_norm: bool
    qk_norm: str
    residual_step: float
    temperature: float
    branch_scale: str
    branch_scale_init: float
    logit_soft_cap: float
    z_loss: float
    gpas: dict
    init: dict
    input: str
    image: dict
    classes: int
    layers: list

    @staticmethod
    def from_recipe(recipe):
        given = recipe["stack"]
        block = given.get("block", "gpt2")
        if block not in BLOCK_DEFAULTS:
            raise Unsupported(f"stack.block: {block!r} is not in the reference model: {list(BLOCK_DEFAULTS)}")
        keys = merged({**DEFAULTS, **BLOCK_DEFAULTS[block]}, given)
        if keys["kv_heads"] == "auto":
            keys["kv_heads"] = keys["heads"]
        if keys["d_ff"] == "auto":
            keys["d_ff"] = 4 * keys["d_model"]
        if keys["input"] == "patches":
            across, rest = divmod(keys["image"]["size"], keys["image"]["patch"])
            if rest or keys["tied_head"]:
                raise Unsupported("stack.image: the patch must divide the size, and the head is not tied")
            keys |= {"context": across**2 + 1, "vocab": keys["classes"], "causal": False}
        if keys["d_model"] % keys["heads"] or keys["heads"] % keys["kv_heads"]:
            raise Unsupported("stack.heads: kv_heads must divide heads, heads must divide d_model")
        if keys["position"] == "rope" and keys["d_model"] // keys["heads"] % 2:
            raise Unsupported("stack.position: rope needs an even head width")
        return Stack(**{field.name: keys[field.name] for field in fields(Stack)})

    @property
    def d_head(self):
        return self.d_model // self.heads

    @property
    def of_images(self):
        return self.input == "patches"

    @property
    def parallel(self):
        return self.layout == "parallel"

    @property
    def has_final_norm(self):
        bare = self.block == "gpt2" and self.scheme in NO_FINAL_NORM
        return self.final_norm == "on" or (self.final_norm == "auto" and not bare)

    def rule(self, index):
        """Of sub-layer index (even: attention, odd: FFN), overrides included."""
        layer, kind = index // 2, ("attn", "ffn")[index % 2]
        scheme = self.scheme
        if scheme == "mix":
            scheme = "post" if layer < math.floor(self.mix_post_fraction * self.depth) else "pre"
        row = dict(vars(RULES[scheme]))
        if scheme == "deepnorm":
            row["a"] = (2 * self.depth) ** 0.25
        if scheme == "lns" and self.lns_form == "factor":
            row["s_in"] = (layer + 1) ** -0.5
        for override in self.layers:
            if override["index"] == layer:
                for key, value in override.get(kind, {}).items():
                    row[key if key in "ab" else "norm_" + key] = value
        if self.parallel and kind == "attn":  # the layer's one post norm is placed after the sum of both branches
            row["norm_post"] = False
        return Rule(**row)

    def gate_site(self, index):
        """Where GPAS is placed in this sub-layer; None without. A parallel layer has its post norm in the FFN's rule."""
        if not self.gpas["enabled"]:
            return None
        if self.gpas["site"] != "auto":
            return self.gpas["site"]
        return "shortcut" if self.rule(index | 1 if self.parallel else index).norm_post else "output"

    def parameter_shapes(self):
        """Name -> shape of every tensor that this stack has; matrices are [out, in]."""
        d, hidden, d_kv = self.d_model, self.d_ff, self.d_head * self.kv_heads
        if self.of_images:
            width = self.image["channels"] * self.image["patch"] ** 2
            shapes = {"cls_tok": (d,), "patch_emb.bias": (d,), "patch_emb.weight": (d, width)}
        else:
            shapes = {"tok_emb": (self.vocab, d)}
        if self.position == "learned":
            shapes["pos_emb"] = (self.context, d)

        def add_norm(name):
            shapes[name + ".weight"] = (d,)
            if self.bias and self.norm["kind"] == "layernorm":
                shapes[name + ".bias"] = (d,)

        def add_linear(prefix, weight, bias, rows, columns):
            shapes[prefix + weight] = (rows, columns)
            if self.bias:
                shapes[prefix + bias] = (rows,)

        if self.embedding_norm:
            add_norm("emb_norm")
        for index in range(2 * self.depth):
            prefix = f"blocks.{index // 2}." + ("ffn." if index % 2 else "attn.")
            if index % 2 == 0:
                for x, rows in (("q", d), ("k", d_kv), ("v", d_kv), ("o", d)):
                    add_linear(prefix, "w" + x, "b" + x, rows, d)
                if self.qk_norm != "off":
                    full = self.qk_norm == "full"
                    shapes[prefix + "q_norm.weight"] = (d if full else self.d_head,)
                    shapes[prefix + "k_norm.weight"] = (d_kv if full else self.d_head,)
            elif self.activation == "swiglu":
                add_linear(prefix, "w_gate", "b_gate", hidden, d)
                add_linear(prefix, "w_up", "b_up", hidden, d)
                add_linear(prefix, "w_down", "b_down", d, hidden)
            else:
                add_linear(prefix, "w1", "b1", hidden, d)
                add_linear(prefix, "w2", "b2", d, hidden)
            for site in ("norm_in", "norm_out", "norm_post"):
                if getattr(self.rule(index), site):
                    add_norm(prefix + site)
            if self.branch_scale != "none":
                shapes[prefix + "scale"] = (d,) if self.branch_scale == "channel" else ()
            if index % 2 and self.gpas["enabled"]:
                shapes[f"blocks.{index // 2}.gate"] = ()
        if self.has_final_norm:
            add_norm("final_norm")
        if not self.tied_head:
            shapes["head.weight"] = (self.vocab, d)
        if self.of_images:
            shapes["head.bias"] = (self.vocab,)
        return shapes
