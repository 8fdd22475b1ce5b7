# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded values against their definitions, computed here from the tensors of a pass of its own."""

import math

import numpy as np
import pytest
import torch
from models import FORMS, Encoder, Model, RMSNorm, batches
from torch import nn

import normscope


def recorded(tmp_path, model, tokens, targets, **options):
    """The run of one training step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="full", **options) as recorder:
        _, loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        recorder.step(loss)
    return normscope.open(tmp_path / "run.h5")["runs"]["a"]


def own_pass(model, tokens, targets):
    """Hidden states [2D + 1], branches [2D], gradients of the states, and of the parameters."""
    states, branches = [], []
    x = model.transformer.wte(tokens) + model.transformer.wpe(torch.arange(tokens.shape[1]))
    for block in model.transformer.h:
        for place in ("attn", "ffn"):
            x.retain_grad()
            states.append(x)
            branch, after = block.sublayer(place, x)
            branches.append(branch)
            x = after(x + branch)
    x.retain_grad()
    states.append(x)
    logits = model.lm_head(model.transformer.ln_f(x))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    model.zero_grad()
    loss.backward()
    return states, branches, loss, logits


def close(series, expected, tolerance=1e-5):
    values = np.asarray(series)[0]
    np.testing.assert_allclose(values, np.asarray(expected, dtype=np.float64), rtol=tolerance, atol=1e-12)


SERIAL = ["gpt2", "llama", "output", "sandwich", "post"]


def structure_of(model, form):
    if form != "post":
        return None
    attention, ffn, norms = FORMS[form]
    return normscope.Structure.of(
        model.transformer.h, attention, ffn, norms, heads=4, d_model=24, final_norm=model.transformer.ln_f,
        head=model.lm_head, embeddings=[model.transformer.wte, model.transformer.wpe], vocab=50)


@pytest.mark.parametrize("form", SERIAL)
def test_stream_and_gradients(tmp_path, form):
    model = Model(form, norm=RMSNorm if form in ("llama", "output", "sandwich") else nn.LayerNorm)
    (tokens, targets), = batches(1)
    states, branches, loss, logits = own_pass(model, tokens, targets)
    gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    run = recorded(tmp_path, model, tokens, targets, structure=structure_of(model, form))

    h = [s.detach().double() for s in states]
    g = [s.grad.double() for s in states]
    probes = run.probes
    close(probes.growth.ma, [x.abs().mean() for x in h])
    close(probes.growth.rms, [x.square().mean().sqrt() for x in h])
    close(probes.growth.var, [x.var() for x in h])
    close(probes.growth.block_rms, [x.square().mean(-1).sqrt().max() for x in h])
    close(probes.gradients.hidden, [x.norm() for x in g])
    close(probes.gradients.scaled, [x.norm() * y.norm() for x, y in zip(g, h)])
    close(probes.gradients.total, math.sqrt(sum(float(x.double().square().sum()) for x in gradients.values())))
    assert run.steps["grad_norm"][0] == pytest.approx(float(np.asarray(probes.gradients.total)[0]), rel=1e-12)
    close(probes.gradients.loss, loss.item(), 1e-6)
    log_z = torch.logsumexp(logits.detach().double(), -1)
    close(probes.gradients.log_z, log_z.mean())
    close(probes.gradients.max_logit, logits.abs().max().item())
    of_attention = [x for name, x in gradients.items()
                    if name.startswith("transformer.h.1." + FORMS[form][0])
                    or any(name.startswith(f"transformer.h.1.{norm}") for place, norm in FORMS[form][2].items()
                           if place.startswith("attn"))]
    assert np.asarray(probes.gradients.params)[0, 1, 0] == pytest.approx(
        math.sqrt(sum(float(x.double().square().sum()) for x in of_attention)), rel=1e-5)

    b = [x.detach().double() for x in branches]
    close(probes.residual.branch_ratio, [(y.norm(dim=-1) / x.norm(dim=-1)).mean() for x, y in zip(h, b)])
    close(probes.residual.branch_cosine,
          [nn.functional.cosine_similarity(x, y, dim=-1).mean() for x, y in zip(h, b)], 1e-4)
    product = (np.asarray(probes.residual.grad_norm) * np.asarray(probes.residual.grad_shortcut)
               * np.asarray(probes.residual.grad_branch))[0]
    np.testing.assert_allclose(product, [float(x.norm() / y.norm()) for x, y in zip(g, g[1:])], rtol=1e-5)

    unit = [x / x.norm(dim=-1, keepdim=True) for x in h]
    n = tokens.shape[1]
    close(probes.tokens.similarity,
          [(((u @ u.transpose(1, 2)).sum((1, 2)) - n) / (n * (n - 1))).mean() for u in unit], 1e-4)
    ranks = []
    for x in h:
        share = torch.linalg.svdvals(x[:2])
        share = share / share.sum(-1, keepdim=True)
        ranks.append(torch.exp(-(share * share.log()).sum(-1)).mean())
    close(probes.tokens.effective_rank, ranks)
    places = probes.ranges.labels["places"]
    amax = dict(zip(places, np.asarray(probes.ranges.amax)[0]))
    assert amax["hidden.3"] == pytest.approx(float(h[3].abs().max()), rel=1e-6)
    assert amax["grad.hidden.2"] == pytest.approx(float(g[2].abs().max()), rel=1e-5)
    assert amax["blocks.1.ffn.branch"] == pytest.approx(float(b[3].abs().max()), rel=1e-6)


@pytest.mark.parametrize("fused", [False, True])
def test_attention(tmp_path, fused):
    if fused and not hasattr(nn.functional, "scaled_dot_product_attention"):
        pytest.skip("this PyTorch has no scaled_dot_product_attention")
    model = Model(fused=fused)
    (tokens, targets), = batches(1)
    run = recorded(tmp_path, model, tokens, targets)
    x = model.transformer.wte(tokens) + model.transformer.wpe(torch.arange(16))
    model2 = Model(fused=fused)  # the weights before the step
    x = (model2.transformer.wte(tokens) + model2.transformer.wpe(torch.arange(16))).detach()
    block = model2.transformer.h[0]
    q, k, _ = (t.view(8, 16, 4, 6).transpose(1, 2) for t in block.attn.c_attn(block.ln_1(x)).split(24, dim=2))
    scores = (q @ k.transpose(-1, -2) / math.sqrt(6)).detach().double()
    mask = torch.ones(16, 16, dtype=torch.bool).tril()
    p = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)
    rows = torch.arange(1, 17).double()
    entropy = (torch.special.entr(p).sum(-1)[..., 1:] / rows[1:].log()).mean((0, 2))
    assert np.asarray(run.probes.attention.entropy)[0, 0] == pytest.approx(entropy.numpy(), rel=1e-5)
    assert np.asarray(run.probes.attention.sink_mass)[0, 0] == pytest.approx(p[:, :, 1:, 0].mean((0, 2)).numpy(), rel=1e-5)
    largest = scores.abs().masked_fill(~mask, 0).amax((0, 2, 3))
    assert np.asarray(run.probes.attention.max_logit)[0, 0] == pytest.approx(largest.numpy(), rel=1e-5)
    assert not np.isnan(np.asarray(run.probes.attention.entropy)).any()


def test_theta_is_exact_for_short_rows_and_certified_for_long_ones():
    from normscope.probes import theta

    generator = np.random.default_rng(3)
    for length in (2, 3, 7, 12):
        p = generator.dirichlet(np.full(length, 0.4), size=20)
        value, above = theta.theta(p)
        for row, found in zip(p, value):
            sums = [sum(row[i] for i in range(length) if subset >> i & 1) for subset in range(1 << length)]
            assert found == pytest.approx(max(4 * s * (1 - s) for s in sums), abs=1e-12)
        assert (above == value).all()
    p = generator.dirichlet(np.full(64, 0.5), size=200)
    value, above = theta.theta(p)
    assert (value <= above + 1e-15).all() and (above <= 1).all() and np.median(above - value) < 1e-3
    peaked = np.array([[0.9] + [0.1 / 40] * 40])
    assert theta.theta(peaked)[0] == pytest.approx(4 * 0.9 * 0.1)


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm", "offset"])
def test_norm_sites(tmp_path, norm):
    kinds = {"layernorm": nn.LayerNorm, "rmsnorm": RMSNorm, "offset": lambda width: RMSNorm(width, offset=1.0)}
    model = Model("gpt2", norm=kinds[norm]).double()
    (tokens, targets), = batches(1)
    states, _, _, _ = own_pass(model, tokens, targets)
    run = recorded(tmp_path, model, tokens, targets)
    sites = run.probes.null_space.labels["sites"]
    assert sites[:2] == ["blocks.0.attn.norm_in", "blocks.0.ffn.norm_in"] and sites[-1] == "final_norm"
    model2 = Model("gpt2", norm=kinds[norm]).double()
    for index, (site, x) in enumerate(zip(sites, states[:-1])):
        block = model2.transformer.h[index // 2]
        module = block.ln_1 if index % 2 == 0 else block.ln_2
        x = x.detach()
        eps = getattr(module, "eps", None) or module.variance_epsilon
        variance = x.var(-1, unbiased=False) if norm == "layernorm" else x.square().mean(-1)
        gain = (variance + eps).rsqrt().mean()
        assert np.asarray(run.probes.null_space.gain)[0, index] == pytest.approx(float(gain), rel=1e-10)
        assert np.asarray(run.probes.null_space.epsilon_share)[0, index] == pytest.approx(
            float((eps / (variance + eps)).mean()), rel=1e-9)
    # Erased: the part of the gradient in the left null space of the exact norm (ε = 0), of a token by its Jacobian.
    site = next(s for s in normscope_structure(model2).sites() if s.name == "blocks.1.attn.norm_in")
    from normscope.probes.norm_sites import erased_backward

    x, g = states[2].detach()[:1, :1], torch.randn(1, 1, 24, dtype=torch.double)
    exact = normscope_structure(model2)
    module = site.module
    for name in ("eps", "variance_epsilon"):
        if hasattr(module, name):
            setattr(module, name, 0.0)
    jacobian = torch.autograd.functional.jacobian(lambda v: module(v[None, None])[0, 0], x[0, 0])
    u, s, _ = torch.linalg.svd(jacobian)
    null = u[:, s < 1e-10 * s[0]]
    assert null.shape[1] == (2 if norm == "layernorm" else 1)
    erased, total = erased_backward(site, site.gain(), x, g)
    assert float(erased) == pytest.approx(float((null.T @ g[0, 0]).square().sum()), rel=1e-8)
    assert float(total) == pytest.approx(float(g.square().sum()), rel=1e-12)
    assert exact.depth == 3


def normscope_structure(model):
    from normscope.families import find_structure

    return find_structure(model)


def test_updates(tmp_path):
    model = Model()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    (tokens, targets), = batches(1)
    run = recorded(tmp_path, model, tokens, targets)
    groups = run.probes.updates.labels["groups"]
    assert groups == ["embedding", *[f"blocks.{i}.{half}" for i in range(3) for half in ("attn", "ffn")], "norms", "head"]
    names = [name for name in before if name.startswith("transformer.h.2.mlp")]
    after = dict(model.named_parameters())
    change = math.sqrt(sum(float((after[n].detach().double() - before[n].double()).square().sum()) for n in names))
    length = math.sqrt(sum(float(before[n].double().square().sum()) for n in names))
    at = groups.index("blocks.2.ffn")
    assert np.asarray(run.probes.updates.update_ratio)[0, at] == pytest.approx(change / length, rel=1e-5)
    moved = still = 0
    for n in names:
        old = before[n].bfloat16()
        delta = after[n].detach() - before[n]
        moved += int((delta != 0).sum())
        still += int((((old.float() + delta).bfloat16() == old) & (delta != 0)).sum())
    assert np.asarray(run.probes.updates.bf16_unmoved)[0, at] == pytest.approx(still / moved, rel=1e-12)


@pytest.mark.parametrize("form", ["neox", "gptj"])
def test_parallel(tmp_path, form):
    model = Model(form)
    (tokens, targets), = batches(1)
    states = []
    model(tokens, targets, states)
    run = recorded(tmp_path, model, tokens, targets)
    assert run.recipe["stack"]["layout"] == "parallel"
    rms = np.asarray(run.probes.growth.rms)[0]
    np.testing.assert_allclose(rms[::2], [float(x.detach().double().square().mean().sqrt()) for x in states], rtol=1e-5)
    model2 = Model(form)
    first = states[0].detach()
    block = model2.transformer.h[0]
    attended = first + getattr(block, block.names[0])(getattr(block, block.norms["attn.norm_in"])(first))
    assert rms[1] == pytest.approx(float(attended.detach().double().square().mean().sqrt()), rel=1e-5)
    hidden = np.asarray(run.probes.gradients.hidden)[0]
    np.testing.assert_allclose(hidden[1::2], hidden[2::2], rtol=1e-12)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_torch_encoder(tmp_path, norm_first, batch_first):
    model = Encoder(norm_first, batch_first)
    (tokens, targets), = batches(1)
    x = model.embed(tokens)
    states = [x]
    for layer in model.encoder.layers:
        turned = x if batch_first else x.transpose(0, 1)
        if norm_first:
            y = layer.norm1(turned)
            turned = turned + layer.self_attn(y, y, y, need_weights=False)[0]
            states.append(turned if batch_first else turned.transpose(0, 1))
            turned = turned + layer.linear2(torch.relu(layer.linear1(layer.norm2(turned))))
        else:
            turned = layer.norm1(turned + layer.self_attn(turned, turned, turned, need_weights=False)[0])
            states.append(turned if batch_first else turned.transpose(0, 1))
            turned = layer.norm2(turned + layer.linear2(torch.relu(layer.linear1(turned))))
        x = turned if batch_first else turned.transpose(0, 1)
        states.append(x)
    run = recorded(tmp_path, model, tokens, targets)
    assert run.recipe["stack"]["scheme"] == ("pre" if norm_first else "post")
    close(run.probes.growth.rms, [s.detach().double().square().mean().sqrt() for s in states])
    entropy = np.asarray(run.probes.attention.entropy)
    assert entropy.shape == (1, 3, 4) and np.isfinite(entropy).all()
    assert np.isfinite(np.asarray(run.probes.null_space.erased_backward)[0, 1])
