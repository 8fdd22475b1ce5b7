# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain PyTorch float64 transformer over the one sub-layer form, differentiated by autograd alone.

It is the outside opinion on Normscope's hand-written forward, backward and tangent passes, so it is written
from the recipe's meaning and shares no formula with them. Every sub-layer of every scheme is

    u = N_in(x),   y = N_out(f(u)),   z = a·x + Δt·y,   x' = N_post(z)

with f attention or the feed-forward network and each norm present or not: a scheme is a row of RULES.
"""

import math
from dataclasses import dataclass

import torch


class Unsupported(ValueError):
    """The recipe asks for something that this reference model does not compute."""


@dataclass(frozen=True)
class Rule:
    """Which norms a sub-layer has, and the factor a on its shortcut."""

    norm_in: bool = False
    norm_out: bool = False
    norm_post: bool = False
    a: float = 1.0


RULES = {
    "none": Rule(),
    "pre": Rule(norm_in=True),
    "post": Rule(norm_post=True),
    "peri": Rule(norm_in=True, norm_out=True),
}

# final_norm "auto": GPT-2 blocks under these schemes have none (a Post-LN stack already ends in a norm).
NO_FINAL_NORM = {"none", "post", "deepnorm"}

ACTIVATIONS = {
    "gelu_tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_erf": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "relu": torch.relu,
    "silu": lambda x: x * torch.sigmoid(x),
}

# The recipe's defaults (stack part), as far as this model reads them.
DEFAULTS = {
    "depth": 12, "d_model": 64, "heads": 4, "d_ff": 256, "context": 64, "vocab": 256,
    "activation": "gelu_tanh", "bias": True, "tied_head": False, "causal": True,
    "scheme": "pre", "norm": {"kind": "layernorm", "eps": 1e-5}, "final_norm": "auto",
    "residual_step": 1.0, "temperature": 1.0,
}  # fmt: skip

# Keys of which only one value is computed here, and keys that say nothing about the forward pass of these
# schemes (kv_heads and gpas are looked at on their own). Any other key is refused.
ONLY = {
    "block": "gpt2", "position": "learned", "layout": "serial", "embedding_norm": False, "qk_norm": "off",
    "branch_scale": "none", "logit_soft_cap": 0, "z_loss": 0, "layers": [],
}  # fmt: skip
UNUSED = {"mix_post_fraction", "lns_form", "rope_base", "init", "branch_scale_init", "kv_heads", "gpas"}


@dataclass(frozen=True)
class Stack:
    """The stack part of a recipe, complete."""

    depth: int
    d_model: int
    heads: int
    d_ff: int
    context: int
    vocab: int
    activation: str
    bias: bool
    tied_head: bool
    causal: bool
    scheme: str
    norm: dict
    final_norm: str
    residual_step: float
    temperature: float

    @staticmethod
    def from_recipe(recipe):
        given = recipe["stack"]
        for key, value in given.items():
            if key in ONLY and value != ONLY[key]:
                raise Unsupported(f"stack.{key}: {value!r} is not in the reference model, only {ONLY[key]!r}")
            if key not in DEFAULTS.keys() | ONLY.keys() | UNUSED:
                raise Unsupported(f"stack.{key}: unknown key")
        norm = {**DEFAULTS["norm"], **given.get("norm", {})}
        stack = Stack(**{**{key: given.get(key, default) for key, default in DEFAULTS.items()}, "norm": norm})
        for key, value, allowed in (
            ("scheme", stack.scheme, RULES),
            ("activation", stack.activation, ACTIVATIONS),
            ("norm.kind", norm["kind"], ("layernorm", "rmsnorm")),
            ("final_norm", stack.final_norm, ("auto", "on", "off")),
            ("gpas.enabled", given.get("gpas", {}).get("enabled", False), (False,)),
            ("kv_heads", given.get("kv_heads", stack.heads), (stack.heads,)),
        ):
            if value not in allowed:
                raise Unsupported(f"stack.{key}: {value!r} is not in the reference model: {list(allowed)}")
        return stack

    @property
    def rule(self):
        return RULES[self.scheme]

    @property
    def has_final_norm(self):
        return self.final_norm == "on" or (self.final_norm == "auto" and self.scheme not in NO_FINAL_NORM)

    def parameter_shapes(self):
        """Name -> shape of every tensor that this stack has; matrices are [out, in]."""
        d, hidden = self.d_model, self.d_ff
        shapes = {"tok_emb": (self.vocab, d), "pos_emb": (self.context, d)}

        def add_norm(name):
            shapes[name + ".weight"] = (d,)
            if self.bias and self.norm["kind"] == "layernorm":
                shapes[name + ".bias"] = (d,)

        def add_linear(prefix, weight, bias, rows, columns):
            shapes[prefix + weight] = (rows, columns)
            if self.bias:
                shapes[prefix + bias] = (rows,)

        for layer in range(self.depth):
            attention, ffn = f"blocks.{layer}.attn.", f"blocks.{layer}.ffn."
            for x in "qkvo":
                add_linear(attention, "w" + x, "b" + x, d, d)
            add_linear(ffn, "w1", "b1", hidden, d)
            add_linear(ffn, "w2", "b2", d, hidden)
            for prefix in (attention, ffn):
                for site in ("norm_in", "norm_out", "norm_post"):
                    if getattr(self.rule, site):
                        add_norm(prefix + site)
        if self.has_final_norm:
            add_norm("final_norm")
        if not self.tied_head:
            shapes["head.weight"] = (self.vocab, d)
        return shapes


def normalise(x, kind, eps):
    """x over its last axis without gain and bias: (x − mean)/√(var + eps), or x/√(mean square + eps)."""
    if kind == "layernorm":
        x = x - x.mean(-1, keepdim=True)
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


@dataclass
class Site:
    """A norm as it was passed: input and output [B, n, d]; for a post norm the δ = Δt·y in its input."""

    name: str
    input: torch.Tensor
    output: torch.Tensor
    delta: torch.Tensor = None


class Model:
    """params: name -> float64 tensor, exactly those of stack.parameter_shapes()."""

    def __init__(self, stack, params):
        shapes = stack.parameter_shapes()
        if params.keys() != shapes.keys():
            raise ValueError(f"tensors missing or not in the recipe: {sorted(params.keys() ^ shapes.keys())}")
        for name, shape in shapes.items():
            if tuple(params[name].shape) != shape:
                raise ValueError(f"{name}: shape {tuple(params[name].shape)}, the recipe says {shape}")
        self.stack, self.params = stack, params

    def linear(self, x, prefix, weight, bias):
        y = x @ self.params[prefix + weight].T
        return y + self.params[prefix + bias] if self.stack.bias else y

    def norm(self, x, name, sites=None, delta=None):
        y = normalise(x, **self.stack.norm) * self.params[name + ".weight"]
        if name + ".bias" in self.params:
            y = y + self.params[name + ".bias"]
        if sites is not None:
            sites.append(Site(name, x, y, delta))
        return y

    def attention(self, u, prefix):
        """u [..., n, d] -> branch [..., n, d] and probabilities [..., H, n, n], 0 where masked."""
        n, heads = u.shape[-2], self.stack.heads
        d_head = self.stack.d_model // heads

        def split(x):  # [..., n, d] -> [..., H, n, d_h]
            return x.reshape(*x.shape[:-1], heads, d_head).transpose(-3, -2)

        q, k, v = (split(self.linear(u, prefix, "w" + x, "b" + x)) for x in "qkv")
        scores = q @ k.transpose(-2, -1) / (self.stack.temperature * math.sqrt(d_head))
        if self.stack.causal:
            later = torch.ones(n, n, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        p = torch.softmax(scores, -1)
        joined = (p @ v).transpose(-3, -2).reshape(u.shape)
        return self.linear(joined, prefix, "wo", "bo"), p

    def ffn(self, u, prefix):
        inner = ACTIVATIONS[self.stack.activation](self.linear(u, prefix, "w1", "b1"))
        return self.linear(inner, prefix, "w2", "b2")

    def sublayer(self, x, index, sites=None, attention=None):
        """Sub-layer index (even: attention, odd: FFN) of x [..., n, d]. Appends to the lists given."""
        rule, prefix = self.stack.rule, f"blocks.{index // 2}." + ("ffn." if index % 2 else "attn.")
        u = self.norm(x, prefix + "norm_in", sites) if rule.norm_in else x
        if index % 2:
            y = self.ffn(u, prefix)
        else:
            y, p = self.attention(u, prefix)
            if attention is not None:
                attention.append(p)
        if rule.norm_out:
            y = self.norm(y, prefix + "norm_out", sites)
        delta = self.stack.residual_step * y
        z = rule.a * x + delta
        return self.norm(z, prefix + "norm_post", sites, delta) if rule.norm_post else z

    def blocks(self, x):
        """hidden[0] -> hidden[2·depth]."""
        for index in range(2 * self.stack.depth):
            x = self.sublayer(x, index)
        return x

    def forward(self, tokens, targets):
        """tokens, targets [B, n] int64 -> all that leads to the mean cross-entropy, attached to the graph."""
        if tokens.shape != targets.shape or tokens.shape[1] > self.stack.context:
            shapes = f"tokens {tuple(tokens.shape)}, targets {tuple(targets.shape)}"
            raise ValueError(f"{shapes}, context {self.stack.context}")
        trace = Trace(sites=[], attention=[])
        x = self.params["tok_emb"][tokens] + self.params["pos_emb"][: tokens.shape[1]]
        trace.hidden = [x]
        for index in range(2 * self.stack.depth):
            x = self.sublayer(x, index, trace.sites, trace.attention)
            trace.hidden.append(x)
        trace.final = self.norm(x, "final_norm", trace.sites) if self.stack.has_final_norm else x
        head = self.params["tok_emb" if self.stack.tied_head else "head.weight"]
        trace.logits = trace.final @ head.T
        log_p = torch.log_softmax(trace.logits, -1)
        trace.loss = -log_p.gather(-1, targets.unsqueeze(-1)).mean()
        return trace


@dataclass
class Trace:
    """One forward pass. hidden: 2·depth + 1 of [B, n, d]; attention: depth of [B, H, n, n]."""

    sites: list
    attention: list
    hidden: list = None
    final: torch.Tensor = None
    logits: torch.Tensor = None
    loss: torch.Tensor = None
