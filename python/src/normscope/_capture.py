# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads tensors of a training pass through hooks, without changing one of its bits.

Every pass keeps references to the hidden states until the step ends (so that a loss that is not finite can be
traced to its first place); a sampled pass keeps the branches, the norms' inputs, and sums of the gradients too.
Nothing is copied and no random number is drawn.
"""

import torch
import torch.nn.functional as F

from .probes import norm_sites, ranges
from .structure import Tap


def tensor_of(value):
    """The first tensor of a module's output or input."""
    if torch.is_tensor(value):
        return value
    if isinstance(value, (tuple, list)):
        return next((found for found in map(tensor_of, value) if found is not None), None)
    if isinstance(value, dict) or hasattr(value, "keys"):
        return next((found for found in map(tensor_of, value.values()) if found is not None), None)
    return None


# torch.compile runs what a hook does as it is, between its graphs.
_untraced = getattr(getattr(torch, "compiler", None), "disable", lambda function: function)


class AttentionRows:
    """What one layer's attention computed: scores' operands or probabilities, of the first sequences."""

    def __init__(self, query=None, key=None, value=None, scale=None, mask=None, causal=False, probabilities=None,
                 scores=None):
        self.query, self.key, self.value, self.scale = query, key, value, scale
        self.mask, self.causal = mask, causal
        self.probabilities, self.scores = probabilities, scores


class Pass:
    """What was seen in one forward and backward pass."""

    def __init__(self, sampled):
        self.sampled = sampled
        self.passes = 1  # forward passes of the step; the first one is seen
        self.states = {}  # k: h_k [B, n, d]
        self.branches = {}  # sub-layer: [B, n, d]
        self.norm_inputs = {}  # site: [B, n, d]
        self.gains = {}  # site: γ [d] as the pass read it, None without one; absent where it is spread over processes
        self.state_gradients = {}  # k: norms of the tokens' gradients [B, n], float32 or float64
        self.sum_gradients = {}  # sub-layer with a post norm: token norms [B, n], of the sum before it
        self.site_gradients = {}  # site: (erased [B], total [B])
        self.gradient_ranges = {}  # place: ranges.of(gradient)
        self.attention = {}  # layer: AttentionRows
        self.logits = None
        self.tokens = None  # the model's first integer input [B, n]
        self.loss = None


