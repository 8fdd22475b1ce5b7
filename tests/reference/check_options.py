# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of what the option cases add to the reference: against PyTorch's modules, identities between schemes, and
differences, under GPAS of the surrogate whose sg(x) is a recorded constant.

Run in this folder: python3 -m unittest check_options
"""

import pathlib
import unittest
from dataclasses import replace

import h5py
import numpy as np
import torch
import torch.nn.functional as F

import compare
from cases import random_params
from expected import adamw_step, dense_jacobian, evaluate
from model import GATE_ACTIVATIONS, Model, rotate
from option_cases import OPTIONS, all_pairs, covering_choices, option_cases, pairs_of
from stack import SCHEMES, Stack

torch.set_default_dtype(torch.float64)
SMALL = {"depth": 2, "d_model": 8, "heads": 2, "d_ff": 12, "context": 5, "vocab": 7}


def tensors(params, **keywords):
    return {name: torch.tensor(value, **keywords) for name, value in params.items()}


def model_of(seed=0, **keys):
    stack = Stack.from_recipe({"stack": {**SMALL, **keys}})
    return Model(stack, tensors(random_params(stack, np.random.default_rng(seed), 1.0, False)))


def batch(model, seed=1):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.integers(0, model.stack.vocab, (2, 2, 5)))


def record_stopped(model, run):
    """Runs the model, and returns a function that sets a model's sg(·) to what it was here, call by call."""
    recorded = []

    def record(x):
        recorded.append(x.detach())
        return recorded[-1]

    def hold(other):
        constants = iter(recorded)
        other.stopped = lambda x: next(constants)
        return other

    if not (model.stack.gpas["enabled"] and model.stack.gpas["stop_gradient"]):
        return lambda other: other
    model.stopped = record
    run(model)
    model.stopped = torch.detach
    return hold


