# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints of PyTorch become folders that Normscope imports; no code of a checkpoint is run."""

import os
import pickle
import subprocess
import sys

import h5py
import numpy as np
import pytest
import torch
from models import Model, batches

from normscope.convert import CannotConvert, convert

CLI = os.environ.get("NORMSCOPE_CLI")


def nanogpt_checkpoint(path, prefix="", tied=True):
    """As nanoGPT saves it: the model, its arguments, an optimizer."""
    model = Model(tied=tied)
    arguments = {"n_layer": 3, "n_head": 4, "n_embd": 24, "block_size": 16, "bias": True, "vocab_size": 50, "dropout": 0.0}
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    checkpoint = {"model": state, "model_args": arguments, "iter_num": 7, "config": {"device": "cpu"}}
    if torch.__version__.startswith("1."):  # its safe reader knows no fractions
        del arguments["dropout"]
    else:
        checkpoint["optimizer"] = torch.optim.AdamW(model.parameters()).state_dict()
    torch.save(checkpoint, path)
    return model


@pytest.mark.skipif(not CLI, reason="NORMSCOPE_CLI, the path of normscope-cli, is not set")
@pytest.mark.parametrize("prefix", ["", "_orig_mod."])
@pytest.mark.parametrize("tied", [True, False])
def test_nanogpt(tmp_path, prefix, tied):
    model = nanogpt_checkpoint(tmp_path / "ckpt.pt", prefix, tied)
    (tmp_path / "out").mkdir()
    done = subprocess.run([sys.executable, "-m", "normscope.convert", tmp_path / "ckpt.pt", tmp_path / "out"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    recipe, weights, text, out = (tmp_path / name for name in ("r.json", "w.h5", "t.h5", "o.h5"))
    done = subprocess.run([CLI, "import", tmp_path / "out", "--recipe", recipe, "--weights", weights],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (tokens, targets), = batches(1)
    with h5py.File(text, "w") as file:
        file["tokens"], file["targets"] = tokens.numpy(), targets.numpy()  # int64, PyTorch's default
    subprocess.run([CLI, "evaluate", recipe, "--weights", weights, "--tokens", text, "--out", out], check=True,
                   capture_output=True)
    with h5py.File(out) as file:
        np.testing.assert_allclose(file["logits"][()], model.double()(tokens).detach().numpy(), rtol=1e-9, atol=1e-9)


def test_a_bare_state_dict_takes_the_configuration_next_to_it(tmp_path):
    torch.save(Model().state_dict(), tmp_path / "model.pth")
    assert "no configuration was found" in convert(tmp_path / "model.pth", tmp_path / "a")[1]
    (tmp_path / "config.json").write_text('{"n_layer": 3}')
    convert(tmp_path / "model.pth", tmp_path / "b")
    assert (tmp_path / "b" / "config.json").read_text() == '{\n  "n_layer": 3\n}'


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.filterwarnings("default")
def test_no_code_of_a_file_is_run(tmp_path):
    mark = tmp_path / "ran"
    torch.save({"model": {"wte.weight": torch.ones(2, 2)}, "extra": Payload(str(mark))}, tmp_path / "evil.pt")
    with pytest.raises(CannotConvert, match="holds more than tensors"):
        convert(tmp_path / "evil.pt", tmp_path / "out")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Payload(str(mark))))
    with pytest.raises(CannotConvert):
        convert(tmp_path / "bare.pt", tmp_path / "out")
    assert not mark.exists() and not (tmp_path / "out").exists()


@pytest.mark.filterwarnings("default")
def test_other_files(tmp_path):
    (tmp_path / "text.pt").write_text("this is text")
    torch.save([1, 2, 3], tmp_path / "list.pt")
    for name, words in (("text.pt", "text.pt: "), ("list.pt", "holds no tensors by name")):
        with pytest.raises(CannotConvert, match=words) as raised:
            convert(tmp_path / name, tmp_path / "out")
        assert "\n" not in str(raised.value)
    with pytest.raises(OSError):
        convert(tmp_path / "nowhere.pt", tmp_path / "out")
