# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorder: it changes nothing, survives being killed, and says what it cannot do."""

import math
import os
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import torch
from models import Encoder, Model, batches, train

import normscope
from normscope import recorder as recorder_module

SCRIPT = """
import sys, torch, normscope
sys.path.insert(0, {tests!r})
from models import Model, train
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
recorder = normscope.record(model, {path!r}, optimizer=optimizer, every=2, steps=100000)
train(model, 100000, recorder, optimizer, sequences=2)
"""


@pytest.mark.parametrize("preset", ["off", "economy", "standard", "full"])
@pytest.mark.parametrize("make", [Model, lambda: Model(tied=True), Encoder])
def test_training_is_the_same_bit_for_bit(tmp_path, make, preset):
    plain, watched = make(), make()
    losses = train(plain, 12)
    optimizer = torch.optim.AdamW(watched.parameters(), lr=1e-2)
    with normscope.record(watched, tmp_path / "run.h5", optimizer=optimizer, probes=preset, every=3) as recorder:
        assert train(watched, 12, recorder, optimizer) == losses
    for (name, one), other in zip(plain.named_parameters(), watched.parameters()):
        assert torch.equal(one, other), name
    assert normscope.open(tmp_path / "run.h5")["runs"]["a"].steps["loss"].tolist() == losses
    assert not watched._forward_hooks and not watched._forward_pre_hooks


def test_sampled_steps_and_columns(tmp_path):
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="economy", steps=121) as recorder:
        for tokens, targets in batches(121, sequences=1):
            optimizer.zero_grad()
            _, loss = model(tokens, targets)
            loss.backward()
            optimizer.step()
            schedule.step()
            recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.probes.growth.rms.steps.tolist() == [0, 1, 2, 4, 8, 16, 32, 50, 100, 120]
    # The rate of the update that was made, not of the next one.
    np.testing.assert_allclose(run.steps["lr"][:4], [1e-2, 5e-3, 1e-2 / 3, 2.5e-3])
    assert run.steps["step"].tolist() == list(range(121))
    assert len(set(run.steps["batch_hash"])) == 121 and (run.steps["batch_hash"] < 2**53).all()
    assert set(recorder.costs()) == {"growth", "gradients", "updates", "steps"}
    ratio = np.asarray(run.probes.gradients.hidden)
    at = [0, 1, 2, 4, 8]
    np.testing.assert_allclose(run.steps["grad_ratio"][at], ratio[:5, 2] / ratio[:5, 6], rtol=1e-12)
    assert np.isnan(run.steps["grad_ratio"][3])


def test_accumulated_and_clipped_gradients(tmp_path):
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, every=1) as recorder:
        for _ in range(2):
            optimizer.zero_grad(set_to_none=False)
            for tokens, targets in batches(3):
                _, loss = model(tokens, targets)
                (loss / 3).backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
            optimizer.step()
            recorder.step(loss)
            found = recorder._verdict._losses
            assert len(found) > 0
            expected = float(norm)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.steps["grad_norm"][1] == pytest.approx(expected, rel=1e-5)
    assert run.steps["tokens_per_s"][0] > 0


class Scaler:
    """AMP's scaler as the recorder sees it."""

    scale_now = 1024.0

    def get_scale(self):
        return self.scale_now


def test_gradients_are_those_of_the_loss_without_the_scale(tmp_path):
    found = {}
    for scaler in (None, Scaler()):
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        path = tmp_path / f"{scaler is None}.h5"
        with normscope.record(model, path, optimizer=optimizer, scaler=scaler, probes="full") as recorder:
            (tokens, targets), = batches(1)
            _, loss = model(tokens, targets)
            (loss * (1 if scaler is None else scaler.scale_now)).backward()
            recorder.step(loss)
        found[scaler is None] = normscope.open(path)["runs"]["a"]
    plain, scaled = found[True], found[False]
    assert scaled.steps["loss_scale"].tolist() == [1024.0] and "loss_scale" not in plain.steps
    assert scaled.steps["grad_norm"][0] == pytest.approx(plain.steps["grad_norm"][0], rel=1e-6)
    for probe, name in (("gradients", "hidden"), ("gradients", "params"), ("ranges", "amax"), ("ranges", "under_fp16")):
        np.testing.assert_allclose(np.asarray(scaled.probes[probe][name]), np.asarray(plain.probes[probe][name]),
                                   rtol=1e-5, atol=1e-12)


