# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the parts of a transformer are in a model of PyTorch.

Every sub-layer is one form, each norm may be absent: x' = N_post(x + N_out(f(N_in(x)))), f attention or the
feed-forward map. `find_structure` recognises the models of Hugging Face's transformers, nanoGPT's form,
`nn.TransformerEncoder` and timm's ViT by the names of their modules; `Structure.of` takes those of any other.
"""

from dataclasses import dataclass, field

import torch
from torch import nn

SITES = ("norm_in", "norm_out", "norm_post")


class UnknownStructure(ValueError):
    """The model is of no known form; the message says what was looked for."""


def local(tensor):
    """What this process has of a tensor that is spread over several (FSDP): no other one takes part."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


@dataclass(frozen=True)
class Tap:
    """A tensor [batch, tokens, d] of a pass: the first input or output of a module."""

    module: nn.Module
    side: str  # "input" or "output"


@dataclass
class NormSite:
    """One norm of the stack: its name as in a session (blocks.0.attn.norm_in, final_norm) and what it computes."""

    name: str
    module: nn.Module
    kind: str  # "layernorm" or "rmsnorm"
    eps: float
    unit_offset: bool = False  # the gain is 1 + weight (Gemma)

    def gain(self):
        """γ [d], or None without one. Under FSDP only while the layer's pass runs; else a part of it (`sharded`)."""
        weight = getattr(self.module, "weight", None)
        if weight is None:
            return None
        return local(weight.detach()) + 1 if self.unit_offset else local(weight.detach())

    @property
    def sharded(self):
        """Whether this process has a part of γ alone."""
        return hasattr(getattr(self.module, "weight", None), "to_local")


@dataclass
class Sublayer:
    """Attention or the feed-forward map of a layer.

    branch: what is added to the stream. result: the stream after it, None where no module shows it (the sum of
    stream and branch is taken). norms: by site. modules: whose parameters are the sub-layer's.
    """

    branch: Tap
    result: Tap
    norms: dict
    modules: list


@dataclass
class Structure:
    """The parts of a stack, and its sizes. Sub-layers alternate: attention, feed-forward map, …"""

    family: str
    first: Tap  # the input of the first sub-layer
    sublayers: list
    attention: list  # of each layer: the module in which its softmax runs
    heads: int
    d_model: int
    embeddings: list = field(default_factory=list)
    final_norm: NormSite = None
    head: nn.Module = None
    parallel: bool = False  # attention and the feed-forward map read the same tensor
    batch_first: bool = True
    sizes: dict = field(default_factory=dict)  # kv_heads, d_ff, context, vocab, … where known

    @property
    def depth(self):
        return len(self.sublayers) // 2

    def sites(self):
        """Every norm of the stream, in forward order."""
        found = []
        for sublayer in self.sublayers:
            found += [sublayer.norms[site] for site in SITES if site in sublayer.norms]
        return found + ([self.final_norm] if self.final_norm else [])

    @staticmethod
    def of(blocks, attention, feed_forward, norms, *, heads, d_model, final_norm=None, head=None, embeddings=(),
           parallel=False, batch_first=True, family="given", **sizes):
        """The structure of a model that is of no known form.

        blocks: the layers, in order. attention, feed_forward: names of their modules in a layer ("attn",
        "mlp"), or a list of names whose last one shows the branch. norms: names by place, such as
        {"attn.norm_in": "ln_1", "ffn.norm_in": "ln_2"}; places are attn. or ffn. and norm_in (before the map),
        norm_out (after it, before the sum), norm_post (after the sum).
        """
        blocks = list(blocks)
        if not blocks:
            raise UnknownStructure("blocks: there are none")
        for place in norms:
            if place.partition(".")[0] not in ("attn", "ffn") or place.partition(".")[2] not in SITES:
                raise UnknownStructure(f"norms: the place {place} is unknown; attn. or ffn. and {', '.join(SITES)}")
        sublayers, of_attention = [], []
        for index, block in enumerate(blocks):
            pair = []
            for short, names in (("attn", attention), ("ffn", feed_forward)):
                modules = [_module(block, name) for name in ([names] if isinstance(names, str) else names)]
                sites = {
                    place.partition(".")[2]: norm_site(f"blocks.{index}.{place}", _module(block, name), d_model)
                    for place, name in norms.items()
                    if place.startswith(short + ".")
                }
                out = sites.get("norm_out")
                branch = Tap(out.module if out else modules[-1], "output")
                pair.append(Sublayer(branch, None, sites, modules + [site.module for site in sites.values()]))
            first, second = pair
            if "norm_post" in first.norms:
                first.result = Tap(first.norms["norm_post"].module, "output")
            elif "norm_in" in second.norms and not parallel:
                first.result = Tap(second.norms["norm_in"].module, "input")
            elif not parallel:
                first.result = Tap(second.modules[0], "input")
            second.result = Tap(block, "output")
            sublayers += pair
            of_attention.append(first.modules[0])
        return Structure(
            family=family, first=Tap(blocks[0], "input"), sublayers=sublayers, attention=of_attention, heads=heads,
            d_model=d_model, embeddings=list(embeddings), head=head, parallel=parallel, batch_first=batch_first,
            final_norm=norm_site("final_norm", final_norm, d_model) if final_norm is not None else None, sizes=sizes)


def _module(block, name):
    found = block
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, nn.Module):
        raise UnknownStructure(f"{type(block).__name__} has no module {name}")
    return found


def norm_site(name, module, width):
    """A norm's site: its kind, ε and gain, from its attributes and, where those do not decide, by a trial."""
    eps = next((float(getattr(module, key)) for key in ("eps", "variance_epsilon", "epsilon")
                if isinstance(getattr(module, key, None), (int, float))), None)
    if eps is None:
        # torch.nn.RMSNorm without an ε takes that of the number format; nanoGPT's own LayerNorm has 1e-5.
        weight = getattr(module, "weight", None)
        of_format = isinstance(module, getattr(nn, "RMSNorm", ()))
        eps = torch.finfo(weight.dtype).eps if of_format and weight is not None else 1e-5
    if isinstance(module, nn.LayerNorm):
        return NormSite(name, module, "layernorm", eps)
    kind, unit_offset = _tried(module, width)
    return NormSite(name, module, kind, eps, unit_offset)


def _tried(module, width):
    """("layernorm" | "rmsnorm", whether the gain is 1 + weight): by what the module makes of two tokens."""
    weight = getattr(module, "weight", None)
    reference = weight if weight is not None else next(module.parameters(), torch.zeros(1))
    probe = torch.linspace(1.0, 3.0, width, dtype=reference.dtype, device=reference.device)[None, None]
    try:
        with torch.no_grad():
            shifted, plain = module(probe + 8)[0, 0].double(), module(probe)[0, 0].double()
    except (RuntimeError, TypeError, ValueError, IndexError):
        return "rmsnorm" if "rms" in type(module).__name__.lower() else "layernorm", False
    kind = "layernorm" if torch.allclose(shifted, plain, rtol=1e-2, atol=1e-3) else "rmsnorm"
    if kind == "layernorm" or weight is None:
        return kind, False
    x = probe[0, 0].double()
    unit = x / x.square().mean().sqrt()
    with torch.no_grad():
        far_plain = (plain - unit * weight.double()).abs().max()
        far_offset = (plain - unit * (1 + weight.double())).abs().max()
    return kind, bool(far_offset < far_plain)
