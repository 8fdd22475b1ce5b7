#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a session of many long runs from a small one, to measure how fast it opens:
large_session.py SMALL.h5 OUT.h5 [RUNS] [STEPS]. Every column of a step table becomes STEPS values long, and each
run of OUT is a copy of the first of SMALL; 100 runs of 10 columns and 100,000 steps are 1,000 series (800 MB)."""
import sys
import warnings

import h5py
import numpy as np

BLOCK = 64  # rows of a block, and blocks of one of the next level


def extremes(pairs):
    """Least and largest value of each block of rows [least, largest]; NaN where it has nothing else."""
    rows = -(-len(pairs) // BLOCK) * BLOCK
    padded = np.full((rows, 2), np.nan)
    padded[: len(pairs)] = pairs
    blocks = padded.reshape(-1, BLOCK, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of blocks without a number
        return np.stack([np.nanmin(blocks[:, :, 0], axis=1), np.nanmax(blocks[:, :, 1], axis=1)], axis=1)


def write_overview(run):
    """The pyramid that a saved session has: each level 64 times as coarse, while it has more than one block."""
    levels = run.create_group("steps_overview", track_order=True)
    step = run["steps"]["step"][:]
    columns = {name: np.stack([run["steps"][name][:]] * 2, axis=1) for name in run["steps"] if name != "step"}
    factor = 1
    while len(step) > BLOCK:
        factor *= BLOCK
        step = step[::BLOCK]
        columns = {name: extremes(pairs) for name, pairs in columns.items()}
        level = levels.create_group(str(factor), track_order=True)
        level["step"] = step
        for name, pairs in columns.items():
            level[name] = pairs


small, out = sys.argv[1:3]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 100_000
draw = np.random.default_rng(0)
with h5py.File(small) as source, h5py.File(out, "w") as target:
    for name, value in source.attrs.items():
        target.attrs[name] = value
    first = sorted(source["runs"])[0]
    for i in range(runs):
        name = "r%03d" % i
        old = source["runs"][first]
        run = target.require_group("runs").create_group(name, track_order=True)
        run.attrs.update(old.attrs)
        if "name" in run.attrs:
            run.attrs["name"] = np.bytes_("run %d" % i)
        for member in old:
            if member not in ("steps", "steps_overview", "checkpoints"):
                source.copy(old[member], run, member)
        table = run.create_group("steps", track_order=True)
        table.attrs.update(old["steps"].attrs)
        for column, short in old["steps"].items():
            values = np.arange(steps) if column == "step" else draw.normal(2, 0.1, steps)
            if column == "val_loss":
                values[np.arange(steps) % 500 != 0] = np.nan  # measured now and then, as in training
            new = table.create_dataset(column, data=values.astype(short.dtype))
            new.attrs.update(short.attrs)
        write_overview(run)
