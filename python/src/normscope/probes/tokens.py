# SPDX-License-Identifier: GPL-3.0-or-later
"""How alike a sequence's tokens are, how many directions they take part in, and their outliers."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import mean_of_sequences
from ._seen import numbers, wide

ID = "tokens"
NAMES = ("similarity", "effective_rank", "outlier", "heaviest_norm")
RANKED = 2
"""The effective rank needs an eigenvalue problem a sequence, so it is of so many sequences."""


def _effective_rank(x):
    """exp of the entropy of σ_i/Σσ of a sequence [n, d] (Roy and Vetterli 2007)."""
    x = x.double()
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    values = torch.linalg.eigvalsh(gram).clamp_min(0)
    values = values[values > values.max() * max(x.shape) * torch.finfo(torch.float64).eps]
    share = values.sqrt() / values.sqrt().sum()
    return float(torch.exp(-(share * share.log()).sum())) if len(share) else float("nan")


def _outlier(x):
    """max |x| ÷ median |x| of a sequence [n, d]."""
    sizes = x.abs().flatten().sort().values
    middle = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
    return float(sizes[-1] / middle)


def measure(seen, sequences=8):
    values = np.full((seen.states, len(NAMES), 2), np.nan)
    ranked = 0
    for k in range(seen.states):
        state, norms = seen.state(k), seen.token_norms(k)
        if state is None or not np.isfinite(norms).all():
            continue
        state, norms = wide(state[:sequences]), norms[:sequences]
        ranked = min(RANKED, len(state))
        length = state.shape[1]
        with np.errstate(all="ignore"):
            unit = state / torch.linalg.vector_norm(state, dim=-1, keepdim=True)
            together = numbers((unit.sum(dim=1).double() ** 2).sum(dim=-1))
            similarity = (together - length) / (length * (length - 1)) if length > 1 else np.full(len(state), np.nan)
            numbers_of = (similarity, [_effective_rank(one) for one in state[:ranked]],
                          [_outlier(one) for one in state], norms.max(axis=1) / norms.mean(axis=1))
        for i, of_sequences in enumerate(numbers_of):
            values[k, i] = mean_of_sequences(np.asarray(of_sequences, dtype=np.float64))
    arrays = {}
    for i, name in enumerate(NAMES):
        arrays[name] = Array(values[:, i, 0], ("hidden_state",))
        arrays[name + "_error"] = Array(values[:, i, 1], ("hidden_state",))
    return arrays, {"effective_rank_sequences": [str(ranked)]}
