# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the reference itself against PyTorch's own modules, finite differences, closed forms, known values.

Run in this folder: python3 -m unittest check_model
"""

import math
import unittest

import numpy as np
import torch
import torch.nn.functional as F

import compare
import probes
from cases import BASE_SCHEMES, cases
from expected import adamw_step, evaluate
from model import ACTIVATIONS, Model, Stack, Unsupported, normalise

torch.set_default_dtype(torch.float64)


def all_cases():
    for scheme in BASE_SCHEMES:
        for name, *case in cases(scheme):
            yield f"{scheme}/{name}", *case


def one_case(scheme, **wanted):
    """A case of the scheme whose stack has these values, with its outputs."""
    for _, recipe, params, tokens, targets in cases(scheme):
        if all(recipe["stack"][key] == value for key, value in wanted.items()):
            return recipe, params, tokens, targets, evaluate(recipe, params, tokens, targets)
    raise LookupError(f"no case of {scheme} with {wanted}")


def model_of(recipe, params):
    return Model(Stack.from_recipe(recipe), {name: torch.tensor(value) for name, value in params.items()})


def loss_of(recipe, params, tokens, targets):
    tokens, targets = (torch.tensor(x.astype(np.int64)) for x in (tokens, targets))
    return model_of(recipe, params).forward(tokens, targets).loss.item()


class Pieces(unittest.TestCase):
    def test_norms(self):
        x = 3 + torch.randn(7, 5)
        torch.testing.assert_close(normalise(x, "layernorm", 0.1), F.layer_norm(x, (5,), eps=0.1))
        rms = np.sqrt((x.numpy() ** 2).mean(1) + 0.1)
        np.testing.assert_allclose(normalise(x, "rmsnorm", 0.1), x / rms[:, None], rtol=1e-14)

    def test_activations(self):
        x = torch.linspace(-6, 6, 101)
        own = {
            "gelu_tanh": F.gelu(x, approximate="tanh"),
            "gelu_erf": F.gelu(x),
            "relu": F.relu(x),
            "silu": F.silu(x),
        }
        for name, function in ACTIVATIONS.items():
            torch.testing.assert_close(function(x), own[name])

    def test_step_is_the_stated_adamw(self):
        """p·(1 − lr·decay) − lr·g/(|g| + eps), as m̂ = g, v̂ = g²; g times min(1, clip/(‖g‖ + 1e-6))."""
        for clip, clipped in ((1.0, True), (1e3, False)):
            params = {"w": torch.randn(4, 3), "b": torch.randn(4), "s": torch.randn(())}
            grads = {name: 5 * torch.randn_like(p) for name, p in params.items()}
            norm = math.sqrt(sum((g**2).sum().item() for g in grads.values()))
            self.assertEqual(norm > clip, clipped)
            stepped = adamw_step(params, grads, {"lr": 0.01, "clip": clip, "weight_decay": 0.2, "eps": 0.5})
            for name, p in params.items():
                g = grads[name] * min(1, clip / (norm + 1e-6))
                decay = 0.2 if p.dim() >= 2 else 0.0
                torch.testing.assert_close(stepped[name], p * (1 - 0.01 * decay) - 0.01 * g / (g.abs() + 0.5))

    def test_theta_of_known_rows(self):
        known = {
            (0.25,) * 4: 1,
            (0.2,) * 5: 1 - 1 / 25,
            (1, 0, 0): 0,
            (0.35, 0.3, 0.2, 0.15): 1,
            (0.4, 0.1, 0.4, 0.1): 1,
            (0.7, 0.2, 0.1): 4 * 0.7 * 0.3,
        }
        for row, value in known.items():
            self.assertAlmostEqual(probes.theta_of_row(np.array(row)), value, 14)

    def test_theta_statistics(self):
        """Uniform causal rows of 1, 2, 3 entries: the first does not count, θ of the others is 1 and 8/9."""
        p = np.tril(np.ones((3, 3))) / [[1], [2], [3]]
        found = probes.theta(p[None, None, None], causal=True)
        for name, value in (("max", 1), ("mean", 17 / 18), ("below_099", 0.5)):
            self.assertAlmostEqual(found[name].item(), value, 14)

    def test_growth(self):
        stack = Stack.from_recipe({"stack": {"depth": 1}})
        x = np.random.default_rng(2).standard_normal((3, 2, 5, 7))
        params = {name: torch.ones(shape) for name, shape in stack.parameter_shapes().items()}
        found = probes.growth(Model(stack, params), x)
        for k in range(3):
            self.assertAlmostEqual(found["ma"][k], np.linalg.norm(x[k].ravel(), 1) / 70, 14)
            self.assertAlmostEqual(found["var"][k], np.var(x[k], ddof=1), 14)
            self.assertAlmostEqual(found["rms"][k], np.linalg.norm(x[k]) / np.sqrt(70), 14)
            longest = max(np.linalg.norm(token) for token in x[k].reshape(10, 7))
            self.assertAlmostEqual(found["block_rms"][k], longest / np.sqrt(7), 14)

    def test_norm_null_space(self):
        """LayerNorm: ker Jᵀ = diag(γ)⁻¹·span{1, x̂}; a γ of 0 replaces one direction, it adds none."""
        rng = np.random.default_rng(1)
        x, gamma, d = rng.standard_normal(7), 1 + 0.3 * rng.standard_normal(7), 7
        centred = x - x.mean()
        unit = centred / np.linalg.norm(centred)
        core = np.eye(d) - 1 / d - np.outer(unit, unit)
        found = probes.null_vectors((gamma[:, None] * core).T)
        basis, _ = np.linalg.qr(np.stack([1 / gamma, unit / gamma], 1))
        np.testing.assert_allclose(found.T @ found, basis @ basis.T, atol=1e-13)
        gamma[2] = 0
        found = probes.null_vectors((gamma[:, None] * core).T)
        self.assertEqual(len(found), 2)
        self.assertAlmostEqual(np.linalg.norm(found[:, 2]), 1, 13)

    def test_rho_ln(self):
        """d = 768, ε = 1e-5: variance 1 gives 37500 in FP16, 1e-4 gives 3.75, 4e-6 gives 0.15, and 1.2 in BF16."""
        signs = np.tile([1.0, -1.0], 384)
        for variance, fp16 in ((1, 37500), (1e-4, 3.75), (4e-6, 0.15)):
            tokens = variance**0.5 * np.outer([0.1, 1, 10], signs)  # the median of the variances, not their mean
            self.assertAlmostEqual(probes.rho_ln(tokens, 1e-5, 2**-11) / fp16, 1, 12)
            self.assertAlmostEqual(probes.rho_ln(tokens, 1e-5, 2**-8) / fp16, 8, 12)
        self.assertTrue(np.isnan(probes.rho_ln(tokens, 0.0, 2**-8)))

    def test_rejects_what_it_does_not_compute(self):
        beyond = {"block": "vit", "scheme": "hyper", "heads": 3, "kv_heads": 3, "gpas": {"gain": 1}, "x": 1}
        for key, value in beyond.items():
            with self.assertRaises(Unsupported):
                Stack.from_recipe({"stack": {key: value}})


class AgainstEncoderLayer(unittest.TestCase):
    def check(self, scheme):
        torch.manual_seed(3)
        d, heads, hidden, n = 9, 3, 20, 5
        stack = Stack.from_recipe({"stack": {
            "depth": 1, "d_model": d, "heads": heads, "d_ff": hidden, "context": n, "vocab": 2,
            "scheme": scheme, "activation": "gelu_erf", "final_norm": "off", "norm": {"eps": 0.01},
        }})  # fmt: skip
        params = {name: torch.randn(shape) for name, shape in stack.parameter_shapes().items()}
        peer = torch.nn.TransformerEncoderLayer(
            d, heads, hidden, 0.0, "gelu", 0.01, batch_first=True, norm_first=scheme == "pre"
        )
        norm = "norm_in" if scheme == "pre" else "norm_post"
        a, f = "blocks.0.attn.", "blocks.0.ffn."
        peer.load_state_dict({
            "self_attn.in_proj_weight": torch.cat([params[a + x] for x in ("wq", "wk", "wv")]),
            "self_attn.in_proj_bias": torch.cat([params[a + x] for x in ("bq", "bk", "bv")]),
            "self_attn.out_proj.weight": params[a + "wo"], "self_attn.out_proj.bias": params[a + "bo"],
            "linear1.weight": params[f + "w1"], "linear1.bias": params[f + "b1"],
            "linear2.weight": params[f + "w2"], "linear2.bias": params[f + "b2"],
            "norm1.weight": params[a + norm + ".weight"], "norm1.bias": params[a + norm + ".bias"],
            "norm2.weight": params[f + norm + ".weight"], "norm2.bias": params[f + norm + ".bias"],
        })  # fmt: skip
        x = torch.randn(2, n, d)
        mask = torch.ones(n, n, dtype=torch.bool).triu(1)
        own = Model(stack, params).blocks(x)
        torch.testing.assert_close(own, peer(x, src_mask=mask), rtol=1e-12, atol=1e-12)

    def test_pre(self):
        self.check("pre")

    def test_post(self):
        self.check("post")


class Cases(unittest.TestCase):
    def test_loss_is_cross_entropy(self):
        for name, recipe, params, tokens, targets in all_cases():
            out = evaluate(recipe, params, tokens, targets)
            logits = torch.tensor(out["logits"]).flatten(0, 1)
            loss = F.cross_entropy(logits, torch.tensor(targets.astype(np.int64)).flatten()).item()
            self.assertAlmostEqual(loss, float(out["loss"]), 12, name)

    def test_gradients_against_differences(self):
        """Central differences along a random direction of each tensor; their own error is near 1e-9."""
        rng = np.random.default_rng(5)
        for name, recipe, params, tokens, targets in all_cases():
            out = evaluate(recipe, params, tokens, targets)
            scale = float(out["probes/gradients/total"])
            for tensor, value in params.items():
                direction = rng.standard_normal(value.shape)
                direction /= np.linalg.norm(direction)
                h = 1e-5 * direction
                up, down = ({**params, tensor: x} for x in (value + h, value - h))
                slope = (loss_of(recipe, up, tokens, targets) - loss_of(recipe, down, tokens, targets)) / 2e-5
                exact = (out[f"grad/{tensor}"] * direction).sum()
                self.assertLess(abs(slope - exact), 1e-7 * scale, f"{name} {tensor}")

    def test_jacobians(self):
        """End to end is the product of the sub-layers, and each agrees with central differences."""
        rng = np.random.default_rng(6)
        for name, recipe, params, tokens, targets in all_cases():
            out = evaluate(recipe, params, tokens, targets)
            model, product = model_of(recipe, params), np.eye(out["jacobian/end_to_end"].shape[0])
            for i in range(2 * model.stack.depth):
                jacobian = out[f"jacobian/sublayer/{i}"]
                product = jacobian @ product
                x, h = out["hidden"][i, 0], 1e-5
                v = rng.standard_normal(x.shape)
                up, down = (model.sublayer(torch.tensor(x + s * h * v), i).numpy() for s in (1, -1))
                exact = jacobian @ v.ravel()
                worst = np.abs((up - down).ravel() / (2 * h) - exact).max()
                self.assertLess(worst, 1e-6 * np.abs(exact).max(), f"{name} {i}")
            np.testing.assert_allclose(
                product, out["jacobian/end_to_end"], rtol=0, atol=1e-12 * np.abs(product).max(), err_msg=name
            )

    def test_growth_bounds_hold(self):
        for scheme in ("peri", "pre"):
            for name, recipe, params, tokens, targets in cases(scheme):
                out = evaluate(recipe, params, tokens, targets)
                for value, kind in (("ma", "ma"), ("var", "var"), ("rms", "uniform_ma"), ("rms", "product_ma")):
                    bound = out[f"probes/growth/bound_{kind}"]
                    known = ~np.isnan(bound)
                    self.assertTrue(known.all() or kind in ("uniform_ma", "product_ma"), name)
                    self.assertTrue((out[f"probes/growth/{value}"] <= bound * (1 + 1e-12))[known].all(), name)

    def test_bounds_of_matrices(self):
        """Never below the spectral norm; above it by no more than pieces and the order 32 allow."""
        rng = np.random.default_rng(3)
        for rows, columns in ((5, 9), (64, 256), (130, 70), (200, 513)):
            matrix = rng.standard_normal((rows, columns))
            exact = np.linalg.norm(matrix, 2)
            pieces = -(-min(rows, columns) // 64)
            found = probes.spectral_bound(matrix)
            self.assertTrue(exact <= found <= exact * np.sqrt(pieces) * 64 ** (1 / 32))

    def test_cases_cover_both_sides_of_the_clip(self):
        norms = [float(evaluate(*case)["probes/gradients/total"]) for _, *case in all_cases()]
        self.assertGreaterEqual(sum(norm > 1.1 for norm in norms), 8)
        self.assertGreaterEqual(sum(norm < 0.9 for norm in norms), 6)

    def test_attention_is_neither_uniform_nor_one_hot(self):
        for name, recipe, params, tokens, targets in all_cases():
            last = evaluate(recipe, params, tokens, targets)["attention"][..., -1, :]
            if last.shape[-1] > 1:
                self.assertTrue(1.2 / last.shape[-1] < last.max(-1).mean() < 0.99, name)


class Compare(unittest.TestCase):
    def setUp(self):
        *_, self.want = one_case("peri", d_model=9, causal=True)

    def worst(self, **changed):
        changed = {path.replace("__", "/"): value for path, value in changed.items()}
        return compare.compare(self.want, {**self.want, **changed})

    def test_equal(self):
        self.assertTrue(all(error == 0 for error, _ in self.worst().values()))

    def test_differences_are_seen(self):
        self.assertAlmostEqual(self.worst(loss=self.want["loss"] * (1 + 1e-8))["loss"][0], 1e-8, 12)
        self.assertEqual(self.worst(final=self.want["final"][:-1])["final"][0], np.inf)
        self.assertEqual(self.worst(final=np.full_like(self.want["final"], np.nan))["final"][0], np.inf)
        grad = self.want["grad/pos_emb"] * (1 + 1e-7)
        error, path = self.worst(grad__pos_emb=grad)["grad"]
        self.assertAlmostEqual(error, 1e-7, 12)
        self.assertEqual(path, "grad/pos_emb")
        names = self.want["probes/null_space/sites"][::-1]
        self.assertEqual(self.worst(probes__null_space__sites=names)["probes/null_space/sites"][0], np.inf)

    def test_steps(self):
        """Of a gradient, 1e-6, and of round-off, the key bias: only the latter's step is measured as a gradient."""
        big, zero = "blocks.0.attn.bq", "blocks.0.attn.bk"
        self.assertLess(np.abs(self.want["grad/" + zero]).max(), 1e-16)
        self.assertGreater(np.abs(self.want["grad/" + big]).min(), 1e-7)
        scale = np.abs(self.want["step/" + big]).max()
        found = self.worst(**{"step/" + big: self.want["step/" + big] + 1e-9 * scale})
        self.assertAlmostEqual(found["step"][0], 1e-9, 14)
        self.assertEqual(found["step_near_eps"][0], 0)
        found = self.worst(**{"step/" + zero: self.want["step/" + zero] + 1e-9})
        largest = max(np.abs(g).max() for path, g in self.want.items() if path.startswith("grad/"))
        self.assertEqual(found["step"][0], 0)
        self.assertAlmostEqual(found["step_near_eps"][0] * 1e-3 * largest / (1e-9 * 1e-8 / 3e-3), 1, 5)

    def test_update(self):
        """It sees a wrong step, however small its gradient, and nothing where the step is of other gradients."""
        _, recipe, params, *_ = next(case for case in cases("peri") if case[1]["stack"]["d_model"] == 9)
        names = [path for path in self.want if path.startswith("step/")]

        def update(want, got):
            compare.add_update(recipe, params, want, got)
            return compare.compare(want, got)["update"]

        self.assertLess(update(dict(self.want), dict(self.want))[0], 1e-15)
        for path in names:
            off = self.want[path] + 1e-9 * np.abs(self.want[path]).max()
            error, where = update(dict(self.want), {**self.want, path: off})
            self.assertEqual(where, "update" + path.removeprefix("step"))
            self.assertAlmostEqual(error, 1e-9, 14)

    def test_missing(self):
        got = {path: value for path, value in self.want.items() if path != "hidden"}
        self.assertEqual(compare.compare(self.want, got)["hidden"][0], np.inf)

    def test_sample_axis(self):
        rms = self.want["probes/growth/rms"][None]
        self.assertEqual(self.worst(probes__growth__rms=rms)["probes/growth/rms"][0], 0)


if __name__ == "__main__":
    unittest.main()
