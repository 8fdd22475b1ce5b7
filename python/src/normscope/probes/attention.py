# SPDX-License-Identifier: GPL-3.0-or-later
"""Entropy of attention's rows, the mass on the first token, the largest score."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import jackknife
from ._attention_rows import rows_of
from ._seen import numbers

ID = "attention"


def measure(seen):
    depth, heads = seen.structure.depth, seen.structure.heads
    values = np.full((2, depth, heads, 2), np.nan)
    largest = np.full((depth, heads), np.nan)
    for layer in range(depth):
        found = rows_of(seen, layer)
        if found is None or found[0].shape[1] != heads:
            continue
        probabilities, scores, allowed = found
        if not bool(torch.isfinite(probabilities).all()):
            continue
        largest[layer] = numbers(scores.abs().masked_fill(~allowed, 0).amax(dim=(0, 2, 3)))
        length = allowed.sum(dim=-1)
        counted = length >= 2
        entropy = torch.special.entr(probabilities).sum(dim=-1) / length.clamp_min(2).log()
        zero = torch.zeros((), dtype=entropy.dtype, device=entropy.device)
        sums = np.stack([numbers(counted.sum(dim=-1)), numbers(torch.where(counted, entropy, zero).sum(dim=-1)),
                         numbers(torch.where(counted, probabilities[..., 0], zero).sum(dim=-1))], axis=-1)
        for i in (0, 1):  # sums [B, H, 3]
            values[i, layer, :, 0], values[i, layer, :, 1] = jackknife(
                sums, lambda t, n, i=i: t[..., i + 1] / t[..., 0])
    axes = ("layer", "head")
    arrays = {}
    for i, name in enumerate(("entropy", "sink_mass")):
        arrays[name] = Array(values[i, ..., 0], axes)
        arrays[name + "_error"] = Array(values[i, ..., 1], axes)
    arrays["max_logit"] = Array(largest, axes)
    arrays["contraction"] = Array(np.full((depth, heads), np.nan), axes)
    return arrays, {}
