# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models in the forms of the field, with their module names."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6, offset=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), 1.0 - offset) + 0.1 * torch.randn(width))
        self.variance_epsilon, self.offset = eps, offset

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon) * (self.weight + self.offset)


class Attention(nn.Module):
    def __init__(self, width, heads, fused):
        super().__init__()
        self.n_head, self.fused = heads, fused
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(width, dim=2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            y = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.gelu, self.c_proj = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(self.gelu(self.c_fc(x)))


# Of each form: names of attention, feed-forward map, and of the norms by place.
FORMS = {
    "gpt2": ("attn", "mlp", {"attn.norm_in": "ln_1", "ffn.norm_in": "ln_2"}),
    "llama": ("self_attn", "mlp", {"attn.norm_in": "input_layernorm", "ffn.norm_in": "post_attention_layernorm"}),
    "output": ("self_attn", "mlp",
               {"attn.norm_out": "post_attention_layernorm", "ffn.norm_out": "post_feedforward_layernorm"}),
    "sandwich": ("self_attn", "mlp",
                 {"attn.norm_in": "input_layernorm", "attn.norm_out": "post_attention_layernorm",
                  "ffn.norm_in": "pre_feedforward_layernorm", "ffn.norm_out": "post_feedforward_layernorm"}),
    "neox": ("attention", "mlp", {"attn.norm_in": "input_layernorm", "ffn.norm_in": "post_attention_layernorm"}),
    "gptj": ("attn", "mlp", {"attn.norm_in": "ln_1"}),
    "post": ("mixer", "map", {"attn.norm_post": "n1", "ffn.norm_post": "n2"}),
}


class Block(nn.Module):
    def __init__(self, form, width, heads, fused, norm):
        super().__init__()
        attention, ffn, norms = FORMS[form]
        self.form, self.names, self.norms = form, (attention, ffn), norms
        setattr(self, attention, Attention(width, heads, fused))
        setattr(self, ffn, FeedForward(width))
        for name in norms.values():
            setattr(self, name, norm(width))

    def sublayer(self, place, x):
        norm = {key.partition(".")[2]: getattr(self, name) for key, name in self.norms.items()
                if key.startswith(place + ".")}
        f = getattr(self, self.names[place == "ffn"])
        same = nn.Identity()
        return norm.get("norm_out", same)(f(norm.get("norm_in", same)(x))), norm.get("norm_post", same)

    def forward(self, x):
        if self.form == "neox":
            return x + self.sublayer("attn", x)[0] + self.sublayer("ffn", x)[0]
        if self.form == "gptj":
            y = self.ln_1(x)
            return x + self.attn(y) + self.mlp(y)
        for place in ("attn", "ffn"):
            branch, after = self.sublayer(place, x)
            x = after(x + branch)
        return x


class Config:
    def __init__(self, **values):
        self.__dict__.update(values)


class Model(nn.Module):
    """nanoGPT's form; of other forms the same with their names."""

    def __init__(self, form="gpt2", vocab=50, context=16, depth=3, width=24, heads=4, fused=False, norm=nn.LayerNorm,
                 tied=False, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.config = Config(n_layer=depth, n_head=heads, n_embd=width, block_size=context, vocab_size=vocab, bias=True,
                             dropout=0.0, use_parallel_residual=form == "neox")
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocab, width), "wpe": nn.Embedding(context, width),
            "h": nn.ModuleList([Block(form, width, heads, fused, norm) for _ in range(depth)]),
            "ln_f": norm(width)})
        self.lm_head = nn.Linear(width, vocab, bias=False)
        if tied:
            self.lm_head.weight = self.transformer.wte.weight
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.normal_(parameter, std=0.1)

    def forward(self, tokens, targets=None, states=None):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.shape[1]))
        for block in self.transformer.h:
            if states is not None:
                states.append(x)
            x = block(x)
        if states is not None:
            states.append(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Encoder(nn.Module):
    """nn.TransformerEncoder between an embedding and a head."""

    def __init__(self, norm_first=False, batch_first=True, vocab=50, depth=3, width=24, heads=4, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=batch_first,
                                           norm_first=norm_first)
        self.batch_first = batch_first
        self.embed = nn.Embedding(vocab, width)
        self.encoder = nn.TransformerEncoder(layer, depth, **({"enable_nested_tensor": False}))
        for parameter in self.encoder.parameters():  # the layers are copies of one
            nn.init.normal_(parameter, std=0.2)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        y = self.encoder(x if self.batch_first else x.transpose(0, 1))
        logits = self.head(y if self.batch_first else y.transpose(0, 1))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batches(count, sequences=8, length=16, vocab=50, seed=1):
    """[(tokens, targets), …]"""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        text = torch.randint(0, vocab, (sequences, length + 1), generator=generator)
        yield text[:, :-1].contiguous(), text[:, 1:].contiguous()


def train(model, steps, recorder=None, optimizer=None, **of_batches):
    """Losses of a plain loop."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for tokens, targets in batches(steps, **of_batches):
        optimizer.zero_grad()
        _, loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if recorder:
            recorder.step(loss)
    return losses
