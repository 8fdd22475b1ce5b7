#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The autocast policy against torch.autocast: the probe mismatch of `normscope-cli` next to the same quantity from
PyTorch, with the same weights and tokens, over twelve layers of Pre-LN, Post-LN and Peri-LN in BF16.

Autocast on the CPU casts matrix products only; norms, softmax and cross-entropy are asked for in float32 here, as the
list of a GPU's autocast has it, and GELU is computed in float32 and rounded once, as a GPU does. Roundings of single
numbers differ with the order of a sum, so the profiles are compared: each hidden state's relative error to TOLERANCE.
Exits with 1 above that. Needs PyTorch 2: version 1.13 sums a product of two BF16 activations (P·V) in BF16 on processors
without AVX-512, where 2.x rounds it once, as a GPU does. The pure policy is printed next to it: PyTorch rounds inside a norm and an activation too.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch
import torch.nn.functional as F

from cross import write_inputs
from stack import Stack

TOLERANCE = 0.05
HEADS, D, N, B, V, DEPTH = 4, 64, 64, 2, 256, 12


def weights(stack, rng):
    """As the lab initialisation: matrices of std 1/√columns, embeddings of std 1 and 0.5, gains 1, biases small."""
    values = {}
    for name, shape in stack.parameter_shapes().items():
        draw = rng.standard_normal(shape)
        if name == "tok_emb":
            values[name] = draw
        elif name == "pos_emb":
            values[name] = 0.5 * draw
        elif len(shape) == 2:
            values[name] = draw / np.sqrt(shape[1])
        else:
            values[name] = 0.05 * draw + (name.endswith("weight"))
    return {name: value.astype(np.float32) for name, value in values.items()}


def forward(stack, params, tokens, policy):
    """Hidden states and logits in float32, under "exact", "autocast" or "pure"."""
    low = policy == "pure"
    p = {name: torch.tensor(value, dtype=torch.bfloat16 if low else torch.float32) for name, value in params.items()}
    wide = (lambda x: x) if low else (lambda x: x.float())

    def norm(x, name):
        return F.layer_norm(wide(x), (D,), p[name + ".weight"], p[name + ".bias"], stack.norm["eps"])

    def attention(u, at):
        q, k, v = (
            F.linear(u, p[f"{at}.w{x}"], p[f"{at}.b{x}"]).view(B, N, HEADS, D // HEADS).transpose(1, 2) for x in "qkv"
        )
        scores = wide(q @ k.transpose(-1, -2)) / np.sqrt(D // HEADS)
        causal = torch.ones(N, N, dtype=torch.bool).tril()
        weights_of_rows = torch.softmax(scores.masked_fill(~causal, -torch.inf), -1)
        return F.linear((weights_of_rows @ v).transpose(1, 2).reshape(B, N, D), p[at + ".wo"], p[at + ".bo"])

    def feed_forward(u, at):
        pre = F.linear(u, p[at + ".w1"], p[at + ".b1"])
        return F.linear(F.gelu(pre.float(), approximate="tanh").to(pre.dtype), p[at + ".w2"], p[at + ".b2"])

    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=policy == "autocast"):
        x = p["tok_emb"][torch.as_tensor(tokens).long()] + p["pos_emb"]
        hidden = [x]
        for index in range(2 * stack.depth):
            rule, at = stack.rule(index), f"blocks.{index // 2}." + ("ffn" if index % 2 else "attn")
            u = norm(x, at + ".norm_in") if rule.norm_in else x
            y = (feed_forward if index % 2 else attention)(u, at)
            x = x + (norm(y, at + ".norm_out") if rule.norm_out else y)
            x = norm(x, at + ".norm_post") if rule.norm_post else x
            hidden.append(x)
        logits = F.linear(norm(x, "final_norm") if stack.has_final_norm else x, p["head.weight"])
    return [h.float() for h in hidden], logits.float()


def profile(low, exact):
    def error(a, b):
        return float(torch.linalg.norm((a - b).double()) / torch.linalg.norm(b.double()))

    return np.array([error(a, b) for a, b in zip(low[0], exact[0])]), error(low[1], exact[1])


def measured(cli, recipe, params, tokens, targets):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_inputs(folder, recipe, params, tokens, targets)
        out = folder / "out.h5"
        command = [cli, "probe", folder / "recipe.json", "--weights", folder / "weights.h5", "--tokens",
                   folder / "tokens.h5", "--dtype", "float32", "--probes", "mismatch", "--out", out]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with h5py.File(out) as file:
            return {name: np.array(value)[0] for name, value in file["probes/mismatch"].items() if name != "step"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cli", help="normscope-cli")
    cli = parser.parse_args().cli
    if int(torch.__version__.split(".")[0]) < 2:
        print(f"autocast.py: PyTorch {torch.__version__} may sum P·V in BF16; allowed: 2.0 or later", file=sys.stderr)
        return 2
    failed = False
    for seed, scheme in enumerate(("pre", "post", "peri")):
        recipe = {"format": "normscope-recipe", "version": 1,
                  "stack": {"scheme": scheme, "depth": DEPTH, "d_model": D, "heads": HEADS, "context": N, "vocab": V}}
        rng = np.random.default_rng(seed)
        stack = Stack.from_recipe(recipe)
        params = weights(stack, rng)
        tokens, targets = rng.integers(0, V, (2, B, N), dtype=np.int32)
        ours = measured(cli, recipe, params, tokens, targets)
        exact = forward(stack, params, tokens, "exact")
        for policy, name in (("autocast", "bf16_autocast"), ("pure", "bf16")):
            hidden, logits = profile(forward(stack, params, tokens, policy), exact)
            got, got_logits = ours[name + "_hidden"], float(ours[name + "_logits"])
            worst = max(np.max(np.abs(got[1:] / hidden[1:] - 1)), abs(got_logits / logits - 1))
            shown = "  ".join(f"{a:.5f}|{b:.5f}" for a, b in zip(got[::6], hidden[::6]))
            print(f"{scheme:5} {policy:8} ours|PyTorch at layers 0, 3, …, 12: {shown}  "
                  f"logits {got_logits:.5f}|{logits:.5f}  worst ratio {worst:.3f}")
            failed |= policy == "autocast" and (worst > TOLERANCE or got[0] != hidden[0])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
