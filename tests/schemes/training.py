# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a recipe with normscope-cli and returns the series of the run; used by the experiments that make tables."""
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess

import h5py
import numpy

# One probe, once: the experiments ask how runs end, and probing would cost more than the training.
QUICK = ['probes=[{"id":"growth","every":100000}]', "validate.every=0", "checkpoint.every=100000"]
SERIES = ("loss", "grad_ratio")


def train(cli, preset, settings, folder):
    """The run as a dictionary: loss, grad_ratio (arrays, one entry a step), state, text, ln_vocab, unigram_entropy.

    A run that `folder` already holds is not trained again, so that an interrupted experiment continues.
    """
    name = hashlib.sha256(repr((preset, sorted(settings))).encode()).hexdigest()[:16]
    kept = pathlib.Path(folder, name + ".npz")
    if not kept.exists():
        recording = pathlib.Path(folder, name + ".h5")
        command = [cli, "train", preset, "--threads", "1", "--out", str(recording)]
        settings = [part for setting in [*QUICK, *settings] for part in ("--set", setting)]
        done = subprocess.run(command + settings, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: diverged, a result
            raise SystemExit(f"{' '.join(command + settings)}: exit code {done.returncode}: {done.stderr.strip()}")
        with h5py.File(recording) as file:
            (run,) = file["runs"].values()
            series = {key: run["steps"][key][:] for key in SERIES}
            words = {"state": run["state"][0].decode(), "text": run["outcome/text"][0].decode()}
            levels = {key: float(run.attrs[key]) for key in ("ln_vocab", "unigram_entropy")}
        temporary = kept.with_suffix(".tmp.npz")
        numpy.savez(temporary, **series, **words, **levels)
        os.replace(temporary, kept)
        for left in pathlib.Path(folder).glob(name + "*.h5"):
            left.unlink()
    with numpy.load(kept) as file:
        return {key: file[key] if key in SERIES else file[key].item() for key in file}


def train_all(cli, runs, folder, jobs):
    """The results of `runs`, a list of (preset, settings), in their order; `jobs` of them at a time."""
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(train, cli, *run, folder) for run in runs]
        for count, _ in enumerate(concurrent.futures.as_completed(tasks), 1):
            print(f"\r{count} of {len(tasks)} runs", end="", flush=True)
        print()
        return [task.result() for task in tasks]
