# SPDX-License-Identifier: GPL-3.0-or-later
"""Probabilities and scores of a layer's attention, from what was seen of it."""

import torch

from ._seen import wide


def rows_of(seen, layer):
    """(probabilities, scores, allowed) [B, H, n, n] of a layer, or None. allowed: where a key is not masked."""
    found = seen.seen.attention.get(layer)
    if found is None:
        return None
    if found.probabilities is not None:
        scores = wide(found.scores)
        lowest = torch.finfo(found.scores.dtype).min
        allowed = torch.isfinite(scores) & (scores > lowest / 2)
        return wide(found.probabilities), scores, allowed
    query, key = wide(found.query), wide(found.key)
    if key.shape[1] != query.shape[1]:  # grouped keys
        key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
    scores = query @ key.transpose(-1, -2) * found.scale
    allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    if found.causal:
        allowed = allowed.tril(scores.shape[-1] - scores.shape[-2])
    allowed = allowed.expand_as(scores)
    if found.mask is not None:
        if found.mask.dtype == torch.bool:
            allowed = allowed & found.mask
        else:
            allowed = allowed & (found.mask > torch.finfo(found.mask.dtype).min / 2)
            scores = scores + torch.where(allowed, wide(found.mask), 0)
    probabilities = torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=-1)
    return probabilities, scores, allowed
