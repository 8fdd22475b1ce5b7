# SPDX-License-Identifier: GPL-3.0-or-later
"""The base cases: four schemes × norm kind × Δt × τ, over odd sizes and short contexts, with weights that leave no
gain at 1, no bias at 0 and no attention uniform."""

import itertools

import numpy as np

from stack import Stack

BASE_SCHEMES = ("none", "pre", "post", "peri")

# One row a case of each scheme. context may exceed n (its last positions get no gradient); head_gain scales
# the head's matrix: with 1 the gradient's norm mostly exceeds the clip threshold of 1, a small one keeps it
# below.
COLUMNS = "d_model heads d_ff n context depth vocab batch bias tied activation causal eps head_gain".split()
SHAPES = [
    (33, 3, 13, 2, 3, 1, 13, 2, True, True, "gelu_tanh", True, 1e-5, 1.0),
    (7, 7, 13, 13, 16, 1, 13, 1, False, False, "gelu_erf", True, 1e-6, 1.0),
    (5, 1, 7, 13, 13, 1, 13, 2, True, False, "silu", True, 1e-2, 0.05),
    (9, 3, 11, 5, 7, 3, 2, 3, True, False, "relu", True, 1e-5, 1.0),
    (15, 3, 20, 1, 1, 1, 13, 3, False, True, "gelu_tanh", True, 1e-5, 0.02),
    (5, 1, 13, 1, 3, 3, 2, 1, True, False, "gelu_erf", True, 1e-5, 1.0),
    (5, 1, 20, 5, 6, 2, 2, 3, False, True, "silu", False, 1e-5, 1.0),
    (9, 3, 13, 5, 5, 1, 13, 2, True, False, "gelu_tanh", False, 1e-1, 0.05),
]
COMBINATIONS = list(itertools.product(("layernorm", "rmsnorm"), (1.0, 0.1), (1.0, 2.0)))
FINAL_NORMS = ("auto", "on", "off")
ZERO_GAIN_SHAPE = 7  # here one channel of every norm's γ is exactly 0: its null space changes


def recipe_of(scheme, shape, norm, residual_step, temperature, final_norm):
    return {
        "format": "normscope-recipe",
        "version": 1,
        "stack": {
            **{key: shape[key] for key in ("depth", "d_model", "heads")},
            "kv_heads": shape["heads"],
            **{key: shape[key] for key in ("d_ff", "context", "vocab")},
            "block": "gpt2",
            "activation": shape["activation"],
            "bias": shape["bias"],
            "position": "learned",
            "tied_head": shape["tied"],
            "causal": shape["causal"],
            "layout": "serial",
            "scheme": scheme,
            "norm": {"kind": norm, "eps": shape["eps"]},
            "final_norm": final_norm,
            "residual_step": residual_step,
            "temperature": temperature,
        },
        "optimizer": {
            "kind": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1, "clip": 1.0,
        },  # fmt: skip
    }


def random_params(stack, rng, head_gain, zero_gain):
    """Scores of a few units, so that attention is far from uniform; random gains and biases everywhere."""
    params = {}
    for name, shape in stack.parameter_shapes().items():
        draw = rng.standard_normal(shape)
        if len(shape) == 2:
            gain = {"tok_emb": shape[1] ** 0.5, "pos_emb": 0.5 * shape[1] ** 0.5}.get(name, 1.0)
            if name.endswith((".wq", ".wk")):
                gain = 1.5
            if name == ("tok_emb" if stack.tied_head else "head.weight"):
                gain *= head_gain
            params[name] = gain / shape[1] ** 0.5 * draw
        elif name.endswith(".gate"):
            params[name] = 0.8 * draw
        elif name.endswith(".scale") or ("norm" in name and name.endswith(".weight")):
            params[name] = 1 + 0.3 * draw
            if zero_gain and params[name].ndim:
                params[name][1] = 0.0
        else:
            params[name] = 0.3 * draw
    return params


def cases(scheme):
    """Yields name, recipe, params, tokens, targets. In each scheme the combinations meet other shapes."""
    offset = BASE_SCHEMES.index(scheme)
    for i, row in enumerate(SHAPES):
        shape = dict(zip(COLUMNS, row))
        norm, residual_step, temperature = COMBINATIONS[(3 * i + 5 * offset) % len(COMBINATIONS)]
        final_norm = FINAL_NORMS[(i + offset) % 3]
        if scheme == "none" and final_norm == "auto":
            final_norm = "off"  # bare to the head, as in these cases from the first; auto has the norm
        recipe = recipe_of(scheme, shape, norm, residual_step, temperature, final_norm)
        rng = np.random.default_rng([offset, i])
        params = random_params(Stack.from_recipe(recipe), rng, shape["head_gain"], i == ZERO_GAIN_SHAPE)
        tokens, targets = rng.integers(0, shape["vocab"], (2, shape["batch"], shape["n"]), dtype=np.int32)
        name = f"{norm}_dt{residual_step:g}_tau{temperature:g}_d{shape['d_model']}_n{shape['n']}"
        yield name, recipe, params, tokens, targets


# Stacks of patches: what differs from the defaults, and the batch.
IMAGES = {
    "pre_two_channels": ({"depth": 2, "d_model": 9, "heads": 3, "image": {"size": 6, "channels": 2, "patch": 3}}, 3),
    "post_one_pixel": ({"scheme": "post", "depth": 1, "d_model": 6, "heads": 2, "embedding_norm": True,
                        "image": {"size": 3, "channels": 1, "patch": 1}, "z_loss": 0.1, "logit_soft_cap": 3.0}, 2),
    "llama_grouped": ({"block": "llama", "scheme": "peri", "depth": 2, "d_model": 8, "heads": 4, "kv_heads": 2,
                       "image": {"size": 8, "channels": 3, "patch": 4}}, 2),
    "one_patch": ({"scheme": "deepnorm", "depth": 2, "d_model": 8, "heads": 1, "position": "none",
                   "image": {"size": 4, "channels": 3, "patch": 4}}, 4),
}  # fmt: skip


def image_cases():
    """Yields name, recipe, params, images, classes. The images are exact in float32, as the engine keeps them."""
    for seed, (name, (given, batch)) in enumerate(IMAGES.items()):
        rng = np.random.default_rng([77, seed])
        recipe = {"format": "normscope-recipe", "version": 1,
                  "stack": {"d_ff": 14, "classes": 5, "input": "patches", **given},
                  "optimizer": {"lr": 3e-3}}  # fmt: skip
        stack = Stack.from_recipe(recipe)
        image = stack.image
        images = rng.standard_normal((batch, image["channels"], image["size"], image["size"])).astype(np.float32)
        yield name, recipe, random_params(stack, rng, 1.0, False), images, rng.integers(0, 5, batch, dtype=np.int32)
