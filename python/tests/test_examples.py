# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the documentation: at most 40 lines, and they run."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import normscope

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("name", ["nanogpt.py", "trainer.py"])
def test_examples(tmp_path, name):
    if name == "trainer.py":
        pytest.importorskip("transformers")
    assert len((EXAMPLES / name).read_text().splitlines()) <= 40
    subprocess.run([sys.executable, EXAMPLES / name, tmp_path / "run.h5", "4"], check=True, capture_output=True)
    with normscope.open(tmp_path / "run.h5") as session:
        run = session["runs"]["a"]
        assert run.state == "finished" and len(run.steps["loss"]) == 4 and run.recipe["steps"] == 4
        for probe, array in (("growth", "rms"), ("gradients", "hidden"), ("residual", "branch_ratio"),
                             ("tokens", "similarity"), ("attention", "entropy"), ("null_space", "gain")):
            assert np.isfinite(np.asarray(run.probes[probe][array])).all(), probe
