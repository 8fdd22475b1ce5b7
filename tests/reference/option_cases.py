# SPDX-License-Identifier: GPL-3.0-or-later
"""Small cases in which any two values of any two options meet at least once, whatever the scheme.

Drawn greedily: each case is the best of many random ones that hold a pair not seen before.
"""

import itertools
import math

import numpy as np

from cases import random_params
from stack import BLOCK_DEFAULTS, DEFAULTS, SCHEMES, Stack

OPTIONS = {
    "scheme": SCHEMES,
    "block": ("gpt2", "llama"),
    "norm": ("layernorm", "rmsnorm"),
    "site": (None, "auto", "output", "shortcut", "input", "norm", "branch"),
    "gate_activation": ("silu", "identity", "relu", "leaky_relu", "tanh", "silu8"),
    "stop_gradient": (True, False),
    "learnable": (True, False),
    "gate_clip": (0.0, 0.01),
    "tied_head": (False, True),
    "bias": (True, False),
    "activation": ("gelu_tanh", "gelu_erf", "relu", "silu", "swiglu"),
    "key_heads": ("all", "grouped", "one"),
    "position": ("learned", "rope", "none"),
    "qk_norm": ("off", "head", "full"),
    "layout": ("serial", "parallel"),
    "branch_scale": ("none", "scalar", "channel"),
    "residual_step": (1.0, 0.1),
    "temperature": (1.0, 2.0),
    "embedding_norm": (False, True),
    "logit_soft_cap": (0.0, 2.0),
    "z_loss": (0.0, 0.1),
    "causal": (True, False),
    "final_norm": ("auto", "on", "off"),
    "by_hand": (False, True),
}
OF_THE_GATE = ("gate_activation", "stop_gradient", "learnable", "gate_clip")
SEED = 20


def pairs_of(choice):
    """All pairs ((option, value), (option, value)) that this choice of values has an effect of."""
    acting = [item for item in choice.items() if choice["site"] or item[0] not in OF_THE_GATE]
    return set(itertools.combinations(acting, 2))


def all_pairs():
    pairs = set()
    for (one, values), (other, others) in itertools.combinations(OPTIONS.items(), 2):
        pairs |= {((one, v), (other, w)) for v in values for w in others}
    # The gate's options mean nothing without a gate, and a custom scheme is made by hand.
    without_gate = {(("site", None), (name, v)) for name in OF_THE_GATE for v in OPTIONS[name]}
    return pairs - without_gate - {(("scheme", "custom"), ("by_hand", False))}


def covering_choices():
    """A list of option -> value that covers all_pairs()."""
    rng, missing, choices = np.random.default_rng(SEED), all_pairs(), []
    ordered = sorted(missing, key=repr)
    while missing:
        ordered = [pair for pair in ordered if pair in missing]
        best, gain = None, 0
        for _ in range(60):
            choice = {name: values[rng.integers(len(values))] for name, values in OPTIONS.items()}
            wanted = dict(ordered[rng.integers(len(ordered))])
            choice.update(wanted)
            if choice["site"] is None and wanted.keys() & set(OF_THE_GATE):
                choice["site"] = OPTIONS["site"][rng.integers(1, len(OPTIONS["site"]))]
            choice["by_hand"] = choice["by_hand"] or choice["scheme"] == "custom"
            found = len(pairs_of(choice) & missing)
            if found > gain:
                best, gain = choice, found
        if best:
            missing -= pairs_of(best)
            choices.append(best)
    return choices


