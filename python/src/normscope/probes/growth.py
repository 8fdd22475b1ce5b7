# SPDX-License-Identifier: GPL-3.0-or-later
"""Mean |x|, variance and RMS of every hidden state, over batch, tokens and channels."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import jackknife
from ._seen import numbers, wide

ID = "growth"


def _of_state(x, norms):
    """(ma, var, rms with their errors, block_rms) of h [B, n, d]."""
    batch, length, width = x.shape
    count = length * width
    x = wide(x)
    magnitudes = numbers(torch.linalg.vector_norm(x, ord=1, dim=(1, 2)))
    squares = (norms**2).sum(axis=1)
    # About the mean of one token, so that a mean far from 0 does not cancel.
    shift = float(numbers(x[0, 0].mean()))
    if abs(shift) * np.sqrt(count) < 1e-2 * np.sqrt(squares[0]) or not np.isfinite(shift):
        shift = 0.0
        shifted_squares = squares
        shifted = numbers(x.sum(dim=(1, 2)))
    else:
        about = x - shift
        shifted = numbers(about.sum(dim=(1, 2)))
        shifted_squares = numbers(torch.linalg.vector_norm(about, dim=(1, 2))) ** 2
    sums = np.stack([np.full(batch, float(count)), magnitudes, squares, shifted, shifted_squares], axis=1)
    ma = jackknife(sums, lambda t, n: t[:, 1] / t[:, 0])
    rms = jackknife(sums, lambda t, n: np.sqrt(t[:, 2] / t[:, 0]))
    var = jackknife(sums, lambda t, n: np.maximum(0, t[:, 4] - t[:, 3] ** 2 / t[:, 0]) / (t[:, 0] - 1))
    block = norms.max() / np.sqrt(width) if np.isfinite(rms[0]) else np.nan
    return [*ma, *var, *rms, block]


def measure(seen):
    rows = []
    for k in range(seen.states):
        state = seen.state(k)
        row = [np.nan] * 7 if state is None else _of_state(state, seen.token_norms(k))
        rows.append([value if np.isfinite(value) else np.nan for value in row])
    columns = np.array(rows, dtype=np.float64).T
    names = ("ma", "ma_error", "var", "var_error", "rms", "rms_error", "block_rms")
    arrays = {name: Array(values, ("hidden_state",)) for name, values in zip(names, columns)}
    for name in ("bound_ma", "bound_var", "bound_uniform_ma", "bound_product_ma", "gpas_estimate"):
        arrays[name] = Array(np.full(seen.states, np.nan), ("hidden_state",))
    return arrays, {}
