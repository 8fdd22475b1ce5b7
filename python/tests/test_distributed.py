# SPDX-License-Identifier: GPL-3.0-or-later
"""Two processes, and compiled models: the losses are those without a recorder, and rank 0 records its part."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from models import Model, batches

import normscope

PROGRAM = """
import json, os, sys
import torch, torch.distributed as dist, torch.distributed.fsdp
import normscope
from models import Model, batches

dist.init_process_group("gloo")
torch.manual_seed(0)
model = Model()
if sys.argv[1] == "ddp":
    model = torch.nn.parallel.DistributedDataParallel(model)
elif sys.argv[1] == "fully_shard":
    from torch.distributed.fsdp import fully_shard
    for block in model.transformer.h:
        fully_shard(block)
    fully_shard(model)
else:
    model = torch.distributed.fsdp.FullyShardedDataParallel(model, device_id=torch.device("cpu"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
recorder = normscope.record(model, sys.argv[2], optimizer=optimizer, probes="full", every=1) if sys.argv[2:] else None
losses = []
for tokens, targets in batches(3):
    loss = model(tokens, targets)[1]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if recorder:
        recorder.step(loss)
if recorder:
    recorder.close()
if dist.get_rank() == 0:
    print("losses", json.dumps(losses))
dist.destroy_process_group()
"""


def losses_of(tmp_path, *arguments):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.path.dirname(os.path.dirname(normscope.__file__))]),
                   "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone",
                           program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("losses")).split(" ", 1)[1])


@pytest.mark.skipif(torch.__version__.startswith("1."), reason="needs PyTorch 2.0 or later")
@pytest.mark.parametrize("kind", ["ddp", "fully_shard", "FullyShardedDataParallel"])
def test_two_processes(tmp_path, kind):
    if kind == "fully_shard":
        pytest.importorskip("torch.distributed.fsdp").fully_shard  # of 2.6 and later
    path = tmp_path / "run.h5"
    assert losses_of(tmp_path, kind, path) == losses_of(tmp_path, kind)
    run = normscope.open(path)["runs"]["a"]
    assert len(run.steps["loss"]) == 3 and any("rank 0 of 2" in text for _, _, text in run.events)
    assert not any("not measured" in text for _, _, text in run.events), run.events
    assert np.isfinite(np.asarray(run.probes.growth.rms)).all() and np.isfinite(np.asarray(run.probes.gradients.hidden)).all()
    if kind != "FullyShardedDataParallel":  # one flat parameter, which is gathered when the step begins
        assert np.isfinite(np.asarray(run.probes.updates.update_ratio)).all()


@pytest.mark.skipif(torch.__version__.startswith("1."), reason="needs PyTorch 2.0 or later")
@pytest.mark.filterwarnings("default")  # PyTorch's own, while it traces
def test_a_compiled_model(tmp_path):
    def losses(path=None):
        torch.manual_seed(0)
        model = Model()
        compiled = torch.compile(model, backend="eager")  # its graphs, without a compiler
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        recorder = normscope.record(compiled, path, optimizer=optimizer, every=1) if path else None
        found = []
        for tokens, targets in batches(3):
            loss = compiled(tokens, targets)[1]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
            if recorder:
                recorder.step(loss)
        if recorder:
            recorder.close()
        return found

    assert losses(tmp_path / "run.h5") == losses()
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert np.isfinite(np.asarray(run.probes.growth.rms)).all() and run.probes.growth.samples == 3
    assert any("splits its graphs" in text for _, _, text in run.events)


def test_a_probe_that_fails_ends_alone(tmp_path, monkeypatch):
    from normscope.probes import tokens as probe

    def fail(*_):
        raise ValueError("no such tokens\nat all")

    monkeypatch.setattr(probe, "measure", fail)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with pytest.warns(UserWarning, match="tokens: not measured any more: ValueError: no such tokens"):
        with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="full", every=1) as recorder:
            for tokens, targets in batches(2):
                loss = model(tokens, targets)[1]
                loss.backward()
                optimizer.step()
                recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert len(run.steps["loss"]) == 2 and run.probes.growth.samples == 2 and "tokens" not in run.probes
    assert [text for _, _, text in run.events if "tokens" in text] == ["tokens: not measured any more: ValueError: no such tokens"]
