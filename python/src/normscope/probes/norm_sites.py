# SPDX-License-Identifier: GPL-3.0-or-later
"""Every norm: its gain 1/σ_ε, the share of ε, the share of a gradient's energy that its Jacobian erases."""

import numpy as np
import torch

from .._recording_file import Array
from .._statistics import jackknife
from ._seen import numbers, wide

ID = "null_space"
UNIT_ROUND_OFF = {"bf16": 2.0**-8, "fp16": 2.0**-11}


def _variance(site, x):
    """Variance (RMSNorm: mean square) of every token [B, n]."""
    x = wide(x)
    if site.kind == "layernorm":
        return x.var(dim=-1, unbiased=False)
    return x.square().mean(dim=-1)


def reciprocal_sigma(site, x):
    """1/σ_ε of every token [B, n]."""
    return (_variance(site, x) + site.eps).rsqrt()


def erased_backward(site, gain, x, g):
    """Energy of an output's gradient that the norm's Jacobian erases, and its whole energy, [B] each.

    Jᵀg vanishes where γ∘g lies in the span of 1 and x (RMSNorm: of x): the part of g along 1/γ and x̂/γ.
    None where a gain is 0 or not finite.
    """
    x, g = wide(x), wide(g)
    centred = site.kind == "layernorm"
    gain = torch.ones(x.shape[-1], dtype=x.dtype, device=x.device) if gain is None else gain.to(x.dtype)
    if not bool((gain != 0).all() & torch.isfinite(gain).all()):
        return None
    weight = gain.abs().min() / gain
    if centred:
        x = x - x.mean(dim=-1, keepdim=True)
    second = x * weight
    erased = torch.zeros(x.shape[:-1], dtype=x.dtype, device=x.device)
    if centred:
        first = weight / torch.linalg.vector_norm(weight)
        along = g @ first
        erased = erased + along**2
        second = second - (second @ first)[..., None] * first
    norm = torch.linalg.vector_norm(second, dim=-1)
    overlap = torch.einsum("bnd,bnd->bn", second, g) / norm.clamp_min(torch.finfo(x.dtype).tiny)
    erased = erased + overlap**2
    total = torch.linalg.vector_norm(g, dim=-1) ** 2
    return erased, total


def measure(seen):
    sites = seen.structure.sites()
    names = ("gain", "erased_backward", "erased_forward", "epsilon_share")
    values = np.full((len(sites), len(names), 2), np.nan)
    rho = np.full((len(sites), 2), np.nan)
    for i, site in enumerate(sites):
        x = seen.norm_input(site)
        if x is None:
            continue
        variance = numbers(_variance(site, x))
        tokens = variance.shape[1]
        with np.errstate(all="ignore"):
            sums = np.stack([(1 / np.sqrt(variance + site.eps)).sum(axis=1),
                             (site.eps / (variance + site.eps)).sum(axis=1)], axis=1)
        values[i, 0] = jackknife(sums, lambda t, n: t[:, 0] / (n * tokens))
        values[i, 3] = jackknife(sums, lambda t, n: t[:, 1] / (n * tokens))
        energies = seen.seen.site_gradients.get(site.name)
        if energies is not None:
            of = [numbers(one if seen.structure.batch_first else one.transpose(0, 1)).sum(axis=1) for one in energies]
            values[i, 1] = jackknife(np.stack(of, axis=1),
                                     lambda t, n: np.where(t[:, 1] == 0, 0.0, t[:, 0] / t[:, 1]))
        if site.eps > 0:
            middle = float(np.median(variance))
            rho[i] = [middle / site.eps * x.shape[-1] * UNIT_ROUND_OFF[name] for name in ("bf16", "fp16")]
    arrays = {}
    for i, name in enumerate(names):
        arrays[name] = Array(values[:, i, 0], ("site",))
        arrays[name + "_error"] = Array(values[:, i, 1], ("site",))
    arrays["bf16_rho_ln"] = Array(rho[:, 0], ("site",))
    arrays["fp16_rho_ln"] = Array(rho[:, 1], ("site",))
    return arrays, {"sites": [site.name for site in sites]}
