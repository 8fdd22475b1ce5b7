#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probes `fragility` and `ranges` of `normscope-cli` against NumPy in float64, from what the plain PyTorch model
(model.py) computes with the same weights and tokens: a causal GPT-2 stack, LLaMA with grouped heads under Peri-LN, and
patches of images; three seeds each. Definitions from the papers and codes of Baek, dense singular values throughout,
‖diag p − ppᵀ‖₂ of every row by a dense eigenvalue solver. Exits with 1 where a number is off by more than TOLERANCE times its size.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch

from cross import write_inputs
from model import ACTIVATIONS, Model, normalise, rotate
from stack import Stack

TOLERANCE = 1e-8
FORMATS = {"fp16": (65504, 2.0**-14, 2.0**-24), "bf16": ((2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
           "e4m3": (448, 2.0**-6, 2.0**-9), "e5m2": (57344, 2.0**-14, 2.0**-16)}  # fmt: skip
STACKS = {
    "gpt2": {"scheme": "pre", "depth": 2, "d_model": 12, "heads": 3, "d_ff": 20, "context": 9, "vocab": 11},
    "llama": {"block": "llama", "scheme": "peri", "depth": 2, "d_model": 16, "heads": 4, "kv_heads": 2, "d_ff": 24,
              "context": 8, "vocab": 13, "residual_step": 0.5},
    "patches": {"scheme": "post", "depth": 2, "d_model": 12, "heads": 2, "d_ff": 18, "input": "patches",
                "image": {"size": 8, "channels": 2, "patch": 4}, "classes": 5, "temperature": 1.5},
}  # fmt: skip


class Recorder(Model):
    """The model, with what its sub-layers compute on the way."""

    def __init__(self, stack, params):
        super().__init__(stack, params)
        self.layers = [{} for _ in range(stack.depth)]

    def attention(self, u, prefix):
        stack, at = self.stack, self.layers[int(prefix.split(".")[1])]
        heads = []
        for name in "qkv":
            x = self.linear(u, prefix, "w" + name, "b" + name)
            x = x.reshape(*x.shape[:-1], -1, stack.d_head).transpose(-3, -2)
            heads.append(rotate(x, stack.rope_base) if stack.position == "rope" and name != "v" else x)
        out, p = super().attention(u, prefix)
        group = stack.heads // stack.kv_heads
        q, k, v = heads[0], *(x.repeat_interleave(group, -3) for x in heads[1:])
        at.update(q=q, k=k, v=v, p=p, o=p @ v, k_own=heads[1], v_own=heads[2])
        return out, p

    def ffn(self, u, prefix):
        at = self.layers[int(prefix.split(".")[1])]
        if self.stack.activation == "swiglu":
            gate, up = self.linear(u, prefix, "w_gate", "b_gate"), self.linear(u, prefix, "w_up", "b_up")
            at.update(u=u, pre=torch.cat([gate, up], -1), hidden=ACTIVATIONS["silu"](gate) * up)
        else:
            pre = self.linear(u, prefix, "w1", "b1")
            at.update(u=u, pre=pre, hidden=ACTIVATIONS[self.stack.activation](pre))
        return super().ffn(u, prefix)

    def branch(self, x, index, trace=None):
        delta = super().branch(x, index, trace)
        self.layers[index // 2]["ffn_branch" if index % 2 else "attn_branch"] = delta
        return delta


def singular(matrix):
    return np.linalg.svd(matrix, compute_uv=False)


def condition(matrix, ridge):
    values = singular(matrix)
    return values[0] / (values[-1] + ridge)


def fragility(model, trace):
    stack, out = model.stack, {}
    per_head = {name: np.zeros((stack.depth, stack.heads)) for name in ("kappa_score", "kappa_softmax", "kappa_v", "row_norm")}
    per_layer = {name: np.zeros(stack.depth) for name in ("softmax_v2", "chi_score", "kappa_val", "kappa_eff", "predictor_v1", "local_v2")}
    scale = 1 / (stack.temperature * np.sqrt(stack.d_head))
    gamma = {s.name: model.params[s.name + ".weight"].detach().numpy() for s in trace.sites}
    eps, centred = stack.norm["eps"], stack.norm["kind"] == "layernorm"
    sites = {}
    for site in trace.sites:
        x = site.input.detach().numpy().reshape(-1, stack.d_model)
        deviation = x - x.mean(-1, keepdims=True) if centred else x
        variances = (deviation**2).mean(-1)
        v = np.median(variances)
        sites[site.name] = {
            "c_ln": np.sqrt(v / eps) + v / eps + 1,
            "ln_term": np.abs(gamma[site.name]).max() * (eps + 2 * v) / (v + eps) ** 1.5 * np.linalg.norm(x),
            "cancellation": np.median(np.linalg.norm(x, axis=-1) / np.linalg.norm(deviation, axis=-1)),
            "rho_fp16": v / eps * stack.d_model * 2.0**-11, "rho_bf16": v / eps * stack.d_model * 2.0**-8,
        }  # fmt: skip
    growth = []
    for layer, at in enumerate(model.layers):
        q, k, v, p, o = (at[name].detach().numpy() for name in "qkvpo")
        n = q.shape[-2]
        mask = np.tril(np.ones((n, n))) if stack.causal else np.ones((n, n))
        s = scale * np.einsum("bhid,bhjd->bhij", q, k) * mask
        values = 0
        for h in range(stack.heads):
            for b in range(len(q)):
                top = lambda x: singular(x)[0]  # noqa: E731
                per_head["kappa_score"][layer, h] = max(per_head["kappa_score"][layer, h],
                                                        scale * top(q[b, h]) * top(k[b, h]) / top(s[b, h]))  # fmt: skip
                per_head["kappa_v"][layer, h] = max(per_head["kappa_v"][layer, h], condition(v[b, h], 3e-6))
                values = max(values, top(v[b, h]))
                for i in range(n):
                    keys = i + 1 if stack.causal else n
                    row = p[b, h, i, :keys]
                    norm = np.abs(np.linalg.eigvalsh(np.diag(row) - np.outer(row, row))).max()
                    per_head["row_norm"][layer, h] = max(per_head["row_norm"][layer, h], norm)
                    per_head["kappa_softmax"][layer, h] = max(
                        per_head["kappa_softmax"][layer, h],
                        norm * np.linalg.norm(s[b, h, i, :keys]) / np.linalg.norm(row))
        row_norm, size = per_head["row_norm"][layer].max(), np.linalg.norm
        softmax = row_norm * size(s) / size(p)
        # Of grouped heads each query head reads its own copy of the keys.
        chi = row_norm * scale * size(q) * size(k) / size(p)
        per_layer["softmax_v2"][layer], per_layer["chi_score"][layer] = softmax, chi
        per_layer["kappa_val"][layer] = size(p) * values / size(o)
        prefix = f"blocks.{layer}."
        weight = lambda name: model.params[prefix + name].detach().numpy()  # noqa: E731, B023
        first = (np.concatenate([weight("ffn.w_gate"), weight("ffn.w_up")]) if stack.activation == "swiglu"
                 else weight("ffn.w1"))  # fmt: skip
        second = weight("ffn.w_down" if stack.activation == "swiglu" else "ffn.w2")
        output = singular(weight("attn.wo"))[0]
        per_layer["kappa_eff"][layer] = sum(condition(w, 1e-6) for w in (weight("attn.wo"), first, second))
        own = [value for name, value in sites.items() if name.startswith(prefix)]
        per_layer["predictor_v1"][layer] = (
            per_head["kappa_softmax"][layer].max() * (1 + per_head["kappa_score"][layer].max())
            * per_head["kappa_v"][layer].max() * output
            + per_layer["kappa_eff"][layer] + max(value["c_ln"] for value in own))  # fmt: skip
        per_layer["local_v2"][layer] = (
            (softmax + chi) * size(p) * values + sum(value["ln_term"] for value in own)
            + output * size(o) + singular(first)[0] * size(at["u"].detach()) + singular(second)[0] * size(at["hidden"].detach()))  # fmt: skip
        hidden = [h.detach().numpy() for h in trace.hidden]
        a = size(at["attn_branch"].detach()) / size(hidden[2 * layer])
        m = size(at["ffn_branch"].detach()) / size(hidden[2 * layer + 1])
        growth.append(a + m * (1 + a))
    transport = np.array([np.prod([1 + r for r in growth[layer + 1 :]]) for layer in range(stack.depth)])
    out.update(per_head, **per_layer, transport=transport,
               predictor_v2=per_layer["local_v2"] * transport / np.linalg.norm(trace.final.detach()))
    out["total_v1"], out["total_v2"] = out["predictor_v1"].sum(), out["predictor_v2"].sum()
    for name in ("c_ln", "ln_term", "cancellation", "rho_fp16", "rho_bf16"):
        out[name] = np.array([value[name] for value in sites.values()])
    return out


def ranges(model, trace):
    stack, places = model.stack, {}
    causal = stack.causal
    for layer, at in enumerate(model.layers):
        block = f"blocks.{layer}."
        q, k, p = (at[name].detach().numpy() for name in ("q", "k", "p"))
        inside = np.tril(np.ones(p.shape[-2:], bool)) if causal else np.ones(p.shape[-2:], bool)
        places[block + "attn.qkv"] = np.concatenate([at[x].detach().numpy().ravel() for x in ("q", "k_own", "v_own")])
        places[block + "attn.scores"] = np.einsum("bhid,bhjd->bhij", q, k)[..., inside]
        places[block + "attn.probabilities"] = p[..., inside]
        places[block + "attn.mixed"] = at["o"]
        places[block + "attn.branch"] = at["attn_branch"]
        places[block + "ffn.pre"] = at["pre"]
        places[block + "ffn.hidden"] = at["hidden"]
        places[block + "ffn.branch"] = at["ffn_branch"]
    for i, hidden in enumerate(trace.hidden):
        places[f"hidden.{i}"] = hidden
    places["logits"] = trace.logits
    for i, gradient in enumerate(torch.autograd.grad(trace.total, trace.hidden)):
        places[f"grad.hidden.{i}"] = gradient
    out = {}
    for name, value in places.items():
        x = np.abs(np.asarray(value.detach() if torch.is_tensor(value) else value).ravel())
        found = {"amax": x.max(), "amin": x[x > 0].min()}
        for format_, (largest, normal, smallest) in FORMATS.items():
            found["over_" + format_] = (x > largest).mean()
            found["under_" + format_] = ((x > 0) & (x < normal)).mean()
            found["lost_" + format_] = ((x > 0) & (x <= smallest / 2)).mean()
        for key, number in found.items():
            out.setdefault(key, []).append(number)
    return {key: np.array(numbers) for key, numbers in out.items()}


def measured(cli, recipe, params, batch):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_inputs(folder, recipe, params, *batch)
        if "image" in recipe["stack"]:
            with h5py.File(folder / "tokens.h5", "w") as file:
                file["images"], file["targets"] = batch
        out = folder / "out.h5"
        command = [cli, "probe", folder / "recipe.json", "--weights", folder / "weights.h5", "--tokens",
                   folder / "tokens.h5", "--dtype", "float64", "--probes", "fragility,ranges", "--out", out]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with h5py.File(out) as file:
            return {probe: {name: np.array(value)[0] for name, value in file["probes/" + probe].items()
                            if name not in ("step", "cost_ms")} for probe in ("fragility", "ranges")}  # fmt: skip


def drawn(keys, seed):
    recipe = {"format": "normscope-recipe", "version": 1, "stack": keys}
    if keys.get("input") == "patches":
        recipe["data"] = {"source": "images"}
    stack, rng = Stack.from_recipe(recipe), np.random.default_rng(seed)
    params = {}
    for name, shape in stack.parameter_shapes().items():
        value = rng.standard_normal(shape)
        params[name] = value / np.sqrt(shape[-1]) * 1.5 if len(shape) > 1 else 0.3 * value + ("norm" in name and name.endswith("weight"))
    if stack.of_images:
        image = stack.image
        pixels = rng.standard_normal((2, image["channels"], image["size"], image["size"]))
        batch = (pixels.astype(np.float32).astype(float),  # a batch holds float32
                 rng.integers(0, keys["classes"], 2, dtype=np.int32))  # fmt: skip
    else:
        batch = tuple(rng.integers(0, keys["vocab"], (2, 2, keys["context"]), dtype=np.int32))
    return recipe, stack, params, batch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cli", help="normscope-cli")
    cli = parser.parse_args().cli
    failed = False
    for name, keys in STACKS.items():
        for seed in range(3):
            recipe, stack, params, batch = drawn(keys, seed)
            model = Recorder(stack, {k: torch.tensor(v, requires_grad=True) for k, v in params.items()})
            trace = model.forward(*(torch.as_tensor(x if x.ndim > 2 else x.astype(np.int64)) for x in batch))
            for hidden in trace.hidden:
                hidden.retain_grad()
            got = measured(cli, recipe, params, batch)
            worst, where, count = 0.0, "", 0
            for probe, wanted in (("fragility", fragility(model, trace)), ("ranges", ranges(model, trace))):
                if set(wanted) != {k for k in got[probe] if not k.endswith("_error")}:
                    print(f"{name} seed {seed}: {probe} has other arrays: {sorted(set(wanted) ^ set(got[probe]))}")
                    failed = True
                for array, value in wanted.items():
                    found = got[probe].get(array, np.full_like(value, np.nan))
                    # The smallest of many numbers may be what cancellation left: its error is that of the largest.
                    scale = np.maximum(np.abs(wanted["amax"] if array == "amin" else value), 1e-30)
                    error = np.max(np.where(value == found, 0, np.abs(found - value) / scale))
                    count += np.size(value)
                    if not error <= worst:
                        worst, where = float(error), f"{probe}/{array}"
            print(f"{name:8} seed {seed}: {count} numbers, worst relative error {worst:.1e} ({where})")
            failed |= not worst <= TOLERANCE
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
