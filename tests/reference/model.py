# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain PyTorch float64 transformer over the one sub-layer form, differentiated by autograd alone.

It is the outside opinion on Normscope's hand-written forward, backward and tangent passes, so it is written
from the recipe's meaning and shares no formula with them. Every sub-layer of every scheme is

    u = s_in·N_in(x),   y = N_out(f(u)),   z = a·r + Δt·b·scale∘y,   x' = N_post(z)

with f attention or the feed-forward network, each norm present or not (stack.py), and r = x but for the gate of GPAS,
P_g(v) = v − act(g)·sg(v), applied at one of five sites: x (input), u (norm), y (branch), r (shortcut), x' (output).

In a parallel layer both branches read the layer's x (after an input gate): h' = a·r + the attention branch, then
x' = N_post(h' + the FFN branch), with a from the attention's rule, N_post from the FFN's, and the gate of x, r or x'
once; u and y are each branch's own.
"""

import math
from dataclasses import dataclass, replace

import torch

from stack import SCHEMES, Stack, Unsupported  # noqa: F401 (for those who import the model)

ACTIVATIONS = {
    "gelu_tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_erf": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "relu": torch.relu,
    "silu": lambda x: x * torch.sigmoid(x),
}

GATE_ACTIVATIONS = {
    "silu": lambda g: g * torch.sigmoid(g),
    "identity": lambda g: g,
    "relu": torch.relu,
    "leaky_relu": lambda g: torch.nn.functional.leaky_relu(g, 0.01),
    "tanh": torch.tanh,
    "silu8": lambda g: g * torch.sigmoid(8 * g),
}


def normalise(x, kind, eps):
    """x over its last axis without gain and bias: (x − mean)/√(var + eps), or x/√(mean square + eps)."""
    if kind == "layernorm":
        x = x - x.mean(-1, keepdim=True)
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


def rotate(x, base):
    """RoPE of x [..., n, d_h]: channels i and i + d_h/2 are one complex number, rotated by position·base^(−2i/d_h)."""
    n, half = x.shape[-2], x.shape[-1] // 2
    speed = base ** (-2 * torch.arange(half, dtype=x.dtype) / x.shape[-1])
    angle = torch.arange(n, dtype=x.dtype)[:, None] * speed
    rotated = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([rotated.real, rotated.imag], -1)


@dataclass
class Site:
    """A norm as it was passed: input and output [B, n, d]; for a post norm the δ in its input, all that was added to
    the shortcut."""

    name: str
    input: torch.Tensor
    output: torch.Tensor
    delta: torch.Tensor = None


@dataclass
class Trace:
    """One forward pass. hidden: 2·depth + 1 of [B, n, d]; attention: depth of [B, H, n, n]. total is the loss that is
    differentiated, loss with the z-loss."""

    sites: list
    attention: list
    hidden: list = None
    final: torch.Tensor = None
    logits: torch.Tensor = None
    loss: torch.Tensor = None
    total: torch.Tensor = None


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
        # sg(·) of the gate; a check of the gradients puts a recorded constant in its place.
        self.stopped = torch.detach if stack.gpas["stop_gradient"] else lambda x: x

    def without_stop_gradient(self):
        """The same forward map, whose derivative autograd then gives in full."""
        return Model(replace(self.stack, gpas={**self.stack.gpas, "stop_gradient": False}), self.params)

    def linear(self, x, prefix, weight, bias):
        y = x @ self.params[prefix + weight].T
        return y + self.params[prefix + bias] if self.stack.bias else y

    def norm(self, x, name, trace=None, delta=None):
        y = normalise(x, **self.stack.norm) * self.params[name + ".weight"]
        if name + ".bias" in self.params:
            y = y + self.params[name + ".bias"]
        if trace is not None:
            trace.sites.append(Site(name, x, y, delta))
        return y

    def gated(self, site, index, x):
        """P_g(x) where this sub-layer's gate is at this site, else x."""
        if self.stack.gate_site(index) != site:
            return x
        g = self.params[f"blocks.{index // 2}.gate"]
        return x - GATE_ACTIVATIONS[self.stack.gpas["activation"]](g) * self.stopped(x)

    def attention(self, u, prefix):
        """u [..., n, d] -> branch [..., n, d] and probabilities [..., H, n, n], 0 where masked."""
        stack, n, d_head = self.stack, u.shape[-2], self.stack.d_head

        def heads(name):  # -> [..., heads or kv_heads, n, d_h]
            x = self.linear(u, prefix, "w" + name, "b" + name)
            gain = self.params.get(f"{prefix}{name}_norm.weight")
            if gain is not None and stack.qk_norm == "full":
                x = normalise(x, **stack.norm) * gain
            x = x.reshape(*x.shape[:-1], -1, d_head).transpose(-3, -2)
            if gain is not None and stack.qk_norm == "head":
                x = normalise(x, **stack.norm) * gain
            if stack.position == "rope" and name != "v":
                x = rotate(x, stack.rope_base)
            return x

        q, k, v = heads("q"), heads("k"), heads("v")
        group = stack.heads // stack.kv_heads  # so many neighbouring heads read one key and value head
        k, v = (x.repeat_interleave(group, -3) for x in (k, v))
        scores = q @ k.transpose(-2, -1) / (stack.temperature * math.sqrt(d_head))
        if stack.causal:
            later = torch.ones(n, n, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        p = torch.softmax(scores, -1)
        joined = (p @ v).transpose(-3, -2).reshape(u.shape)
        return self.linear(joined, prefix, "wo", "bo"), p

    def ffn(self, u, prefix):
        if self.stack.activation == "swiglu":
            gate = ACTIVATIONS["silu"](self.linear(u, prefix, "w_gate", "b_gate"))
            return self.linear(gate * self.linear(u, prefix, "w_up", "b_up"), prefix, "w_down", "b_down")
        inner = ACTIVATIONS[self.stack.activation](self.linear(u, prefix, "w1", "b1"))
        return self.linear(inner, prefix, "w2", "b2")

    def branch(self, x, index, trace=None):
        """What sub-layer index (even: attention, odd: FFN) adds to its shortcut: Δt·b·scale∘y of x [..., n, d]."""
        rule, prefix = self.stack.rule(index), f"blocks.{index // 2}." + ("ffn." if index % 2 else "attn.")
        u = rule.s_in * (self.norm(x, prefix + "norm_in", trace) if rule.norm_in else x)
        u = self.gated("norm", index, u)
        if index % 2:
            y = self.ffn(u, prefix)
        else:
            y, p = self.attention(u, prefix)
            if trace is not None:
                trace.attention.append(p)
        if rule.norm_out:
            y = self.norm(y, prefix + "norm_out", trace)
        y = self.gated("branch", index, y)
        return self.stack.residual_step * rule.b * self.params.get(prefix + "scale", 1.0) * y

    def shortcut(self, x, index):
        return self.stack.rule(index).a * self.gated("shortcut", index, x)

    def leave(self, z, index, delta, trace=None):
        """z -> x', gated where the gate is at the output; delta is what z holds besides the shortcut."""
        if self.stack.rule(index).norm_post:
            kind = "ffn" if index % 2 else "attn"
            z = self.norm(z, f"blocks.{index // 2}.{kind}.norm_post", trace, delta)
        return self.gated("output", index, z)

    def sublayer(self, x, index, trace=None):
        """x -> x' [..., n, d] of a serial sub-layer."""
        x = self.gated("input", index, x)
        delta = self.branch(x, index, trace)
        return self.leave(self.shortcut(x, index) + delta, index, delta, trace)

    def parallel_layer(self, x, layer, trace=None):
        """x -> h' and x'' of a parallel layer."""
        index = 2 * layer
        x = self.gated("input", index, x)
        delta = self.branch(x, index, trace)
        between = self.shortcut(x, index) + delta
        second = self.branch(x, index + 1, trace)
        return between, self.leave(between + second, index + 1, delta + second, trace)

    def layer(self, x, layer, trace=None):
        """x -> the hidden states after both sub-layers."""
        if self.stack.parallel:
            return self.parallel_layer(x, layer, trace)
        between = self.sublayer(x, 2 * layer, trace)
        return between, self.sublayer(between, 2 * layer + 1, trace)

    def parallel_part(self, index, at):
        """A sub-layer's own share of a parallel layer, as a map of the layer's x near `at`: h' for the attention; for
        the FFN the layer's output with the attention's branch held at its value."""
        layer = index // 2
        if index % 2 == 0:
            return lambda x: self.parallel_layer(x, layer)[0]
        held = self.branch(self.gated("input", index, at), index - 1).detach()

        def part(x):
            x = self.gated("input", index, x)
            delta = held + self.branch(x, index)
            return self.leave(self.shortcut(x, index - 1) + delta, index, delta)

        return part

    def blocks(self, x):
        """hidden[0] -> hidden[2·depth]."""
        for layer in range(self.stack.depth):
            x = self.layer(x, layer)[1]
        return x

    def embedded_images(self, images):
        """images [B, channels, size, size] -> [B, n, d]: the class token, then the patches, row by row."""
        p, d, patch = self.params, self.stack.d_model, self.stack.image["patch"]
        kernel = p["patch_emb.weight"].reshape(d, images.shape[1], patch, patch)
        patches = torch.nn.functional.conv2d(images, kernel, p["patch_emb.bias"], stride=patch)
        patches = patches.flatten(2).transpose(1, 2)
        return torch.cat([p["cls_tok"].expand(len(images), 1, d), patches], 1)

    def forward(self, tokens, targets):
        """tokens, targets [B, n] int64, or images [B, channels, size, size] and classes [B] -> all that leads to the
        loss, attached to the graph."""
        of_images = self.stack.of_images
        if not of_images and (tokens.shape != targets.shape or tokens.shape[1] > self.stack.context):
            shapes = f"tokens {tuple(tokens.shape)}, targets {tuple(targets.shape)}"
            raise ValueError(f"{shapes}, context {self.stack.context}")
        stack, trace = self.stack, Trace(sites=[], attention=[])
        x = self.embedded_images(tokens) if of_images else self.params["tok_emb"][tokens]
        if stack.position == "learned":
            x = x + self.params["pos_emb"][: x.shape[1]]
        if stack.embedding_norm:
            x = self.norm(x, "emb_norm", trace)
        trace.hidden = [x]
        for layer in range(stack.depth):
            trace.hidden += self.layer(trace.hidden[-1], layer, trace)
        x = trace.hidden[-1]
        trace.final = self.norm(x, "final_norm", trace) if stack.has_final_norm else x
        trace.logits = trace.final @ self.params["tok_emb" if stack.tied_head else "head.weight"].T
        if of_images:
            trace.logits = trace.logits + self.params["head.bias"]
        if stack.logit_soft_cap > 0:
            trace.logits = stack.logit_soft_cap * torch.tanh(trace.logits / stack.logit_soft_cap)
        scored = trace.logits[:, 0] if of_images else trace.logits
        log_p = torch.log_softmax(scored, -1)
        trace.loss = -log_p.gather(-1, targets.unsqueeze(-1)).mean()
        trace.total = trace.loss + stack.z_loss * (torch.logsumexp(scored, -1) ** 2).mean()
        return trace