def heads_of(choice, rng):
    """(d_model, heads, kv_heads), small, as this choice allows."""
    allowed = []
    for d, heads in itertools.product(range(4, 17), range(1, 7)):
        if d % heads or (choice["position"] == "rope" and d // heads % 2):
            continue
        key_heads = {"all": [heads], "one": [1] if heads > 1 else []}.get(
            choice["key_heads"], [k for k in range(2, heads) if heads % k == 0]
        )
        if choice["qk_norm"] != "head" or d // heads > 2:  # a norm over two channels leaves nothing but signs
            allowed += [(d, heads, k) for k in key_heads]
    allowed = [sizes for sizes in allowed if sizes[0] <= 8] or allowed
    return allowed[rng.integers(len(allowed))]


def by_hand(depth, rng, everywhere):
    """Overrides of one layer, or of all of them."""
    layers = []
    for layer in range(depth) if everywhere else [int(rng.integers(depth))]:
        override = {"index": layer}
        for kind in ("attn", "ffn"):
            drawn = {key: bool(rng.integers(2)) for key in ("in", "out", "post") if everywhere or rng.integers(2)}
            for key, values in (("a", (0.75, 1.5)), ("b", (0.5, -1.25))):
                if rng.integers(2):
                    drawn[key] = values[rng.integers(2)]
            override[kind] = drawn
        layers.append(override)
    return layers


def recipe_of(choice, rng, terse):
    """terse: leaves out every key that has its default's value."""
    d, heads, kv_heads = heads_of(choice, rng)
    depth = 3 if rng.integers(8) == 0 else 2
    n = max(1, min(int(rng.integers(1, 7)), 24 // d))
    gpas = {"enabled": choice["site"] is not None}
    if choice["site"]:
        gpas |= {"activation": choice["gate_activation"], "site": choice["site"]}
        gpas |= {"stop_gradient": choice["stop_gradient"], "learnable": choice["learnable"]}
        gpas["clip"] = choice["gate_clip"]
    same = ("block", "layout", "scheme", "final_norm", "embedding_norm", "qk_norm", "residual_step", "temperature",
            "branch_scale", "logit_soft_cap", "z_loss", "activation", "bias", "position", "tied_head",
            "causal")  # fmt: skip
    stack = {
        "depth": depth, "d_model": d, "heads": heads, "kv_heads": kv_heads, "d_ff": int(rng.integers(3, 6)),
        "context": n + int(rng.integers(2)), "vocab": int(rng.integers(2, 7)), **{key: choice[key] for key in same},
        "mix_post_fraction": (math.ceil(depth / 4) + 0.1) / depth, "lns_form": ("factor", "gamma")[rng.integers(2)],
        "norm": {"kind": choice["norm"], "eps": (1e-5, 1e-6, 1e-2)[rng.integers(3)]}, "gpas": gpas,
        "rope_base": (10000.0, 10.0)[rng.integers(2)],
        "layers": by_hand(depth, rng, choice["scheme"] == "custom") if choice["by_hand"] else [],
    }  # fmt: skip
    if terse:
        defaults = {**DEFAULTS, **BLOCK_DEFAULTS[choice["block"]]}
        stack = {key: value for key, value in stack.items() if value != defaults[key] and value != {"enabled": False}}
        if kv_heads == heads:
            del stack["kv_heads"]
    optimizer = {
        "kind": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1,
        "clip": (1.0, 0.0)[rng.integers(2)],
    }  # fmt: skip
    return {"format": "normscope-recipe", "version": 1, "stack": stack, "optimizer": optimizer}


def draw(choice, rng, terse):
    """recipe, params, tokens, targets for one choice of options."""
    recipe = recipe_of(choice, rng, terse)
    stack = Stack.from_recipe(recipe)
    params = random_params(stack, rng, head_gain=1.0, zero_gain=False)
    shape = (2, int(rng.integers(1, 3)), int(stack.context - rng.integers(2) if stack.context > 1 else 1))
    tokens, targets = rng.integers(0, stack.vocab, shape, dtype=np.int32)
    return recipe, params, tokens, targets


def option_cases(scheme, accept=lambda *case: True):
    """Yields name, recipe, params, tokens, targets of this scheme; each drawn until `accept` takes it."""
    for number, choice in enumerate(covering_choices()):
        if choice["scheme"] == scheme:
            for attempt in itertools.count():
                case = draw(choice, np.random.default_rng([SEED, number, attempt]), terse=number % 2 == 1)
                if accept(*case):
                    break
            words = (choice["block"], choice["norm"], choice["site"] or "ungated", choice["layout"])
            yield "_".join((f"{number:03d}", *words)), *case