class Pieces(unittest.TestCase):
    def test_rope(self):
        """Pair by pair a rotation matrix; the product of two rotated vectors depends on their distance alone."""
        x, base, d = torch.randn(3, 4, 6), 10.0, 6
        found = rotate(x, base)
        for position in range(4):
            for i in range(3):
                angle = torch.tensor(position * base ** (-2 * i / d))
                turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).reshape(2, 2)
                pair = x[:, position, [i, i + 3]] @ turn.T
                torch.testing.assert_close(found[:, position, [i, i + 3]], pair)
        q, k = (rotate(v.expand(7, d), base) for v in torch.randn(2, d))
        products = q @ k.T
        torch.testing.assert_close(products[1:, 1:], products[:-1, :-1])

    def test_gate_activations(self):
        g = torch.linspace(-3, 3, 41)
        own = {"silu": F.silu(g), "identity": g, "relu": F.relu(g), "leaky_relu": F.leaky_relu(g, 0.01),
               "tanh": g.tanh(), "silu8": F.silu(8 * g) / 8}  # fmt: skip
        self.assertEqual(own.keys(), GATE_ACTIVATIONS.keys())
        for name, value in own.items():
            torch.testing.assert_close(GATE_ACTIVATIONS[name](g), value)

    def test_swiglu(self):
        model = model_of(activation="swiglu")
        weights, u = model.params, torch.randn(3, 8)
        gate, up, down = torch.nn.Linear(8, 12), torch.nn.Linear(8, 12), torch.nn.Linear(12, 8)
        for linear, name in ((gate, "gate"), (up, "up"), (down, "down")):
            linear.weight.data, linear.bias.data = weights[f"blocks.0.ffn.w_{name}"], weights[f"blocks.0.ffn.b_{name}"]
        torch.testing.assert_close(model.ffn(u, "blocks.0.ffn."), down(F.silu(gate(u)) * up(u)))

    def test_grouped_heads_are_repeated_heads(self):
        grouped = model_of(heads=4, kv_heads=2)
        params = dict(grouped.params)
        for name in [name for name in params if name.endswith((".wk", ".wv", ".bk", ".bv"))]:
            head = params[name].reshape(2, 2, *params[name].shape[1:])  # [kv head, channel, …]
            params[name] = torch.stack([head[0], head[0], head[1], head[1]]).flatten(0, 1)
        full = Model(replace(grouped.stack, kv_heads=4), params)
        tokens = batch(grouped)
        torch.testing.assert_close(grouped.forward(*tokens).logits, full.forward(*tokens).logits)

    def test_qk_norm(self):
        """Attention by nn.MultiheadAttention from the query and key that the norms leave."""
        for kind, (norm, norm_of) in (
            ("layernorm", ("layernorm", lambda x, g: F.layer_norm(x, g.shape, g, eps=1e-5))),
            ("rmsnorm", ("rmsnorm", lambda x, g: x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * g)),
        ):
            for width in ("head", "full"):
                model = model_of(qk_norm=width, norm={"kind": norm, "eps": 1e-5}, bias=False)
                p, u = {k.removeprefix("blocks.0.attn."): v for k, v in model.params.items()}, torch.randn(1, 5, 8)
                q, k = (
                    norm_of((u @ p["w" + x].T).reshape(5, *((2, 4) if width == "head" else (8,))), p[x + "_norm.weight"])
                    for x in "qk"
                )
                eye = torch.eye(8)
                y, _ = F.multi_head_attention_forward(
                    q.reshape(5, 1, 8), k.reshape(5, 1, 8), (u @ p["wv"].T).reshape(5, 1, 8), 8, 2,
                    torch.cat([eye, eye, eye]), None, None, None, False, 0.0, p["wo"], None,
                    attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
                )  # fmt: skip
                found, _ = model.attention(u, "blocks.0.attn.")
                torch.testing.assert_close(found[0], y[:, 0], msg=f"{kind} {width}")

    def test_gate(self):
        """Forward x·(1 − act(g)); backward the identity; ∂/∂g = −act'(g)·Σ upstream·x, both sub-layers together."""
        model = model_of(gpas={"enabled": True, "site": "output"})
        x, upstream = torch.randn(5, 8, requires_grad=True), torch.randn(5, 8)
        g = model.params["blocks.0.gate"].requires_grad_()
        y = model.gated("output", 0, x)
        torch.testing.assert_close(y, x * (1 - F.silu(g)))
        dx, dg = torch.autograd.grad(y, (x, g), upstream)
        torch.testing.assert_close(dx, upstream)
        slope = torch.autograd.grad(F.silu(g), g)[0]
        torch.testing.assert_close(dg, -slope * (upstream * x).sum())

    def test_gate_of_zero_changes_nothing(self):
        for site in OPTIONS["site"][1:]:
            for layout in OPTIONS["layout"]:
                model = model_of(gpas={"enabled": True, "site": site}, layout=layout, scheme="mix", bias=True)
                params = {k: 0 * v if k.endswith(".gate") else v for k, v in model.params.items()}
                bare = {k: v for k, v in params.items() if not k.endswith(".gate")}
                plain = Model(replace(model.stack, gpas={**model.stack.gpas, "enabled": False}), bare)
                tokens = batch(model)
                self.assertEqual(Model(model.stack, params).forward(*tokens).loss, plain.forward(*tokens).loss)

    def test_gate_gradient_at_zero(self):
        """−½·Σ g·x over both sub-layers (SiLU'(0) = ½), from the gradients at the ungated outputs."""
        model = model_of(gpas={"enabled": True, "site": "output"}, depth=1)
        params = {k: (0 * v if k.endswith(".gate") else v).requires_grad_() for k, v in model.params.items()}
        trace = Model(model.stack, params).forward(*batch(model))
        gate, *hidden = torch.autograd.grad(trace.total, (params["blocks.0.gate"], *trace.hidden[1:]))
        torch.testing.assert_close(gate, -0.5 * sum((g * h).sum() for g, h in zip(hidden, trace.hidden[1:])))

    def test_cap_and_z_loss(self):
        plain, capped = model_of(), model_of(logit_soft_cap=1.5, z_loss=0.3)
        tokens, targets = batch(plain)
        logits = 1.5 * torch.tanh(plain.forward(tokens, targets).logits / 1.5)
        trace = capped.forward(tokens, targets)
        torch.testing.assert_close(trace.logits, logits)
        entropy = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        torch.testing.assert_close(trace.loss, entropy)
        torch.testing.assert_close(trace.total, entropy + 0.3 * logits.exp().sum(-1).log().pow(2).mean())

    def test_step_of_gates(self):
        params = {"w": torch.randn(4, 3), "blocks.0.gate": torch.tensor(0.3), "blocks.1.gate": torch.tensor(-0.2)}
        grads = {"w": torch.randn(4, 3), "blocks.0.gate": torch.tensor(3.0), "blocks.1.gate": torch.tensor(4.0)}
        options = {"lr": 0.1, "weight_decay": 0.5, "eps": 0.5, "clip": 0.0}
        stepped = adamw_step(params, grads, options, {"learnable": True, "clip": 0.5})
        for name, g in (("blocks.0.gate", 0.3), ("blocks.1.gate", 0.4)):  # 3 and 4, scaled to the norm 0.5
            self.assertAlmostEqual(stepped[name].item(), params[name].item() - 0.1 * g / (g + 0.5), 6)
        moved = params["w"] * (1 - 0.1 * 0.5) - 0.1 * grads["w"] / (grads["w"].abs() + 0.5)
        torch.testing.assert_close(stepped["w"], moved)
        frozen = adamw_step(params, grads, {**options, "clip": 1.0}, {"learnable": False, "clip": 0.5})
        self.assertEqual(frozen["blocks.0.gate"], params["blocks.0.gate"])
        norm = grads["w"].norm()
        g = grads["w"] * min(1, 1 / (norm + 1e-6))
        torch.testing.assert_close(frozen["w"], params["w"] * 0.95 - 0.1 * g / (g.abs() + 0.5))


