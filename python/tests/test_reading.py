# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading sessions, and writing their series for other programs."""

import csv

import h5py
import numpy as np
import pytest
import torch
from models import Model, train

import normscope
from normscope import export


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.h5"
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with normscope.record(model, path, optimizer=optimizer, every=2, name="näme") as recorder:
        recorder.event("the data changed")
        train(model, 5, recorder, optimizer)
    return path


def test_named_arrays(path):
    with normscope.open(path) as session:
        run = session["runs"]["a"]
        assert run.name == "näme" and run.backend == "pytorch" and run.recipe["stack"]["depth"] == 3
        rms = run.probes.growth.rms
        assert rms.axes == ("sample", "hidden_state") and rms.unit == "1" and rms.shape == (3, 7)
        assert rms.steps.tolist() == [0, 2, 4]
        np.testing.assert_array_equal(rms.sel(step=4), np.asarray(rms)[2])
        with pytest.raises(KeyError, match="step 3: no sample; the nearest is of step 2"):
            rms.sel(step=3)
        with pytest.raises(KeyError, match="not measured; this run has growth, gradients"):
            run.probes["jacobian"]
        with pytest.raises(AttributeError, match="the probe growth has ma"):
            run.probes.growth.rmss
        assert "probes/residual/branch_ratio" in run.series() and "steps/loss" in run.series()
        assert run.probes.gradients.hidden.unit == "nat"
        assert (0, "watch", "the data changed") in run.events


def test_what_is_no_session(tmp_path):
    with pytest.raises(FileNotFoundError):
        normscope.open(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(normscope.NotASession, match="cannot be opened"):
        normscope.open(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(normscope.NotASession, match="is not a Normscope session"):
        normscope.open(tmp_path / "other.h5")
    with h5py.File(tmp_path / "new.h5", "w") as file:
        file.attrs["format"], file.attrs["version"] = "normscope-session", 2
    with pytest.raises(normscope.NotASession, match="version 2"):
        normscope.open(tmp_path / "new.h5")


def test_exports(path, tmp_path):
    run = normscope.open(path)["runs"]["a"]
    paths = export.to_csv(run, tmp_path / "csv")
    assert sorted(p.rpartition("/")[2] for p in map(str, paths)) == sorted(
        ["steps.csv", *(f"{probe}.csv" for probe in run.probes)])
    with open(tmp_path / "csv" / "growth.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    column = rows[0].index("rms[6]")
    assert [float(row[column]) for row in rows[1:]] == np.asarray(run.probes.growth.rms)[:, 6].tolist()
    export.to_npz(run, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as arrays:
        np.testing.assert_array_equal(arrays["steps/loss"], run.steps["loss"])
        np.testing.assert_array_equal(arrays["probes/growth/rms"], run.probes.growth.rms)


def test_tables(path):
    pytest.importorskip("pandas")
    run = normscope.open(path)["runs"]["a"]
    assert run.to_frame().loc[3, "loss"] == run.steps["loss"][3]
    frame = run.probes.growth.rms.to_frame()
    assert frame[(frame.step == 2) & (frame.hidden_state == 1)].value.item() == run.probes.growth.rms.sel(step=2)[1]
