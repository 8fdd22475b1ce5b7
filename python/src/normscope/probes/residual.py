# SPDX-License-Identifier: GPL-3.0-or-later
"""What a branch adds to the stream, and by which factors a sub-layer changes the gradient's norm."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import jackknife
from ._seen import numbers, wide
from .norm_sites import reciprocal_sigma

ID = "residual"
NAMES = ("branch_ratio", "branch_cosine", "grad_shortcut", "grad_branch", "grad_norm", "shortcut_gain")


def _sums(seen, k):
    """Sums of every sequence [B, 7] at a sub-layer, as core/probe/residual.cpp takes them; None where unknown."""
    stream, branch = seen.state(k), seen.branch(k)
    before, after = seen.gradient_norms(k), seen.gradient_norms(k + 1)
    if stream is None or branch is None:
        return None
    norms = seen.token_norms(k)
    branch_norms = numbers(torch.linalg.vector_norm(wide(branch), dim=-1))
    # A pass over the products without a temporary of their size.
    products = numbers(torch.einsum("bnd,bnd->bn", wide(stream), wide(branch)))
    with np.errstate(all="ignore"):
        ratio = (branch_norms / norms).sum(axis=1)
        directed = (branch_norms > 0) & (norms > 0)
        cosine = np.where(directed, products / (branch_norms * norms), 0.0).sum(axis=1)
    batch = stream.shape[0]
    unknown = np.full(batch, np.nan)
    out = unknown if after is None else (after**2).sum(axis=1)
    into = unknown if before is None else (before**2).sum(axis=1)
    at_sum = out
    gain = np.full(batch, float(stream.shape[1]))
    post = seen.structure.sublayers[k].norms.get("norm_post")
    if post is not None:
        squares = seen.squares_of_sum(k)
        at_sum = unknown if squares is None else squares
        read = seen.norm_input(post)
        gain = unknown if read is None else numbers(reciprocal_sigma(post, read)).sum(axis=1)
        gamma = seen.gain(post)
        if gamma is not None:
            gain = gain * float(numbers(gamma.double().square().mean().sqrt()))
    return np.stack([ratio, cosine, directed.sum(axis=1).astype(float), out, at_sum, into, gain], axis=1)


def measure(seen):
    count = len(seen.structure.sublayers)
    values = np.full((count, len(NAMES), 2), np.nan)
    for k in range(count):
        sums = _sums(seen, k)
        if sums is None:
            continue
        tokens = seen.state(k).shape[1]
        one = lambda t, n: np.ones(len(t))  # noqa: E731 (the shortcut's factor in every form that is recognised)
        statistics = (
            lambda t, n: t[:, 0] / (tokens * n),
            lambda t, n: t[:, 1] / t[:, 2],
            one,
            lambda t, n: np.sqrt(t[:, 5] / t[:, 4]),
            lambda t, n: np.sqrt(t[:, 4] / t[:, 3]),
            lambda t, n: t[:, 6] / (tokens * n),
        )
        for i, statistic in enumerate(statistics):
            values[k, i] = jackknife(sums, statistic)
    arrays = {}
    for i, name in enumerate(NAMES):
        arrays[name] = Array(values[:, i, 0], ("sublayer",))
        arrays[name + "_error"] = Array(values[:, i, 1], ("sublayer",))
    return arrays, {}