def test_a_loss_that_is_not_finite_names_its_first_place(tmp_path):
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, probes="economy") as recorder:
        for step, (tokens, targets) in enumerate(batches(6)):
            if step == 4:
                with torch.no_grad():
                    model.transformer.h[1].mlp.c_proj.bias[3] = math.inf
            _, loss = model(tokens, targets)
            recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.state == "diverged"
    assert run.outcome == {"step": 4, "layer": 1, "text": "step 4 · L2 ffn · inf"}
    assert (4, "outcome", "step 4 · L2 ffn · inf") in run.events


def test_spikes_and_verdicts():
    from normscope._outcome import Spikes, Verdict

    spikes = Spikes()
    found = [spikes.add(2.0 + 0.01 * (i % 3), 1.0) for i in range(30)] + [spikes.add(2.0, 5.0), spikes.add(2.0, 6.0)]
    assert found[-2].startswith("gradient norm 5, 5 times the median 1 of the last 30 steps") and found[-1] is None
    assert not any(found[:-2])

    rising = Verdict(math.log(50), math.nan)
    decided = [rising.add(step, 3.0 if step < 100 else 9.0) for step in range(300)]
    first = next(step for step, text in enumerate(decided) if text)
    assert first == 158  # the upper median of 20 is above from step 109 on, for 50 steps
    assert Verdict(4.0, math.nan).add(0, math.nan) == "step 0 · loss · nan"
    for losses, state in (([3.9] * 40, "stalled"), ([3.9] * 20 + [2.0] * 40, "finished"),
                          ([3.9] * 20 + [2.0] * 40 + [3.8] * 40, "collapsed"), ([7.0] * 40, "diverged")):
        verdict = Verdict(4.0, 3.7)
        for step, loss in enumerate(losses):
            verdict.add(step, loss)
        assert verdict.at_end(len(losses) - 1)[0] == state, losses


def test_errors(tmp_path):
    model = Model()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not a Normscope file"):
        normscope.record(model, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(ValueError, match="'growht' unknown; allowed: growth, gradients"):
        normscope.record(model, tmp_path / "run.h5", probes=["growht"])
    with pytest.raises(ValueError, match="every: 0"):
        normscope.record(model, tmp_path / "run.h5", every=0)
    recorder = normscope.record(model, tmp_path / "run.h5")
    (tokens, targets), = batches(1)
    _, loss = model(tokens, targets)
    with pytest.raises(ValueError, match="lr: give optimizer="):
        recorder.step(loss)
    recorder.close()
    with pytest.raises(ValueError, match="closed"):
        recorder.step(loss)


def test_a_full_disk_ends_the_recording_and_not_the_training(tmp_path, monkeypatch):
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

    def fail(*arguments):
        raise OSError("No space left on device")

    recorder = normscope.record(model, tmp_path / "run.h5", optimizer=optimizer)
    train(model, 2, recorder, optimizer)
    monkeypatch.setattr(recorder._file, "append_row", fail)
    with pytest.warns(UserWarning, match="not recorded any more: No space left"):
        train(model, 1, recorder, optimizer)
    train(model, 2, recorder, optimizer)
    recorder.close()
    assert len(normscope.open(tmp_path / "run.h5")["runs"]["a"].steps["loss"]) == 2


def test_an_error_of_the_script_is_the_outcome(tmp_path):
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with pytest.raises(RuntimeError):
        with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer) as recorder:
            train(model, 2, recorder, optimizer)
            raise RuntimeError("the cluster is gone")
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.state == "failed" and run.outcome["text"] == "RuntimeError: the cluster is gone"


