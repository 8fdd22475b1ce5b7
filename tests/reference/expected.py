# SPDX-License-Identifier: GPL-3.0-or-later
"""All outputs of `normscope-cli evaluate --step --jacobian` for one recipe, as path -> float64 array."""

import numpy as np
import torch

import probes
from model import Model, Stack, Unsupported

OPTIMIZER_DEFAULTS = {
    "kind": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1, "clip": 1.0,
}  # fmt: skip


def is_gate(name):
    return name.endswith(".gate")


def adamw_step(params, grads, optimizer, gpas=None):
    """name -> parameter after PyTorch's clip and first AdamW step; no decay under two dimensions.

    Gates that are not learnable are no parameters of the step: they neither move nor count in the clip. The gates'
    own clip (gpas.clip) comes after the global one.
    """
    options = {**OPTIMIZER_DEFAULTS, **optimizer}
    if options["kind"] != "adamw":
        raise Unsupported(f"optimizer.kind: {options['kind']!r} is not in the reference, only 'adamw'")
    gpas = gpas or {"learnable": True, "clip": 0}
    stepped = {name: value.detach().clone() for name, value in params.items()}
    trained = {name: value for name, value in stepped.items() if gpas["learnable"] or not is_gate(name)}
    for name, value in trained.items():
        value.requires_grad_().grad = grads[name].clone()
    if options["clip"] > 0:
        torch.nn.utils.clip_grad_norm_(trained.values(), options["clip"])
    gates = [value for name, value in trained.items() if is_gate(name)]
    if gpas["clip"] > 0 and gates:
        torch.nn.utils.clip_grad_norm_(gates, gpas["clip"])
    groups = [
        {"params": [p for p in trained.values() if p.dim() >= 2], "weight_decay": options["weight_decay"]},
        {"params": [p for p in trained.values() if p.dim() < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    torch.optim.AdamW(groups, lr=options["lr"], betas=tuple(options["betas"]), eps=options["eps"]).step()
    return {name: value.detach() for name, value in stepped.items()}


def dense_jacobian(function, x):
    """∂function/∂x for x [n, d] as an [n·d, n·d] array; rows are outputs. One copy of x for each output, all of them
    in one batch: function maps [k, n, d] sequence by sequence."""
    copies = x.detach().expand(x.numel(), *x.shape).clone().requires_grad_()
    outputs = torch.eye(x.numel(), dtype=x.dtype).reshape(copies.shape)
    return torch.autograd.grad(function(copies), copies, outputs)[0].reshape(x.numel(), x.numel()).numpy()


def jacobians(model, hidden):
    """name -> Jacobian at sequence 0: every sub-layer's, every layer's, end to end; hidden: 2·depth + 1 of [B, n, d].

    In a parallel layer the sub-layers' are those of Model.parallel_part.
    """
    states, found = [h[0].detach() for h in hidden], {}
    for i in range(2 * model.stack.depth):
        if model.stack.parallel:
            x = states[i - i % 2]
            found[f"sublayer/{i}"] = dense_jacobian(model.parallel_part(i, x), x)
        else:
            found[f"sublayer/{i}"] = dense_jacobian(lambda x, i=i: model.sublayer(x, i), states[i])
    for layer in range(model.stack.depth):
        found[f"layer/{layer}"] = dense_jacobian(lambda x, k=layer: model.layer(x, k)[1], states[2 * layer])
    found["end_to_end"] = dense_jacobian(model.blocks, states[0])
    return found


def evaluate(recipe, params, tokens, targets, with_jacobians=True, with_probes=True, dtype=torch.float64):
    """recipe: parsed JSON; params: name -> array; tokens, targets: [B, n] integers, or images and
    classes (Model.forward). Returns path -> array.

    Without with_jacobians (slow beyond a few hundred n·d) all that depends on them is skipped; so is θ where
    rows are too long to enumerate. The norm sites' names come under "probes/null_space/sites"; a stack without
    norms has no such group.
    """
    stack = Stack.from_recipe(recipe)
    leaves = {n: torch.tensor(value, dtype=dtype).requires_grad_() for n, value in params.items()}
    model = Model(stack, leaves)
    inputs = torch.tensor(np.asarray(tokens), dtype=dtype if stack.of_images else torch.int64)
    trace = model.forward(inputs, torch.tensor(np.asarray(targets, np.int64)))

    wanted = {
        **leaves,
        **{("hidden", k): h for k, h in enumerate(trace.hidden)},
        **{("site", k): site.output for k, site in enumerate(trace.sites)},
    }
    grads = dict(zip(wanted, torch.autograd.grad(trace.total, list(wanted.values()), retain_graph=True)))
    param_grads = {name: grads[name] for name in leaves}
    stepped = adamw_step(leaves, param_grads, recipe.get("optimizer", {}), stack.gpas)

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
    maps = {}
    if with_jacobians:
        maps[""] = jacobians(model, trace.hidden)
        if stack.gpas["enabled"]:
            maps["_forward"] = jacobians(model.without_stop_gradient(), trace.hidden)
    for suffix, named in maps.items():
        for name, jacobian in named.items():
            if not name.startswith("layer/"):
                out[f"jacobian{suffix}/{name}"] = jacobian
                out[f"singular{suffix}/{name}"] = np.linalg.svd(jacobian, compute_uv=False)
    if not with_probes:
        return out

    hidden_grads = [grads["hidden", k].numpy() for k in range(len(trace.hidden))]
    site_grads = [grads["site", k].numpy() for k in range(len(trace.sites))]
    values = {
        "growth": probes.growth(model, out["hidden"]),
        "gradients": probes.gradients(stack, hidden_grads, {n: g.numpy() for n, g in param_grads.items()}),
        "transport": probes.transport(hidden_grads),
    }
    if tokens.shape[1] <= probes.LONGEST_ROW:
        values["theta"] = probes.theta(out["attention"], stack.causal)
    if with_jacobians:
        values["jacobian"] = probes.jacobian(stack, maps[""])
    if trace.sites:
        values["null_space"] = probes.null_space(model, trace.sites, site_grads)
    for probe, arrays in values.items():
        out.update({f"probes/{probe}/{name}": array for name, array in arrays.items()})
    return out
