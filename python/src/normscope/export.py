# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a run's series for other programs: CSV, NumPy's npz, TensorBoard."""

import csv
import os

import numpy as np


def to_csv(run, folder):
    """steps.csv, and PROBE.csv for every probe with one column a value (name[i,j]), into `folder`.

    Returns the paths. Numbers are written so that reading them gives the same float64.
    """
    os.makedirs(folder, exist_ok=True)
    paths = [_write(os.path.join(folder, "steps.csv"), *_table(run))]
    for probe in run.probes.values():
        header, columns = ["step"], [probe[probe.arrays[0]].steps]
        for name in probe.arrays:
            values = probe[name].values
            for index in np.ndindex(values.shape[1:]):
                header.append(name + (f"[{','.join(map(str, index))}]" if index else ""))
                columns.append(values[(slice(None), *index)])
        paths.append(_write(os.path.join(folder, f"{probe.id}.csv"), header, columns))
    return paths


def to_npz(run, path):
    """Every series as an array of one npz file, by its name: steps/loss, probes/growth/rms, probes/growth/step."""
    arrays = {f"steps/{name}": values for name, values in run.steps.items()}
    for probe in run.probes.values():
        arrays[f"probes/{probe.id}/step"] = probe[probe.arrays[0]].steps
        arrays.update({f"probes/{probe.id}/{name}": probe[name].values for name in probe.arrays})
    np.savez_compressed(path, **arrays)
    return path


def to_tensorboard(run, folder):
    """The step table, and every value of a probe's arrays of at most two axes, as scalars (needs TensorBoard)."""
    from torch.utils.tensorboard import SummaryWriter
    with SummaryWriter(folder) as writer:
        table = run.steps
        for name, values in table.items():
            if name != "step":
                for step, value in zip(table["step"], values):
                    if np.isfinite(value):
                        writer.add_scalar(name, value, int(step))
        for probe in run.probes.values():
            for name in probe.arrays:
                series = probe[name]
                values = series.values
                if values.ndim > 2:
                    continue
                for step, row in zip(series.steps, values):
                    for index in np.ndindex(row.shape):
                        if np.isfinite(row[index]):
                            tag = "/".join([probe.id, name, *(f"{i:03d}" for i in index)])
                            writer.add_scalar(tag, row[index], int(step))
    return folder


def _table(run):
    table = run.steps
    names = ["step", *(name for name in table if name != "step")]
    return names, [table[name] for name in names]


def _write(path, header, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in zip(*columns):
            writer.writerow([int(row[0]), *(repr(float(value)) for value in row[1:])])
    return path