def test_a_model_of_no_known_form_is_recorded_without_its_stream(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with pytest.warns(UserWarning, match="give structure=normscope.Structure.of"):
        recorder = normscope.record(model, tmp_path / "run.h5", optimizer=optimizer)
    with recorder:
        loss = model(torch.ones(2, 4)).square().mean()
        loss.backward()
        optimizer.step()
        recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.steps["loss"].tolist() == [loss.item()] and len(run.probes) == 0
    assert run.steps["grad_norm"][0] > 0


def test_other_ranks_record_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    recorder = normscope.record(Model(), tmp_path / "run.h5")
    recorder.step(1.0)
    recorder.close()
    assert not (tmp_path / "run.h5").exists()
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 4)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer) as recorder:
        train(model, 1, recorder, optimizer)
    events = normscope.open(tmp_path / "run.h5")["runs"]["a"].events
    assert any("rank 0 of 4" in text for _, _, text in events)


def test_a_wrapped_model_is_found(tmp_path):
    class DistributedDataParallel(torch.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, *arguments):
            return self.module(*arguments)

    model = DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer) as recorder:
        train(model, 1, recorder, optimizer)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert run.name == "Model" and np.isfinite(np.asarray(run.probes.growth.rms)).all()


def test_shapes_that_change_are_said(tmp_path):
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.record(model, tmp_path / "run.h5", optimizer=optimizer, every=1) as recorder:
        for length in (16, 8):
            for tokens, targets in batches(1, length=length):
                _, loss = model(tokens, targets)
                loss.backward()
                optimizer.step()
                recorder.step(loss)
    run = normscope.open(tmp_path / "run.h5")["runs"]["a"]
    assert np.isfinite(np.asarray(run.probes.growth.rms)).all()  # no series of these depends on the length


def started(path):
    script = SCRIPT.format(tests=os.path.dirname(__file__), path=os.fspath(path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in range(600):
        if path.exists():
            return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no recording appeared: {process.communicate()[1].decode()}")


def test_live_and_killed(tmp_path):
    """Follows a recording that another process writes, and kills it at random moments."""
    random.seed(5)
    kills = int(os.environ.get("NORMSCOPE_KILLS", "3"))
    for kill in range(kills):
        path = tmp_path / f"run{kill}.h5"
        process = started(path)
        try:
            with normscope.open(path) as session:
                run = session["runs"]["a"]
                assert session.live and run.state == "running"
                rows = len(run.steps["loss"])
                for _ in range(100):
                    session.refresh()
                    if len(run.steps["loss"]) > rows + 3:
                        break
                    time.sleep(0.05)
                steps = run.steps
                assert len(steps["loss"]) > rows + 3 and (np.diff(steps["step"]) == 1).all()
                assert run.probes.growth.samples > 0
                seen = len(steps["loss"])
            with h5py.File(path, "r", libver="latest", swmr=True) as plain:
                assert len(plain["runs/a/steps/loss"]) >= seen
            time.sleep(random.random() * 0.5)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        with normscope.open(path) as session:
            run = session["runs"]["a"]
            assert run.state == "interrupted"
            steps = run.steps
            assert len(steps["loss"]) >= seen and np.isfinite(steps["loss"]).all()
            assert steps["step"].tolist() == list(range(len(steps["step"])))
            growth = run.probes.growth
            assert np.isfinite(growth.rms.values).all() and (growth.rms.steps % 2 == 0).all()
            kept = steps["loss"]
        cli = os.environ.get("NORMSCOPE_CLI")
        if cli:
            with pytest.raises(OSError):
                h5py.File(path, "r")
            subprocess.run([cli, "info", path], check=True, capture_output=True)
            with h5py.File(path, "r") as plain:
                assert plain["runs/a/steps/loss"][()].tolist() == kept.tolist()
                assert plain["runs/a/state"][0].rstrip(b"\0") == b"interrupted"
            subprocess.run([cli, "validate", path], check=True, capture_output=True)


def test_every_given_recorder_is_of_one_kind():
    silent = {name for name in dir(recorder_module.SilentRecorder) if not name.startswith("_")}
    full = {name for name in dir(recorder_module.Recorder) if not name.startswith("_")}
    assert silent == full - {"path"}
