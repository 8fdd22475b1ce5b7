# SPDX-License-Identifier: GPL-3.0-or-later
"""Structures of known forms, of others, and the recipes that describe them."""

import pytest
import torch
from models import FORMS, Encoder, Model, RMSNorm
from torch import nn

import normscope
from normscope._recipe import recipe_of
from normscope.families import find_structure

SCHEMES = {"gpt2": "pre", "llama": "pre", "output": "output", "sandwich": "peri", "neox": "pre", "gptj": "pre"}


@pytest.mark.parametrize("form", list(SCHEMES))
def test_known_forms(form):
    model = Model(form, norm=RMSNorm, tied=form == "gpt2")
    structure = find_structure(model)
    assert structure.depth == 3 and structure.heads == 4 and structure.d_model == 24
    assert structure.head is model.lm_head and structure.final_norm.module is model.transformer.ln_f
    expected = [f"blocks.{i}.{place}" for i in range(3) for place in FORMS[form][2]] + ["final_norm"]
    assert [site.name for site in structure.sites()] == expected
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.8, 0.95), eps=1e-9, weight_decay=0.2)
    recipe, unstated = recipe_of(model, structure, optimizer, steps=7, batch=8, context=16, seed=3, probes=[])
    stack = recipe["stack"]
    assert stack["scheme"] == SCHEMES[form] and stack["norm"] == {"kind": "rmsnorm", "eps": 1e-6}
    assert (stack["vocab"], stack["context"], stack["d_ff"], stack["tied_head"]) == (50, 16, 96, form == "gpt2")
    assert stack["activation"] == "gelu_erf" and stack["position"] == "learned" and stack["bias"]
    assert recipe["optimizer"] == {"kind": "adamw", "lr": 2e-3, "eps": 1e-9, "weight_decay": 0.2, "betas": [0.8, 0.95],
                                   "clip": 0.0}
    assert recipe["data"] == {"source": "external"} and recipe["steps"] == 7 and unstated == []


def test_norms_are_recognised_by_what_they_compute():
    for norm, kind, offset in ((nn.LayerNorm, "layernorm", False), (RMSNorm, "rmsnorm", False),
                               (lambda width: RMSNorm(width, offset=1.0), "rmsnorm", True)):
        site = find_structure(Model(norm=norm)).sites()[0]
        assert (site.kind, site.unit_offset) == (kind, offset)
    structure = find_structure(Model(norm=lambda width: RMSNorm(width, offset=1.0)))
    _, unstated = recipe_of(Model(), structure, None, steps=0, batch=1, context=4, seed=0, probes=[])
    assert "norms with the gain 1 + γ" in unstated and any("optimizer" in one for one in unstated)


def test_encoder():
    structure = find_structure(Encoder())
    assert structure.family == "torch_encoder" and structure.sizes["vocab"] == 50
    assert [site.name for site in structure.sites()][:2] == ["blocks.0.attn.norm_post", "blocks.0.ffn.norm_post"]


def test_given_structure():
    model = Model("post")
    attention, ffn, norms = FORMS["post"]
    structure = normscope.Structure.of(model.transformer.h, attention, ffn, norms, heads=4, d_model=24)
    assert structure.depth == 3 and structure.sublayers[0].result.side == "output"
    with pytest.raises(normscope.UnknownStructure, match="Block has no module attn"):
        normscope.Structure.of(model.transformer.h, "attn", ffn, norms, heads=4, d_model=24)
    with pytest.raises(normscope.UnknownStructure, match="place attn.norm is unknown"):
        normscope.Structure.of(model.transformer.h, attention, ffn, {"attn.norm": "n1"}, heads=4, d_model=24)
    with pytest.raises(normscope.UnknownStructure, match="mixer, map, n1, n2"):
        find_structure(model)
    with pytest.raises(normscope.UnknownStructure, match="no list of equal layers"):
        find_structure(nn.Linear(2, 2))


def test_parts_without_names_are_found_by_their_kind():
    inner = Model()
    model = nn.Sequential(nn.Embedding(50, 24), nn.Sequential(*inner.transformer.h), nn.LayerNorm(24), nn.Linear(24, 50))
    structure = find_structure(model)
    assert structure.final_norm.module is model[2] and structure.head is model[3]
    assert structure.embeddings == [model[0]] and structure.sizes["vocab"] == 50