class Identities(unittest.TestCase):
    def same(self, one, keys, change=lambda name, value: value, exact=True):
        """The model `one` and one of other keys with its weights, changed, have the same logits."""
        stack = replace(one.stack, **keys)
        other = Model(stack, {k: change(k, v) for k, v in one.params.items() if k in stack.parameter_shapes()})
        tokens = batch(one)
        a, b = one.forward(*tokens).logits, other.forward(*tokens).logits
        torch.testing.assert_close(a, b, **({"rtol": 0, "atol": 0} if exact else {}))

    def test_schemes_that_are_the_same(self):
        self.same(model_of(scheme="peri"), {"scheme": "sandwich"})
        self.same(model_of(scheme="none", final_norm="on"), {"scheme": "custom"})
        self.same(model_of(scheme="mix", mix_post_fraction=0.0), {"scheme": "pre"})
        self.same(model_of(scheme="mix", mix_post_fraction=1.0), {"scheme": "post", "final_norm": "on"})
        out = [{"index": i, "attn": {"out": True}, "ffn": {"out": True, "in": False}} for i in range(2)]
        self.same(model_of(scheme="output"), {"scheme": "custom", "layers": out})

    def test_mix_is_post_then_pre(self):
        names = model_of(scheme="mix", depth=5, mix_post_fraction=0.5).params
        norms = sorted(name for name in names if ".attn.norm" in name and name.endswith("weight"))
        self.assertEqual([name.split("norm_")[1] for name in norms], ["post.weight"] * 2 + ["in.weight"] * 3)

    def test_lns_forms(self):
        """The factor 1/√ℓ is a gain of 1/√ℓ."""
        def scaled(name, value):
            return value * (int(name.split(".")[1]) + 1) ** -0.5 if "norm_in" in name else value

        for bias in (True, False):  # the factor scales β as well
            model = model_of(scheme="lns", lns_form="factor", bias=bias)
            self.same(model, {"lns_form": "gamma"}, scaled, exact=False)

    def test_deepnorm(self):
        """LN_ε(a·x + f) = LN of x + f/a with ε/a²."""
        model = model_of(scheme="deepnorm")
        a = (2 * model.stack.depth) ** 0.25
        norm = {"kind": "layernorm", "eps": 1e-5 / a**2}
        keys = {"scheme": "post", "residual_step": 1 / a, "norm": norm}
        self.same(model, keys, exact=False)

    def test_branch_scale_and_overrides(self):
        model = model_of(scheme="pre")
        halves = {f"blocks.{layer}.{kind}.scale": torch.tensor(0.5) for layer in range(2) for kind in ("attn", "ffn")}
        overrides = [{"index": i, "attn": {"b": 0.5}, "ffn": {"b": 0.5}} for i in range(2)]
        tokens, stack = batch(model), model.stack
        want = Model(replace(stack, residual_step=0.5), model.params).forward(*tokens).logits
        channel = {name: value.expand(8) for name, value in halves.items()}
        for found in (
            Model(replace(stack, branch_scale="scalar"), {**model.params, **halves}),
            Model(replace(stack, branch_scale="channel"), {**model.params, **channel}),
            Model(replace(stack, layers=overrides), model.params),
        ):
            torch.testing.assert_close(found.forward(*tokens).logits, want)

    def test_parallel_layer(self):
        """x + attention(LN(x)) + FFN(LN(x)), of PyTorch's modules."""
        model = model_of(layout="parallel", activation="gelu_erf", depth=1)
        p = {k.removeprefix("blocks.0."): v for k, v in model.params.items()}
        x = torch.randn(1, 5, 8)
        u, v = (F.layer_norm(x, (8,), p[f"{k}.norm_in.weight"], p[f"{k}.norm_in.bias"]) for k in ("attn", "ffn"))
        y, _ = F.multi_head_attention_forward(
            *[u.transpose(0, 1)] * 3, 8, 2, torch.cat([p["attn.w" + k] for k in "qkv"]),
            torch.cat([p["attn.b" + k] for k in "qkv"]), None, None, False, 0.0, p["attn.wo"], p["attn.bo"],
            attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        )  # fmt: skip
        between = x + y.transpose(0, 1)
        ffn = F.linear(F.gelu(F.linear(v, p["ffn.w1"], p["ffn.b1"])), p["ffn.w2"], p["ffn.b2"])
        for found, want in zip(model.layer(x, 0), (between, between + ffn)):
            torch.testing.assert_close(found, want)

    def test_embedding_norm(self):
        model = model_of(embedding_norm=True)
        tokens, targets = batch(model)
        x = model.params["tok_emb"][tokens] + model.params["pos_emb"]
        want = F.layer_norm(x, (8,), model.params["emb_norm.weight"], model.params["emb_norm.bias"])
        torch.testing.assert_close(model.forward(tokens, targets).hidden[0], want)

    def test_llama_defaults(self):
        stack = Stack.from_recipe({"stack": {**SMALL, "block": "llama"}})
        found = {key: getattr(stack, key) for key in ("activation", "bias", "position", "tied_head", "norm", "kv_heads")}
        want = {"activation": "swiglu", "bias": False, "position": "rope", "tied_head": False, "kv_heads": 2}
        self.assertEqual(found, {**want, "norm": {"kind": "rmsnorm", "eps": 1e-6}})
        self.assertNotIn("pos_emb", stack.parameter_shapes())


class OptionCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The committed cases: (name, recipe, params, tokens, targets, expected)."""
        cls.cases = []
        for path in sorted(pathlib.Path(__file__).parent.glob("options/*.h5")):
            with h5py.File(path) as file:
                for name, group in file.items():
                    cls.cases.append((f"{path.stem}/{name}", *compare.read_case(group)))

    def test_cover_all_pairs(self):
        self.assertFalse(all_pairs() - set().union(*map(pairs_of, covering_choices())))
        names = {f"{scheme}/{name}" for scheme in SCHEMES for name, *_ in option_cases(scheme)}
        self.assertEqual(names, {name for name, *_ in self.cases})

    def test_are_what_the_model_computes(self):
        for name, *case, expected in self.cases:
            worst = compare.compare(expected, evaluate(*case), optimizer=case[0]["optimizer"])
            for output, (error, path) in worst.items():
                self.assertLess(error, 1e-10, f"{name} {path}")

    def test_gradients_against_differences(self):
        rng = np.random.default_rng(5)
        for name, recipe, params, tokens, targets, out in self.cases:
            stack, ids = Stack.from_recipe(recipe), tensors({0: tokens, 1: targets}, dtype=torch.int64).values()
            hold = record_stopped(Model(stack, tensors(params)), lambda m: m.forward(*ids))
            scale = float(out["probes/gradients/total"])
            for tensor, value in params.items():
                direction = rng.standard_normal(value.shape)
                direction = direction / np.linalg.norm(direction)
                losses = [
                    hold(Model(stack, tensors({**params, tensor: value + h * direction}))).forward(*ids).total.item()
                    for h in (1e-6, -1e-6)
                ]
                slope = (losses[0] - losses[1]) / 2e-6
                exact = (out[f"grad/{tensor}"] * direction).sum()
                self.assertLess(abs(slope - exact), 1e-6 * scale, f"{name} {tensor}")

    def test_jacobians_against_differences(self):
        rng = np.random.default_rng(6)
        for name, recipe, params, _, _, out in self.cases:
            model, product = Model(Stack.from_recipe(recipe), tensors(params)), 1
            for index in range(2 * model.stack.depth):
                parallel = model.stack.parallel
                x = torch.tensor(out["hidden"][index - index % 2 if parallel else index, 0])
                v = torch.tensor(rng.standard_normal(x.shape))

                def run(m, at=x, i=index):
                    return m.parallel_part(i, x)(at) if parallel else m.sublayer(at, i)

                def slope(set_up):
                    up, down = (run(set_up(model), at=x + h * v) for h in (1e-5, -1e-5))
                    model.stopped = torch.detach if model.stack.gpas["stop_gradient"] else lambda y: y
                    return ((up - down) / 2e-5).numpy().ravel()

                for kind, hold in (("jacobian", record_stopped(model, run)), ("jacobian_forward", lambda m: m)):
                    if f"{kind}/sublayer/{index}" in out:
                        exact = out[f"{kind}/sublayer/{index}"] @ v.numpy().ravel()
                        worst = np.abs(slope(hold) - exact).max()
                        self.assertLess(worst, 1e-6 * max(1e-3, np.abs(exact).max()), f"{name} {kind} {index}")

    def test_end_to_end_is_the_product(self):
        for name, recipe, params, _, _, out in self.cases:
            model = Model(Stack.from_recipe(recipe), tensors(params))
            maps = {"": model, "_forward": model.without_stop_gradient()}
            for suffix in [s for s in maps if f"jacobian{s}/end_to_end" in out]:
                product = np.eye(out["jacobian/end_to_end"].shape[0])
                for layer in range(model.stack.depth):
                    if model.stack.parallel:
                        x = torch.tensor(out["hidden"][2 * layer, 0])
                        own = dense_jacobian(lambda y, k=layer, m=maps[suffix]: m.layer(y, k)[1], x)
                    else:
                        own = out[f"jacobian{suffix}/sublayer/{2 * layer + 1}"]
                        own = own @ out[f"jacobian{suffix}/sublayer/{2 * layer}"]
                    product = own @ product
                found = out[f"jacobian{suffix}/end_to_end"]
                np.testing.assert_allclose(found, product, rtol=0, atol=1e-11 * np.abs(product).max(), err_msg=name)

    def test_growth_bound_holds(self):
        for name, *_, out in self.cases:
            for value, kind in (("ma", "ma"), ("var", "var"), ("rms", "uniform_ma"), ("rms", "product_ma")):
                bound = out[f"probes/growth/bound_{kind}"]
                known = ~np.isnan(bound)
                self.assertTrue((out[f"probes/growth/{value}"] <= bound * (1 + 1e-12))[known].all(), name)


if __name__ == "__main__":
    unittest.main()
