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
    # NumPy's, since some builds of PyTorch have no fast LAPACK.
    values = np.linalg.eigvalsh(numbers(gram))
    values = values[values > values[-1] * max(x.shape) * np.finfo(np.float64).eps]
    if not len(values):
        return np.nan
    share = np.sqrt(values) / np.sqrt(values).sum()
    return np.exp(-(share * np.log(share)).sum())


def _outliers(x):
    """max |x| ÷ median |x| of every sequence [B, n, d]."""
    sizes = x.abs().flatten(1).cpu().numpy()
    count = sizes.shape[1]
    middle = [(count - 1) // 2, count // 2]  # of an even count the mean of the middle two
    halves = np.partition(sizes, middle, axis=1)[:, middle].astype(np.float64)
    return sizes.max(axis=1) / halves.mean(axis=1)


def measure(seen, sequences=8):
    values = np.full((seen.states, len(NAMES), 2), np.nan)
    places = np.full((seen.states, 2), np.nan)
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
                          _outliers(state), norms.max(axis=1) / norms.mean(axis=1))
        if np.isfinite(numbers_of[3]).all():
            sequence = int(np.argmax(numbers_of[3]))
            places[k] = sequence, np.argmax(norms[sequence])
        for i, of_sequences in enumerate(numbers_of):
            values[k, i] = mean_of_sequences(np.asarray(of_sequences, dtype=np.float64))
    arrays = {}
    for i, name in enumerate(NAMES):
        arrays[name] = Array(values[:, i, 0], ("hidden_state",))
        arrays[name + "_error"] = Array(values[:, i, 1], ("hidden_state",))
    arrays["heaviest_place"] = Array(places, ("hidden_state", "sequence, token"))
    return arrays, {"effective_rank_sequences": [str(ranked)]}
