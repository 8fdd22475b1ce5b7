# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded values against those of Normscope's own engine, on the weights of a snapshot (needs NORMSCOPE_CLI)."""

import os
import subprocess

import h5py
import numpy as np
import pytest
import torch
from models import Model, batches

import normscope

CLI = os.environ.get("NORMSCOPE_CLI")
pytestmark = pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")

# Arrays that the recorder and the engine define alike.
COMPARED = {
    "growth": ["ma", "ma_error", "var", "var_error", "rms", "rms_error", "block_rms"],
    "gradients": ["hidden", "hidden_error", "scaled", "params", "total", "loss", "log_z", "log_z_error",
                  "log_z_spread", "max_logit"],
    "residual": ["branch_ratio", "branch_ratio_error", "branch_cosine", "grad_shortcut", "grad_branch", "grad_norm",
                 "shortcut_gain"],
    "null_space": ["gain", "gain_error", "erased_backward", "epsilon_share", "bf16_rho_ln", "fp16_rho_ln"],
    "tokens": ["similarity", "similarity_error", "effective_rank", "outlier", "heaviest_norm",
               "heaviest_place"],
    "attention": ["entropy", "entropy_error", "sink_mass", "max_logit"],
}


def run_cli(*arguments):
    done = subprocess.run([CLI, *map(os.fspath, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-9), ("float32", 1e-5)])
def test_the_engine_measures_the_same(tmp_path, dtype, tolerance):
    model = Model(context=12).to(getattr(torch, dtype))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    (tokens, targets), = batches(1, length=12)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="full") as recorder:
        folder = recorder.snapshot(tmp_path / "snapshot")
        _, loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        recorder.step(loss)
    recipe, weights, text, out = (tmp_path / name for name in ("r.json", "w.h5", "t.h5", "out.h5"))
    run_cli("import", os.path.join(folder, "model.safetensors"), "--recipe", recipe, "--weights", weights)
    with h5py.File(text, "w") as file:
        file["tokens"], file["targets"] = tokens.numpy().astype("i4"), targets.numpy().astype("i4")
    ids = ",".join([*COMPARED, "ranges"])
    run_cli("probe", recipe, "--weights", weights, "--tokens", text, "--dtype", dtype, "--probes", ids, "--out", out)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    with h5py.File(out) as file:
        for probe, names in COMPARED.items():
            for name in names:
                ours, theirs = file[f"probes/{probe}/{name}"][()], np.asarray(run.probes[probe][name])
                # A number that cancels is compared with the size of what it is made of.
                size = np.nanmax(np.abs(ours)) if np.isfinite(ours).any() else 1.0
                # The engine's logarithms of probabilities are good to 1e-8.
                near = max(tolerance, 2e-8) if name.startswith("entropy") else tolerance
                np.testing.assert_allclose(theirs, ours, rtol=near, atol=near * size,
                                           err_msg=f"{probe}/{name}")
        assert [s.decode() for s in file["probes/null_space"].attrs["sites"]] == run.probes.null_space.labels["sites"]
        places = [s.decode() for s in file["probes/ranges"].attrs["places"]]
        ours = dict(zip(places, file["probes/ranges/amax"][0]))
        theirs = dict(zip(run.probes.ranges.labels["places"], np.asarray(run.probes.ranges.amax)[0]))
        # The engine's scores have no 1/√d_h.
        compared = set(theirs) - {place for place in theirs if place.endswith("scores")}
        assert len(compared) > 20
        for place in compared:
            assert theirs[place] == pytest.approx(ours[place], rel=tolerance), place


@pytest.mark.parametrize("changed", [None, 2])
def test_diff_of_a_recording_and_a_run_of_the_engine(tmp_path, changed):
    """The same weights on the same sequence: equal but for rounding; with one layer's weights changed, from there on."""
    import json

    model = Model(context=16)
    ids = torch.randint(0, 23, (17,))
    # One sequence for training and the same one held out, so that both programs read the same batches.
    np.concatenate([ids.numpy()] * 2).astype("<u2").tofile(tmp_path / "tokens.bin")
    tokens, targets = ids[None, :-1].repeat(2, 1), ids[None, 1:].repeat(2, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
    with normscope.record(model, tmp_path / "theirs.h5", optimizer=optimizer, probes="full", every=1) as recorder:
        folder = recorder.snapshot(tmp_path / "snapshot")
        if changed:
            with torch.no_grad():
                next(p for n, p in model.named_parameters() if f"h.{changed - 1}.mlp.c_proj.weight" in n).mul_(1.01)
        for _ in range(20):
            _, loss = model(tokens, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.step(loss)
    recipe, weights = tmp_path / "r.json", tmp_path / "w.h5"
    run_cli("import", os.path.join(folder, "model.safetensors"), "--recipe", recipe, "--weights", weights)
    settings = {"data.source": "tokens", "data.path": tmp_path / "tokens.bin", "data.held_out": 0.5, "batch": 2, "steps": 20,
                "optimizer.lr": 1e-3, "optimizer.weight_decay": 0, "optimizer.clip": 0, "optimizer.betas": "[0.9,0.999]",
                "schedule.warmup": 0, "schedule.lr": "constant"}
    run_cli("train", recipe, "--weights", weights, "--out", tmp_path / "ours.h5",
            *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")))
    found = json.loads(run_cli("diff", tmp_path / "theirs.h5", tmp_path / "ours.h5", "--json"))
    assert found["steps_compared"] == 20
    assert any("training batches" in line for line in found["not_compared"]), found["not_compared"]
    if changed:
        assert (found["first"]["step"], found["first"]["place"]) == (0, f"layer {changed}, feed-forward map"), found["first"]
    else:
        # Rounding grows through training: 1e-6 at once, 1e-5 at the end.
        assert found["first"] is None or found["first"]["step"] > 0, found["first"]
        assert abs(found["growth"][0]["loss"]) < 1e-6 and abs(found["growth"][-1]["loss"]) < 1e-4, found["growth"]


def test_theta_is_that_of_the_engine(tmp_path):
    from normscope.probes import theta

    generator = np.random.default_rng(4)
    for length, count in ((2, 30), (5, 200), (12, 200), (64, 100)):
        p = generator.dirichlet(np.full(length, 0.3), size=count)
        with h5py.File(tmp_path / "p.h5", "w") as file:
            file["p"] = p
        run_cli("theta", tmp_path / "p.h5", "--out", tmp_path / "theta.h5")
        with h5py.File(tmp_path / "theta.h5") as file:
            exact, upper = file["theta"][()], file["upper"][()]
        value, above = theta.theta(p)
        if length <= theta.EXHAUSTIVE:
            np.testing.assert_allclose(value, exact, atol=1e-12)
        assert (value <= upper + 1e-12).all() and (exact <= above + 1e-12).all()
        assert (exact - value <= above - value + 1e-12).all()


def test_recordings_are_sound(tmp_path):
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="full", steps=3) as recorder:
        for tokens, targets in batches(3):
            _, loss = model(tokens, targets)
            loss.backward()
            optimizer.step()
            recorder.step(loss)
    assert "sound" in run_cli("validate", tmp_path / "run.h5")
    assert "pytorch on cpu" in run_cli("info", tmp_path / "run.h5")
    refused = subprocess.run([CLI, "probe", tmp_path / "run.h5@1", "--probes", "growth", "--out", tmp_path / "o.h5"],
                             capture_output=True, text=True)
    assert refused.returncode != 0 and "another program trained it (PyTorch" in refused.stderr