class Capture:
    """Hooks on the modules of a structure.

    sequences: how many of a batch the expensive probes look at. The members that begin with wants_ are set by
    the recorder for the probes that it runs.
    """

    def __init__(self, model, structure, sequences=8):
        self.structure = structure
        self.sequences = sequences
        self.current = None
        self.sampling = False
        self.gradient_scale = 1.0
        self.wants_norms = self.wants_attention = self.wants_ranges = False
        self.on_begin = lambda: None
        self.problem = ""  # why attention could not be looked at, one line
        self._layer = None
        self._originals = None
        self._handles = [
            model.register_forward_pre_hook(self._begin),
            model.register_forward_hook(self._end),
        ]
        self._root = model
        self._register()

    def close(self):
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._restore_functions()
        self.current = None

    def take(self):
        """The pass of this step, or None; the next forward pass begins another."""
        taken, self.current = self.current, None
        return taken

    # The hooks.

    def _begin(self, module, inputs):
        self._open = False
        if not (module.training and torch.is_grad_enabled()):
            return
        if self.current is not None:
            self.current.passes += 1
            return
        self.on_begin()
        self._open = True
        self.current = Pass(self.sampling)
        found = [value for value in inputs if torch.is_tensor(value) and not value.is_floating_point()]
        self.current.tokens = found[0] if found else None
        if self.sampling and self.wants_attention:
            self._replace_functions()

    _open = False

    def _end(self, module, inputs, output):
        if not self._open:
            return
        self._open = False
        self._restore_functions()
        loss = getattr(output, "loss", None)
        if loss is None and isinstance(output, dict):
            loss = output.get("loss")
        if loss is None and isinstance(output, (tuple, list)):
            loss = next((v for v in output if torch.is_tensor(v) and v.dim() == 0), None)
        if torch.is_tensor(loss):
            self.current.loss = loss.detach()

    def _hook(self, tap, action):
        if tap.side == "input":
            self._handles.append(tap.module.register_forward_pre_hook(
                lambda module, inputs: self._call(action, inputs)))
        else:
            self._handles.append(tap.module.register_forward_hook(
                lambda module, inputs, output: self._call(action, output)))

    @_untraced
    def _call(self, action, value):
        if not self._open:
            return
        tensor = tensor_of(value)
        if tensor is not None:
            action(tensor)

    def _register(self):
        structure = self.structure
        self._hook(structure.first, lambda x: self._state(0, x))
        for k, sublayer in enumerate(structure.sublayers):
            if sublayer.result is not None:
                self._hook(sublayer.result, lambda x, k=k: self._state(k + 1, x))
            self._hook(sublayer.branch, lambda x, k=k: self._branch(k, x))
            post = sublayer.norms.get("norm_post")
            if post is not None:
                self._hook(Tap(post.module, "input"), lambda x, k=k: self._sum(k, x))
        for site in structure.sites():
            self._hook(Tap(site.module, "input"), lambda x, site=site: self._norm_input(site, x))
            self._hook(Tap(site.module, "output"), lambda x, site=site: self._norm_output(site, x))
        if structure.head is not None:
            self._hook(Tap(structure.head, "output"), self._logits)
        for layer, module in enumerate(structure.attention):
            self._handles.append(module.register_forward_pre_hook(lambda m, i, layer=layer: self._enter(layer)))
            self._handles.append(module.register_forward_hook(lambda m, i, o: self._enter(None)))

    @_untraced
    def _enter(self, layer):
        self._layer = layer

    def _state(self, k, x):
        now = self.current
        if k in now.states:  # a checkpointed segment runs again in the backward pass
            return
        now.states[k] = x.detach()
        if now.sampled and x.requires_grad:
            x.register_hook(lambda g: self._state_gradient(now, k, g))

    def _state_gradient(self, now, k, g):
        g = g.detach()
        now.state_gradients[k] = _token_norms(g)
        if self.wants_ranges:
            now.gradient_ranges[k] = ranges.of(g, self.gradient_scale)

    def _branch(self, k, x):
        if self.current.sampled and k not in self.current.branches:
            self.current.branches[k] = x.detach()

    def _sum(self, k, x):
        now = self.current
        if now.sampled and x.requires_grad and k not in now.sum_gradients:
            now.sum_gradients[k] = None
            x.register_hook(lambda g: now.sum_gradients.__setitem__(k, _token_norms(g.detach())))

    def _norm_input(self, site, x):
        now = self.current
        if now.sampled and self.wants_norms and site.name not in now.norm_inputs:
            now.norm_inputs[site.name] = x.detach()
            if not site.sharded:
                gain = site.gain()
                now.gains[site.name] = None if gain is None else gain.clone()

    def _norm_output(self, site, y):
        now = self.current
        if not (now.sampled and self.wants_norms and y.requires_grad) or site.name in now.site_gradients:
            return
        now.site_gradients[site.name] = None
        if site.name in now.gains:
            y.register_hook(lambda g: now.site_gradients.__setitem__(site.name, norm_sites.erased_backward(
                site, now.gains[site.name], now.norm_inputs[site.name], g.detach())))

    def _logits(self, x):
        if self.current.sampled and self.current.logits is None:
            self.current.logits = x.detach()

    # Attention: its two functions are replaced while a sampled forward pass runs, and see what they are given.

    def _replace_functions(self):
        if self._originals is not None:
            return
        names = [name for name in ("scaled_dot_product_attention", "_scaled_dot_product_attention", "softmax")
                 if hasattr(F, name)]
        self._originals = {name: getattr(F, name) for name in names}
        for name in names:
            original = self._originals[name]
            seen = self._saw_softmax if name == "softmax" else self._saw_attention
            setattr(F, name, self._watched(original, seen))

    def _restore_functions(self):
        if self._originals is None:
            return
        for name, original in self._originals.items():
            setattr(F, name, original)
        self._originals = None

    def _watched(self, original, seen):
        def function(*args, **kwargs):
            result = original(*args, **kwargs)
            try:
                seen(args, kwargs, result)
            except Exception as error:  # whatever a model passes, its training goes on
                self.problem = self.problem or f"attention was not seen: {type(error).__name__}: {error}"
            return result

        return function

    def _saw_attention(self, args, kwargs, result):
        query, key, value = (list(args) + [kwargs.get(name) for name in ("query", "key", "value")[len(args):]])[:3]
        if self._layer is None or self._layer in self.current.attention or query.dim() not in (3, 4):
            return
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args)), **kwargs}
        by_sequence = query.dim() == 4
        if not by_sequence:  # [B·H, n, d_h]
            query, key, value = (x.reshape(-1, self.structure.heads, *x.shape[1:]) for x in (query, key, value))
        some = slice(0, self.sequences)
        mask = given.get("attn_mask")
        if mask is not None and mask.dim() == 4 and mask.shape[0] > 1:
            mask = mask[some]
        scale = given.get("scale")
        self.current.attention[self._layer] = AttentionRows(
            query[some].detach(), key[some].detach(), value[some].detach(),
            scale if scale is not None else query.shape[-1] ** -0.5, mask, bool(given.get("is_causal", False)))

    def _saw_softmax(self, args, kwargs, result):
        scores = args[0] if args else kwargs.get("input")
        if self._layer is None or self._layer in self.current.attention or scores is None:
            return
        if scores.dim() == 3 and scores.shape[0] % self.structure.heads == 0:  # [B·H, n, n]
            scores, result = (x.reshape(-1, self.structure.heads, *x.shape[1:]) for x in (scores, result))
        if scores.dim() != 4:
            return
        some = slice(0, self.sequences)
        self.current.attention[self._layer] = AttentionRows(
            probabilities=result[some].detach(), scores=scores[some].detach())


def _token_norms(x):
    return torch.linalg.vector_norm(x.float() if x.dtype in (torch.float16, torch.bfloat16) else x, dim=-1)
