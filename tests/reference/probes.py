# SPDX-License-Identifier: GPL-3.0-or-later
"""Probe values from their definitions: enumeration, autograd and SVD instead of closed forms where possible.

Shapes without the sample axis. D layers, so 2·D sub-layers; N = B·n tokens of width d.
"""

import itertools

import numpy as np
import torch

from model import GATE_ACTIVATIONS, normalise


def growth(model, hidden):
    """hidden [2D+1, B, n, d]. The batch's N tokens together take the place of the n tokens of one sequence.

    Bounds (Kan et al., "Stability under layer normalization", Peri-LN; GPAS added), for as many sub-layers from the
    first on as have an output norm and no post norm: R_0 = ‖X_0‖_F and
    R_k = o·(|a|·s·R_{k−1} + Δt·|b|·β·max|scale|·√(N·d)·(max|γ_out| + max|β_out|)); MA ≤ R_k/√(N·d),
    Var ≤ R_k²/(N·d − 1). |1 − act(g)| of the layer's gate is o at the site output, s at shortcut and input, β at branch;
    the others are 1, and at norm all are. The FFN's half of a parallel layer has no shortcut of its own: |a|·s = 1 there;
    attention's half has no output of its own: o = 1 there.
    """
    stack, d = model.stack, hidden.shape[-1]
    x = hidden.reshape(len(hidden), -1)
    size = x.shape[1]
    token_norms = np.sqrt((hidden**2).sum(-1)).reshape(len(hidden), -1)

    def largest(name):
        return model.params[name].abs().max().item() if name in model.params else 0.0

    radius = np.full(len(hidden), np.nan)
    bounded = stack.rule(0).norm_out and not stack.rule(0).norm_post
    if bounded:
        radius[0] = np.sqrt((x[0] ** 2).sum())
    for index in range(2 * stack.depth):
        rule, prefix = stack.rule(index), f"blocks.{index // 2}." + ("attn", "ffn")[index % 2]
        bounded = bounded and rule.norm_out and not rule.norm_post
        if bounded:
            reach = largest(prefix + ".norm_out.weight") + largest(prefix + ".norm_out.bias")
            scale = largest(prefix + ".scale") if stack.branch_scale != "none" else 1.0
            step = stack.residual_step * abs(rule.b) * scale * np.sqrt(size) * reach
            site, passed = stack.gate_site(index), 1.0
            if site is not None:
                gate = model.params[f"blocks.{index // 2}.gate"]
                passed = abs(1 - GATE_ACTIVATIONS[stack.gpas["activation"]](gate).item())
            shortcut = abs(rule.a) * (passed if site in ("shortcut", "input") else 1.0)
            if stack.parallel and index % 2:
                shortcut = 1.0
            if site == "branch":
                step *= passed
            radius[index + 1] = shortcut * radius[index] + step
            if site == "output" and not (stack.parallel and index % 2 == 0):
                radius[index + 1] *= passed
    return {
        "ma": np.abs(x).mean(1),
        "var": x.var(1, ddof=1) if size > 1 else np.full(len(hidden), np.nan),
        "rms": np.sqrt((x**2).mean(1)),
        "block_rms": token_norms.max(1) / np.sqrt(d),
        "bound_ma": radius / np.sqrt(size),
        "bound_var": radius**2 / (size - 1) if size > 1 else np.full(len(hidden), np.nan),
    }


def gradients(stack, hidden_grads, param_grads):
    """hidden_grads: ∂loss/∂h_k [B, n, d] each; param_grads: name -> gradient before clipping."""

    def norm(arrays):
        return np.sqrt(sum((a**2).sum() for a in arrays))

    def sublayer(layer, kind):
        return norm(g for name, g in param_grads.items() if name.startswith(f"blocks.{layer}.{kind}."))

    layers = range(stack.depth)
    return {
        "hidden": np.array([norm([g]) for g in hidden_grads]),
        "params": np.array([[sublayer(layer, kind) for kind in ("attn", "ffn")] for layer in layers]),
        "total": np.array(norm(param_grads.values())),
    }


LONGEST_ROW = 13  # 2^12 subsets a row


def theta_of_row(p):
    """θ(p) = 4·max over subsets S of p(S)(1 − p(S)), by enumeration of the subsets without the last entry."""
    subsets = np.array(list(itertools.product((0.0, 1.0), repeat=len(p) - 1)))
    mass = subsets @ p[:-1]
    return (4 * mass * (1 - mass)).max()


