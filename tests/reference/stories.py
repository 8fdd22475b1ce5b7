#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained LLaMA-style model in llama2.c's first .bin layout (such as stories260K.bin), read and computed here.

    stories.py MODEL.bin DIR               writes recipe.json, weights.h5, tokens.h5 and expected.h5 into DIR
    stories.py MODEL.bin DIR --with OUT.h5 holds the logits of OUT.h5 against those of DIR/tokens.h5, to 1e-10

OUT.h5 is what `normscope-cli evaluate` wrote for an imported MODEL.bin (or for DIR's own recipe and weights) and
DIR/tokens.h5: 64 token ids drawn with a fixed seed after the id 1, which begins a text.
"""

import argparse
import pathlib
import sys

import h5py
import numpy as np
import torch

from compare import compare
from cross import write_inputs
from model import Model
from stack import Stack

LENGTH, BEGIN, SEED = 64, 1, 3
TOLERANCE = 1e-10


def half_split(weight, heads):
    """Rows of each head from llama2.c's neighbouring RoPE pairs (2i, 2i + 1) to pairs (i, i + d_h/2)."""
    per_head = weight.reshape(heads, -1, 2, weight.shape[-1])  # [head, pair, member, column]
    return per_head.transpose(0, 2, 1, 3).reshape(weight.shape)


def read_model(path):
    """recipe and params (float32 as stored) of a .bin file: 7 int32, then float32 arrays, layers stacked."""
    dim, hidden, layers, heads, kv_heads, vocab, context = (int(x) for x in np.fromfile(path, np.int32, 7))
    tied, vocab, head = vocab > 0, abs(vocab), dim // heads
    values, at = np.fromfile(path, np.float32, offset=28), 0

    def take(*shape):
        nonlocal at
        at += int(np.prod(shape))
        return values[at - int(np.prod(shape)) : at].reshape(shape)

    params, kv = {"tok_emb": take(vocab, dim)}, kv_heads * head
    for name, shape in (
        ("attn.norm_in.weight", (dim,)), ("attn.wq", (dim, dim)), ("attn.wk", (kv, dim)), ("attn.wv", (kv, dim)),
        ("attn.wo", (dim, dim)), ("ffn.norm_in.weight", (dim,)), ("ffn.w_gate", (hidden, dim)),
        ("ffn.w_down", (dim, hidden)), ("ffn.w_up", (hidden, dim)),
    ):  # fmt: skip
        for layer, value in enumerate(take(layers, *shape)):
            if name in ("attn.wq", "attn.wk"):
                value = half_split(value, heads if name == "attn.wq" else kv_heads)
            params[f"blocks.{layer}.{name}"] = value
    params["final_norm.weight"] = take(dim)
    take(2, context, head // 2)  # cosines and sines, which the model computes itself
    if not tied:
        params["head.weight"] = take(vocab, dim)
    if at != len(values):
        raise ValueError(f"{path}: {len(values)} numbers, its header says {at}")
    stack = {
        "block": "llama", "depth": layers, "d_model": dim, "heads": heads, "kv_heads": kv_heads, "d_ff": hidden,
        "context": context, "vocab": vocab, "scheme": "pre", "tied_head": tied,
        "norm": {"kind": "rmsnorm", "eps": 1e-5},
    }  # fmt: skip
    return {"format": "normscope-recipe", "version": 1, "stack": stack}, params


def draw_text(vocab):
    """LENGTH + 1 token ids [1, LENGTH + 1]."""
    ids = np.random.default_rng(SEED).integers(0, vocab, (1, LENGTH + 1), dtype=np.int32)
    ids[0, 0] = BEGIN
    return ids


def main():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--with", dest="out", type=pathlib.Path, help="output of normscope-cli evaluate")
    options = parser.parse_args()

    recipe, params = read_model(options.model)
    weights = {name: torch.tensor(value, dtype=torch.float64) for name, value in params.items()}
    model = Model(Stack.from_recipe(recipe), weights)
    if options.out is None:
        ids = draw_text(model.stack.vocab)
        write_inputs(options.folder, recipe, params, ids[:, :-1], ids[:, 1:])
    with h5py.File(options.folder / "tokens.h5") as file:
        tokens, targets = (torch.tensor(file[name][()].astype(np.int64)) for name in ("tokens", "targets"))
    trace = model.forward(tokens, targets)
    want = {"logits": trace.logits.numpy(), "loss": trace.loss.numpy()}
    print(f"loss {want['loss']:.4f} nat over {tokens.numel()} tokens")
    if options.out is None:
        with h5py.File(options.folder / "expected.h5", "w") as file:
            for name, value in want.items():
                file[name] = value
        return
    with h5py.File(options.out) as file:
        worst = compare(want, {name: file[name][()] for name in want if name in file})
    for name, (error, _) in worst.items():
        print(f"{error:9.2e}  {name}")
    if not all(error <= TOLERANCE for error, _ in worst.values()):
        sys.exit(f"above {TOLERANCE:g}, missing or misshapen")


if __name__ == "__main__":
    main()
