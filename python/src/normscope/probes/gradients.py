# SPDX-License-Identifier: GPL-3.0-or-later
"""‖∂L/∂h_k‖ over the batch, and the gradients of the parameters by layer, before clipping."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import jackknife
from ._seen import numbers, wide

ID = "gradients"


def _log_z(seen, sequences):
    """(mean, error, spread, error) of log Σ exp(logits) and the largest |logit|; NaN without logits."""
    logits = seen.logits()
    if logits is None:
        return [np.nan] * 5
    logits = wide(logits[:sequences])
    log_z = numbers(torch.logsumexp(logits, dim=-1))
    centre = log_z.mean()
    about = log_z - centre
    length = log_z.shape[1]
    sums = np.stack([about.sum(axis=1), (about**2).sum(axis=1)], axis=1)
    mean = jackknife(sums, lambda t, n: centre + t[:, 0] / (n * length))
    spread = jackknife(
        sums, lambda t, n: np.sqrt(np.maximum(t[:, 1] / (n * length) - (t[:, 0] / (n * length)) ** 2, 0)))
    return [*mean, *spread, float(numbers(logits.abs().max()))]


def measure(seen, sequences=8):
    batch = None
    hidden, scaled = [], []
    for k in range(seen.states):
        gradient, norms = seen.gradient_norms(k), seen.token_norms(k)
        if gradient is None or norms is None:
            hidden.append((np.nan, np.nan))
            scaled.append((np.nan, np.nan))
            continue
        batch = gradient.shape[0]
        sums = np.stack([(gradient**2).sum(axis=1), (norms**2).sum(axis=1)], axis=1)
        # Of fewer sequences, scaled to the size of the batch.
        hidden.append(jackknife(sums, lambda t, n: np.sqrt(batch * t[:, 0] / n)))
        scaled.append(jackknife(sums, lambda t, n: np.sqrt(batch * t[:, 0] / n) * np.sqrt(batch * t[:, 1] / n)))
    arrays = {}
    for name, values in (("hidden", hidden), ("scaled", scaled)):
        values = np.array(values, dtype=np.float64)
        arrays[name] = Array(values[:, 0], ("hidden_state",), "nat")
        arrays[name + "_error"] = Array(values[:, 1], ("hidden_state",), "nat")
    params = np.full((seen.structure.depth, 2), np.nan)
    for k, sublayer in enumerate(seen.structure.sublayers):
        known = {id(p) for module in sublayer.modules for p in module.parameters()}
        squares = [value for key, value in seen.parameter_squares.items() if key in known]
        if squares:
            params[k // 2, k % 2] = np.sqrt(sum(squares))
    arrays["params"] = Array(params, ("layer", "sublayer"), "nat")
    total = np.sqrt(sum(seen.parameter_squares.values())) if seen.parameter_squares else np.nan
    arrays["total"] = Array(total, (), "nat")
    arrays["loss"] = Array(seen.loss, (), "nat")
    arrays["loss_error"] = Array(np.nan, (), "nat")
    for name, value in zip(("log_z", "log_z_error", "log_z_spread", "log_z_spread_error", "max_logit"),
                           _log_z(seen, sequences) if seen.wants_logits else [np.nan] * 5):
        arrays[name] = Array(value, (), "nat")
    return arrays, {}