def theta(attention, causal):
    """attention [D, B, H, n, n]. Statistics over batch and rows of two entries or more; NaN if none."""
    depth, batch, heads, n, _ = attention.shape
    if n > LONGEST_ROW:
        raise ValueError(f"theta: rows of {n} entries, enumeration takes at most {LONGEST_ROW}")
    values = {name: np.full((depth, heads), np.nan) for name in ("max", "mean", "below_099")}
    rows = range(1, n) if causal else range(n)
    if n == 1:
        return values
    for layer, head in np.ndindex(depth, heads):
        found = np.array(
            [
                theta_of_row(attention[layer, b, head, i, : i + 1 if causal else n])
                for b in range(batch)
                for i in rows
            ]
        )
        values["max"][layer, head] = found.max()
        values["mean"][layer, head] = found.mean()
        values["below_099"][layer, head] = (found < 0.99).mean()
    return values


def null_vectors(matrix):
    """Orthonormal rows that span the null space of a square matrix (empty where it has none)."""
    _, s, vt = np.linalg.svd(matrix)
    return vt[s <= 1e-10 * s[0]]


def erased_share(matrices, vectors):
    """Σ‖P v‖²/Σ‖v‖² over tokens, P the orthogonal projector on the null space of each token's matrix."""
    erased = sum(((null_vectors(m) @ v) ** 2).sum() for m, v in zip(matrices, vectors))
    whole = (vectors**2).sum()
    return erased / whole if whole > 0 else np.nan


def rho_ln(spread, eps, unit_round_off):
    """(σ²/ε)·d·u of tokens [N, d] without their mean (RMSNorm: as they are), σ² the median of their mean squares."""
    return np.median((spread**2).mean(-1)) / eps * spread.shape[-1] * unit_round_off if eps > 0 else np.nan


def null_space(model, sites, site_grads):
    """sites: the norms in forward order; site_grads: ∂loss/∂(norm output) [B, n, d] each.

    gain: mean over tokens of 1/σ_ε. erased_backward: the share of the arriving gradient in the null space of
    Jᵀ, J the token's norm Jacobian at ε = 0 with the gain γ (also where some γ are 0). erased_forward: the
    share of the branch δ (Δt·b·scale∘y) in the null space of the normalisation without γ, at the post norm where δ
    joined; NaN at other sites. bf16_rho_ln, fp16_rho_ln: ρ_LN of the norm's input.
    """
    kind, eps = model.stack.norm["kind"], model.stack.norm["eps"]
    names = ("gain", "erased_backward", "erased_forward", "bf16_rho_ln", "fp16_rho_ln")
    values = {name: np.full(len(sites), np.nan) for name in names}
    for k, (site, grad) in enumerate(zip(sites, site_grads)):
        z = site.input.detach().reshape(-1, site.input.shape[-1])
        spread = z - z.mean(-1, keepdim=True) if kind == "layernorm" else z
        values["gain"][k] = (1 / torch.sqrt((spread**2).mean(-1) + eps)).mean().item()

        values["bf16_rho_ln"][k], values["fp16_rho_ln"][k] = (rho_ln(spread.numpy(), eps, 2.0**-p) for p in (8, 11))

        leaf = z.clone().requires_grad_()
        y = normalise(leaf, kind, 0.0)
        core = torch.stack(  # [N, d, d]: rows are outputs; tokens do not mix, so one sum serves all of them
            [torch.autograd.grad(y[:, c].sum(), leaf, retain_graph=True)[0] for c in range(y.shape[1])], 1
        ).numpy()
        gamma = model.params[site.name + ".weight"].detach().numpy()
        full = gamma[:, None] * core
        values["erased_backward"][k] = erased_share(full.transpose(0, 2, 1), grad.reshape(z.shape))
        if site.delta is not None:
            values["erased_forward"][k] = erased_share(core, site.delta.detach().reshape(z.shape).numpy())
    values["sites"] = np.array([site.name for site in sites], "S")
    return values


def jacobian(stack, named):
    """named: what expected.jacobians gives. Of the block ∂(last token out)/∂(last token in) of sequence 0, cut from
    the full Jacobian of the sub-layer, layer or stack, so that it is right without a causal mask too."""
    d = stack.d_model

    def block(name):
        return named[name][-d:, -d:]

    def singular_values(name):
        return np.linalg.svd(block(name), compute_uv=False)

    branch = np.full(2 * stack.depth, np.nan)
    for i in range(2 * stack.depth):
        if not stack.rule(i).norm_post:
            a = stack.rule(i - 1 if stack.parallel and i % 2 else i).a
            branch[i] = np.linalg.norm(block(f"sublayer/{i}") - a * np.eye(d), 2)
    return {
        "sublayer_sv": np.array([singular_values(f"sublayer/{i}") for i in range(2 * stack.depth)]),
        "layer_sv": np.array([singular_values(f"layer/{layer}") for layer in range(stack.depth)]),
        "end_to_end_sv": singular_values("end_to_end"),
        "branch_norm": branch,
    }
