#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the session that tests/session/session_test.cpp wrote, knowing only the documented layout."""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "r") as f:
    assert f.attrs["format"] == b"normscope-session" or f.attrs["format"] == "normscope-session", f.attrs["format"]
    assert f.attrs["version"] == 1
    assert list(f["runs"]) == ["a"]
    run = f["runs/a"]
    text = lambda value: value.decode() if isinstance(value, bytes) else value
    assert text(run.attrs["name"]) == "Post-LN, Δt = 0.2"
    assert "depth" in text(run.attrs["recipe"])
    assert run.attrs["seed"] == 2**64 - 1
    assert run["state"].dtype.itemsize == 16 and text(run["state"][0]) == "diverged"

    steps = np.arange(200)
    assert run["steps/step"].dtype == np.int64 and np.array_equal(run["steps/step"], steps)
    assert np.array_equal(run["steps/loss"], 3 + 1 / (steps + 1))
    assert np.array_equal(np.isnan(run["steps/val_loss"]), steps % 5 != 0)
    assert {"grad_norm", "lr", "temperature", "tokens_per_s"} < set(run["steps"])

    overview = run["steps_overview/64/loss"]
    assert overview.shape == (4, 2) and overview[1, 1] == 3 + 1 / 65 and overview[1, 0] == 3 + 1 / 128

    growth = run["probes/growth"]
    assert np.array_equal(growth["step"], np.arange(0, 200, 10)) and growth["rms"].shape == (20, 7)
    assert growth["rms"][3, 2] == 30.5
    assert [text(axis) for axis in growth["rms"].attrs["axes"]] == ["sample", "depth"]
    assert text(growth["rms"].attrs["unit"]) == "1"
    theta = run["probes/theta/max"]
    assert theta.shape == (20, 3, 300) and theta.chunks == (1, 3, 300) and theta.compression == "gzip" and theta.shuffle
    assert run["probes/theta/width"].shape == (20,)
    assert [text(site) for site in run["probes/null_space"].attrs["sites"]] == ["blocks.0.attn.norm_post", "final_norm"]

    events = run["events"]
    assert events.dtype["kind"].itemsize == 16 and events.dtype["text"].itemsize == 240
    assert np.array_equal(events["step"], np.arange(0, 200, 7)) and text(events["kind"][0]) == "knob"
    assert events["text"][1].decode().startswith("Δt 1 → 0.2, step 7")

    checkpoint = run["checkpoints/7"]
    assert checkpoint["params/tok_emb"].shape == (2, 2) and checkpoint["params/tok_emb"].dtype == np.float32
    assert text(f["view/json"][()]) == "{}"
