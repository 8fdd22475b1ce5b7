# SPDX-License-Identifier: GPL-3.0-or-later
"""Probe values from their definitions: enumeration, autograd and SVD instead of closed forms where possible.

Shapes without the sample axis. D layers, so 2·D sub-layers; N = B·n tokens of width d.
"""

import itertools

import numpy as np
import torch

from model import GATE_ACTIVATIONS, normalise


def schatten(matrix):
    """(Σσ^32)^(1/32) >= ‖matrix‖₂, over the singular values."""
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return sigma[0] * ((sigma / sigma[0]) ** 32).sum() ** (1 / 32) if sigma[0] > 0 else 0.0


def spectral_bound(matrix):
    """At least ‖matrix‖₂: the shorter side in pieces of 64, whose squared norms add up."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    return np.sqrt(sum(schatten(tall[:, i : i + 64]) ** 2 for i in range(0, tall.shape[1], 64)))


def product_bound(left, right):
    """At least ‖left @ right‖₂, for an inner width of at most 64."""
    return schatten(left @ right)


def branch_bound(model, index, factor):
    """Of a sub-layer with an input norm: (‖γ_in‖∞, B, gain, unbiased). B bounds ‖f(u)‖₂ for every token u = factor·N_in(x)
    that there can be, ‖u‖₂ <= U = |factor|·(√d·‖γ‖∞ + ‖β‖₂); attention rows are convex combinations and |act(z)| <= |z|.
    gain = B/U where β and all biases that enter B are zero."""
    stack, prefix = model.stack, f"blocks.{index // 2}." + ("ffn." if index % 2 else "attn.")

    def get(name, default=0.0):
        tensor = model.params.get(prefix + name)
        return np.float64(default) if tensor is None else tensor.detach().numpy()

    def norm(name):
        return np.linalg.norm(np.atleast_1d(get(name)))

    gamma = np.abs(get("norm_in.weight")).max()
    longest = abs(factor) * (np.sqrt(stack.d_model) * gamma + norm("norm_in.bias"))
    if index % 2 == 0:
        d_head, group = stack.d_head, stack.heads // stack.kv_heads
        value, out = get("wv"), get("wo")
        reach, joined = 0.0, get("bo")
        for head in range(stack.heads):
            own = slice(head * d_head, (head + 1) * d_head)
            shared = slice(head // group * d_head, (head // group + 1) * d_head)
            reach += product_bound(out[:, own], value[shared])
            if stack.bias:
                joined = joined + out[:, own] @ get("bv")[shared]
        token = reach * longest + np.linalg.norm(np.atleast_1d(joined))
        biases = ("bv", "bo")
    elif stack.activation == "swiglu":
        gate, up = (
            (spectral_bound(get("w_" + n)) * longest + norm("b_" + n),
             (np.linalg.norm(get("w_" + n), axis=1) * longest + np.abs(get("b_" + n))).max())
            for n in ("gate", "up")
        )  # fmt: skip
        token = spectral_bound(get("w_down")) * min(gate[0] * up[1], gate[1] * up[0]) + norm("b_down")
        biases = ("b_gate", "b_up", "b_down")
    else:
        token = spectral_bound(get("w2")) * (spectral_bound(get("w1")) * longest + norm("b1")) + norm("b2")
        biases = ("b1", "b2")
    unbiased = all(norm(name) == 0 for name in ("norm_in.bias", *biases))
    return gamma, token, token / longest if longest > 0 else 0.0, unbiased


def growth(model, hidden):
    """hidden [2D+1, B, n, d]. In bound_ma and bound_var the batch's N tokens together take the place of the n tokens of
    one sequence.

    bound_ma, bound_var: for as many sub-layers from the first on as have an output norm or an input norm and no post
    norm, R_0 = ‖X_0‖_F and R_k = o·(|a|·s·R_{k−1} + Δt·|b|·β·max|scale|·√(N·d)·r_k); MA ≤ R_k/√(N·d),
    Var ≤ R_k²/(N·d − 1). r_k = max|γ_out| + max|β_out| after an output norm (Kan et al., "Stability under layer
    normalization", Peri-LN; GPAS added), else B/√d of branch_bound. |1 − act(g)| of the layer's gate is o at the site
    output, s at shortcut and input, β at branch, and a factor after the input norm at norm; the others are 1. The FFN's
    half of a parallel layer has no shortcut of its own: |a|·s = 1 there; attention's half has no output of its own:
    o = 1 there.

    bound_uniform_ma: ‖X_0‖_F + k·max(Δt·|b|·β·max|scale|)·√(N·d)·(max γ_out + max β_out) over the sub-layers with an
    output norm from the first on; NaN where one of them has o or |a|·s other than 1.

    bound_product_ma: the same authors' form for input norms (√d restored; LayerNorm and FFN added), while no sub-layer
    has an output norm, a bias or a β_in that is not zero, in serial layers: the product of o·(|a|·s + |b'|·√d·max|γ_in|·
    gain·m/min_j √(‖x_j‖² + d·ε)) times ‖X_0‖_F, with m = √n for attention and 1 for the FFN, x_j the tokens that the
    norm reads (LayerNorm: without their means), b' = Δt·b·β·max|scale| times the factor after the norm, and |1 − act(g)|
    of an input gate.
    """
    stack, d = model.stack, hidden.shape[-1]
    x = hidden.reshape(len(hidden), -1)
    size = x.shape[1]
    token_norms = np.sqrt((hidden**2).sum(-1)).reshape(len(hidden), -1)

    def largest(name):
        return model.params[name].abs().max().item() if name in model.params else 0.0

    radius, uniform, product = (np.full(len(hidden), np.nan) for _ in range(3))
    bounded, multiplied = True, not stack.parallel
    normed = []  # (step, max γ, max β) of the sub-layers with output norms from the first on; None after them
    plain = True
    start = np.sqrt((x[0] ** 2).sum())
    for index in range(2 * stack.depth):
        rule, prefix = stack.rule(index), f"blocks.{index // 2}." + ("attn", "ffn")[index % 2]
        bounded = bounded and (rule.norm_out or rule.norm_in) and not rule.norm_post
        if not bounded:
            break
        if index == 0:
            radius[0] = start
        site, passed = stack.gate_site(index), 1.0
        if site is not None:
            gate = model.params[f"blocks.{index // 2}.gate"]
            passed = abs(1 - GATE_ACTIVATIONS[stack.gpas["activation"]](gate).item())
        scale = largest(prefix + ".scale") if stack.branch_scale != "none" else 1.0
        step = stack.residual_step * abs(rule.b) * scale * (passed if site == "branch" else 1.0)
        shortcut = abs(rule.a) * (passed if site in ("shortcut", "input") else 1.0)
        if stack.parallel and index % 2:
            shortcut = 1.0
        output = passed if site == "output" and not (stack.parallel and index % 2 == 0) else 1.0
        if rule.norm_out:
            gamma, beta = largest(prefix + ".norm_out.weight"), largest(prefix + ".norm_out.bias")
            reach = gamma + beta
            plain = plain and (shortcut == output == 1 or normed is None)
            if normed is not None:
                normed.append((step, gamma, beta))
                if plain:
                    uniform[: index + 2] = start + np.arange(index + 2) * (
                        max(n[0] for n in normed) * (max(n[1] for n in normed) + max(n[2] for n in normed)) * np.sqrt(size)
                    )
                else:
                    uniform[:] = np.nan
            multiplied = False
        else:
            normed_by = abs(rule.s_in) * (passed if site == "norm" else 1.0)
            gamma, token, gain, unbiased = branch_bound(model, index, normed_by)
            reach, normed = token / np.sqrt(d), None
            multiplied = multiplied and unbiased
            if multiplied:
                read = hidden[index] * (passed if site == "input" else 1.0)
                if stack.norm["kind"] == "layernorm":
                    read = read - read.mean(-1, keepdims=True)
                shortest = np.sqrt((read**2).sum(-1).min() + d * stack.norm["eps"])
                mixing = np.sqrt(hidden.shape[2]) if index % 2 == 0 else 1.0
                factor = step * normed_by * (passed if site == "input" else 1.0)
                factor *= np.sqrt(d) * gamma * gain * mixing / shortest
                product[0] = start
                product[index + 1] = output * (shortcut + factor) * product[index]
        radius[index + 1] = output * (shortcut * radius[index] + step * np.sqrt(size) * reach)
    return {
        "ma": np.abs(x).mean(1),
        "var": x.var(1, ddof=1) if size > 1 else np.full(len(hidden), np.nan),
        "rms": np.sqrt((x**2).mean(1)),
        "block_rms": token_norms.max(1) / np.sqrt(d),
        "bound_ma": radius / np.sqrt(size),
        "bound_var": radius**2 / (size - 1) if size > 1 else np.full(len(hidden), np.nan),
        "bound_uniform_ma": uniform / np.sqrt(size),
        "bound_product_ma": product / np.sqrt(size),
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


def transport(hidden_grads):
    """hidden_grads: ∂loss/∂h_k [B, n, d] each. Quartiles over the tokens of ‖g_k‖/‖g_2D‖ where ‖g_2D‖ > 0; token 1's
    part of Σ‖g_k‖²; (Σσ²)²/Σσ⁴ of the tokens' gradients, mean over the sequences."""
    norms = [np.linalg.norm(g, axis=-1) for g in hidden_grads]
    there = norms[-1] > 0
    ratios = [n[there] / norms[-1][there] for n in norms]
    sigma = [np.linalg.svd(g, compute_uv=False) for g in hidden_grads]
    values = {
        name: np.array([np.quantile(r, q) for r in ratios])
        for name, q in (("lower_quartile", 0.25), ("median_token", 0.5), ("upper_quartile", 0.75))
    }
    values["first_token_share"] = np.array([(n[:, 0] ** 2).sum() / (n**2).sum() for n in norms])
    values["participation"] = np.array([((s**2).sum(-1) ** 2 / (s**4).sum(-1)).mean() for s in sigma])
    return values


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
