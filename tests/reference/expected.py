# SPDX-License-Identifier: GPL-3.0-or-later
"""All outputs of `normscope-cli evaluate --step --jacobian` for one recipe, as path -> float64 array."""

import numpy as np
import torch

import probes
from model import Model, Stack, Unsupported

OPTIMIZER_DEFAULTS = {
    "kind": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1, "clip": 1.0,
}  # fmt: skip


def adamw_step(params, grads, optimizer):
    """name -> parameter after PyTorch's clip and first AdamW step; no decay under two dimensions."""
    options = {**OPTIMIZER_DEFAULTS, **optimizer}
    if options["kind"] != "adamw":
        raise Unsupported(f"optimizer.kind: {options['kind']!r} is not in the reference, only 'adamw'")
    stepped = {name: value.detach().clone().requires_grad_() for name, value in params.items()}
    for name, value in stepped.items():
        value.grad = grads[name].clone()
    if options["clip"] > 0:
        torch.nn.utils.clip_grad_norm_(stepped.values(), options["clip"])
    groups = [
        {"params": [p for p in stepped.values() if p.dim() >= 2], "weight_decay": options["weight_decay"]},
        {"params": [p for p in stepped.values() if p.dim() < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    torch.optim.AdamW(groups, lr=options["lr"], betas=tuple(options["betas"]), eps=options["eps"]).step()
    return {name: value.detach() for name, value in stepped.items()}


def dense_jacobian(function, x):
    """∂function/∂x for x [n, d] as an [n·d, n·d] array; rows are outputs."""
    return torch.autograd.functional.jacobian(function, x).reshape(x.numel(), x.numel()).numpy()


def jacobians(model, hidden):
    """Every sub-layer's Jacobian and the end-to-end one for sequence 0; hidden: 2·depth + 1 of [B, n, d]."""
    states = [h[0].detach() for h in hidden]
    count = 2 * model.stack.depth
    sublayers = [dense_jacobian(lambda x, i=i: model.sublayer(x, i), states[i]) for i in range(count)]
    return sublayers, dense_jacobian(model.blocks, states[0])


def evaluate(recipe, params, tokens, targets, with_jacobians=True):
    """recipe: parsed JSON; params: name -> array; tokens, targets: [B, n] integers. Returns path -> array.

    Without with_jacobians (slow beyond a few hundred n·d) all that hangs on them is left out; so is θ where
    rows are too long to enumerate. The norm sites' names come under "probes/null_space/sites"; a stack without
    norms has no such group.
    """
    stack = Stack.from_recipe(recipe)
    leaves = {n: torch.tensor(value, dtype=torch.float64).requires_grad_() for n, value in params.items()}
    model = Model(stack, leaves)
    trace = model.forward(*(torch.tensor(np.asarray(x, np.int64)) for x in (tokens, targets)))

    wanted = {
        **leaves,
        **{("hidden", k): h for k, h in enumerate(trace.hidden)},
        **{("site", k): site.output for k, site in enumerate(trace.sites)},
    }
    grads = dict(zip(wanted, torch.autograd.grad(trace.loss, list(wanted.values()), retain_graph=True)))
    param_grads = {name: grads[name] for name in leaves}
    stepped = adamw_step(leaves, param_grads, recipe.get("optimizer", {}))

    out = {
        "hidden": torch.stack(trace.hidden),
        "final": trace.final,
        "logits": trace.logits,
        "loss": trace.loss,
        "attention": torch.stack(trace.attention),
        **{f"grad/{name}": g for name, g in param_grads.items()},
        **{f"step/{name}": p for name, p in stepped.items()},
    }
    out = {path: value.detach().numpy() for path, value in out.items()}
    hidden_grads = [grads["hidden", k].numpy() for k in range(len(trace.hidden))]
    site_grads = [grads["site", k].numpy() for k in range(len(trace.sites))]
    values = {
        "growth": probes.growth(model, out["hidden"]),
        "gradients": probes.gradients(stack, hidden_grads, {n: g.numpy() for n, g in param_grads.items()}),
    }
    if tokens.shape[1] <= probes.LONGEST_ROW:
        values["theta"] = probes.theta(out["attention"], stack.causal)
    if with_jacobians:
        sublayers, end_to_end = jacobians(model, trace.hidden)
        named = {**{f"sublayer/{i}": j for i, j in enumerate(sublayers)}, "end_to_end": end_to_end}
        for name, jacobian in named.items():
            out[f"jacobian/{name}"] = jacobian
            out[f"singular/{name}"] = np.linalg.svd(jacobian, compute_uv=False)
        values["jacobian"] = probes.jacobian(stack, sublayers, end_to_end)
    if trace.sites:
        values["null_space"] = probes.null_space(model, trace.sites, site_grads)
    for probe, arrays in values.items():
        out.update({f"probes/{probe}/{name}": array for name, array in arrays.items()})
    return out
