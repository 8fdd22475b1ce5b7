# SPDX-License-Identifier: GPL-3.0-or-later
"""θ(p) = 4·max_S p(S)(1 − p(S)) of attention's rows, with a certificate (Emadi, Definition 4.1).

Exact for rows of at most EXHAUSTIVE keys and for rows with an entry of at least 1/2; of the others the value is
that of a subset found greedily, and the bound above is 1. `width` is the widest gap of the two. Measure a
snapshot with Normscope itself for the exact values of long rows.
"""

import numpy as np

from .._recording_file import Array
from .._statistics import jackknife
from ._attention_rows import rows_of
from ._seen import numbers

ID = "theta"
EXHAUSTIVE = 12
ROWS = 2048
"""At most about so many rows of a head are taken, every k-th."""


def _exhaustive(p):
    """θ of rows [R, n], n ≤ EXHAUSTIVE: every subset that lacks the last key."""
    count = p.shape[1] - 1
    subsets = ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
    sums = p[:, :count] @ subsets.T
    return (4 * sums * (p.sum(axis=1, keepdims=True) - sums)).max(axis=1)


def _greedy(p):
    """(θ of a subset, bound above) of rows [R, n]: the largest entries that still fit into one half."""
    ordered = -np.sort(-p, axis=1)
    inside = np.zeros(len(p))
    for column in ordered.T:
        inside = np.where(inside + column <= 0.5, inside + column, inside)
    value = 4 * inside * (1 - inside)
    top = ordered[:, 0]
    peaked = 4 * top * (1 - top)
    exact = top >= 0.5
    return np.where(exact, peaked, value), np.where(exact, peaked, 1.0)


def theta(p):
    """(value, bound above) of rows [R, n] that each sum to 1; float64."""
    p = np.asarray(p, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)
    if p.shape[1] == 1:
        return np.zeros(len(p)), np.zeros(len(p))
    if p.shape[1] <= EXHAUSTIVE:
        value = _exhaustive(p)
        return value, value
    return _greedy(p)


def uniform(length):
    """θ of a uniform row."""
    half = length // 2
    return 4 * half * (length - half) / length**2


def measure(seen):
    depth, heads = seen.structure.depth, seen.structure.heads
    averaged = ("mean", "below_099", "relative_mean", "relative_below_099")
    values = np.full((len(averaged), depth, heads, 2), np.nan)
    largest = np.full((depth, heads), np.nan)
    quantiles = np.full((depth, heads, 5), np.nan)
    width = 0.0
    for layer in range(depth):
        found = rows_of(seen, layer)
        if found is None or found[0].shape[1] != heads:
            continue
        probabilities, allowed = numbers(found[0]), found[2].cpu().numpy()
        if not np.isfinite(probabilities).all():
            continue
        batch, _, rows, _ = probabilities.shape
        stride = max(1, -(-batch * rows // ROWS))
        length = allowed.sum(axis=-1)
        for head in range(heads):
            sums = np.zeros((batch, 5))
            relatives = []
            for count in np.unique(length[:, head]):
                if count < 2:
                    continue
                at = np.argwhere(length[:, head] == count)
                at = at[(at[:, 1] + at[:, 0]) % stride == 0]
                if not len(at):
                    continue
                mask = allowed[at[:, 0], head, at[:, 1]]
                p = probabilities[at[:, 0], head, at[:, 1]][mask].reshape(len(at), count)
                value, above = theta(p)
                width = max(width, float((above - value).max()))
                relative = value / uniform(int(count))
                relatives.append(relative)
                row = np.stack([np.ones(len(at)), value, value < 0.99, relative, relative < 0.99], axis=1)
                np.add.at(sums, at[:, 0], row)
                top = value.max()
                largest[layer, head] = top if np.isnan(largest[layer, head]) else max(largest[layer, head], top)
            if not relatives:
                continue
            quantiles[layer, head] = np.quantile(np.concatenate(relatives), (0, 0.05, 0.5, 0.95, 1))
            for i in range(len(averaged)):
                values[i, layer, head] = jackknife(sums, lambda t, n, i=i: t[:, i + 1] / t[:, 0])
    axes = ("layer", "head")
    arrays = {"max": Array(largest, axes)}
    for i, name in enumerate(averaged):
        arrays[name] = Array(values[i, ..., 0], axes)
        arrays[name + "_error"] = Array(values[i, ..., 1], axes)
    arrays["quantiles"] = Array(quantiles, (*axes, "min, 5 %, 50 %, 95 %, max"))
    arrays["width"] = Array(width, ())
    return arrays, {}
