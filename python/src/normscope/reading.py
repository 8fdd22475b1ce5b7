# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a session or a live recording: every series as an array with axes, units and steps."""

import builtins
import json
import os
from collections.abc import Mapping

import h5py
import numpy as np

from . import _process


class NotASession(ValueError):
    """The file is no session of Normscope, or of a newer version."""


def open(path):  # noqa: A001 (the package's own word: normscope.open)
    """The session or recording at `path`, read-only; also one that a live or killed process has not closed.

    A context manager. FileNotFoundError, NotASession. Of a live recording `refresh()` reads what was added.
    """
    return Session(path)


class Session(Mapping):
    """session["runs"]["a"] is a Run; session.runs is the same mapping."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"{self.path}: no such file")
        self.live = _marked(self.path)
        try:
            self._file = (h5py.File(self.path, "r", libver="latest", swmr=True) if self.live
                          else h5py.File(self.path, "r"))
        except OSError as error:
            raise NotASession(f"{self.path}: cannot be opened: {error}") from None
        if _text(self._file.attrs.get("format")) != "normscope-session":
            self._file.close()
            raise NotASession(f"{self.path}: is not a Normscope session")
        version = int(self._file.attrs.get("version", 0))
        if version != 1:
            self._file.close()
            raise NotASession(f"{self.path}: version {version} of the format; this package reads 1")
        self.runs = {name: Run(name, group) for name, group in self._file["runs"].items()}

    def __getitem__(self, name):
        if name != "runs":
            raise KeyError(f"{name}: a session has runs")
        return self.runs

    def __iter__(self):
        return iter(["runs"])

    def __len__(self):
        return 1

    @property
    def file(self):
        """The h5py file."""
        return self._file

    def refresh(self):
        """Reads what a writer has added since."""
        for run in self.runs.values():
            run.refresh()

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"<Session {self.path}: {', '.join(self.runs)}>"


class Run:
    """One run: its recipe (a dict), state, step table, probes and events."""

    def __init__(self, name, group):
        self.id, self._group = name, group
        attributes = group.attrs
        self.name, self.backend, self.device = (_text(attributes[key]) for key in ("name", "backend", "device"))
        self.recipe = json.loads(_text(attributes["recipe"]))
        self.seed = int(attributes["seed"])
        self.ln_vocab, self.unigram_entropy = (float(attributes[key]) for key in ("ln_vocab", "unigram_entropy"))
        self.probes = Probes(group["probes"])

    @property
    def state(self):
        """running, paused, finished, stalled, collapsed, diverged, failed, or interrupted (its writer is dead)."""
        word = _text(self._group["state"][0])
        if word not in ("running", "paused") or "writer" not in self._group:
            return word
        attributes = self._group["writer"].attrs
        writer = {key: _text(attributes[key]) for key in ("host", "boot_id")}
        writer.update({key: int(attributes[key]) for key in ("pid", "start")})
        return word if _process.is_alive(writer, int(self._group["heartbeat"][0])) else "interrupted"

    @property
    def outcome(self):
        """{"step": …, "layer": …, "text": …} of what decided the state; -1 where there is none."""
        group = self._group["outcome"]
        return {"step": int(group["step"][0]), "layer": int(group["layer"][0]), "text": _text(group["text"][0])}

    @property
    def steps(self):
        """The step table: {column: array [steps]}, "step" among them, all of one length."""
        group = self._group["steps"]
        columns = {name: data[()] for name, data in group.items()}
        rows = min(len(column) for column in columns.values())
        return {name: column[:rows] for name, column in columns.items()}

    @property
    def events(self):
        """[(step, kind, text), …]"""
        return [(int(step), _text(kind), _text(text)) for step, kind, text in self._group["events"][()]]

    def refresh(self):
        """Reads what a writer has added since."""
        self._group.visititems(lambda name, item: item.refresh() if isinstance(item, h5py.Dataset) else None)

    def series(self):
        """Every series: ["steps/loss", "probes/growth/rms", …]."""
        names = [f"steps/{name}" for name in self._group["steps"]]
        return names + [f"probes/{probe}/{array}" for probe in self.probes for array in self.probes[probe].arrays]

    def to_frame(self):
        """The step table as pandas.DataFrame, indexed by step."""
        import pandas
        table = self.steps
        return pandas.DataFrame(table).set_index("step")

    def __repr__(self):
        return f"<Run {self.id} {self.name!r}: {self.state}, probes {', '.join(self.probes)}>"


class _ByAttribute(Mapping):
    """entries.name is entries["name"]"""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as missing:
            raise AttributeError(missing.args[0]) from None


class Probes(_ByAttribute):
    """probes["growth"] or probes.growth"""

    def __init__(self, group):
        self._group = group

    def __getitem__(self, name):
        if name not in self._group:
            raise KeyError(f"{name}: not measured; this run has {', '.join(self._group) or 'none'}")
        return Probe(name, self._group[name])

    def __iter__(self):
        return iter(self._group)

    def __len__(self):
        return len(self._group)


class Probe(_ByAttribute):
    """probe["rms"] or probe.rms is a Series; probe.labels has the names of its sites, places, groups."""

    def __init__(self, name, group):
        self.id, self._group = name, group
        self.arrays = [key for key in group if key not in ("step", "cost_ms")]
        self.labels = {key: [_text(one) for one in np.atleast_1d(value)] for key, value in group.attrs.items()}

    @property
    def samples(self):
        """How many are complete: every array has them."""
        return min(len(data) for data in self._group.values())

    def __getitem__(self, name):
        if name not in self.arrays:
            raise KeyError(f"{name}: the probe {self.id} has {', '.join(self.arrays)}")
        return Series(self, name)

    def __iter__(self):
        return iter(self.arrays)

    def __len__(self):
        return len(self.arrays)


class Series:
    """An array of a probe: axes (the first is sample), unit, steps; numpy.asarray(series) reads it whole."""

    def __init__(self, probe, name):
        self._data, self._probe = probe._group[name], probe
        self.name = name
        self.axes = tuple(_text(axis) for axis in np.atleast_1d(self._data.attrs["axes"]))
        self.unit = _text(self._data.attrs["unit"])

    @property
    def shape(self):
        return (self._probe.samples, *self._data.shape[1:])

    @property
    def steps(self):
        """The steps of the samples [sample]."""
        return self._probe._group["step"][: self._probe.samples]

    @property
    def values(self):
        return self._data[: self._probe.samples]

    def __array__(self, dtype=None, copy=None):
        values = self.values
        return values if dtype is None else values.astype(dtype)

    def sel(self, step):
        """The sample at that step, an array without the first axis. KeyError where none was taken."""
        at = np.flatnonzero(self.steps == step)
        if not len(at):
            raise KeyError(f"step {step}: no sample; the nearest is of step {self.nearest(step)}")
        return self._data[int(at[0])]

    def nearest(self, step):
        """The step of the sample nearest to a step; None without samples."""
        steps = self.steps
        return int(steps[np.abs(steps - step).argmin()]) if len(steps) else None

    def to_frame(self):
        """pandas.DataFrame with a row a value: step, one column an axis, value."""
        import pandas
        values = self.values
        index = pandas.MultiIndex.from_product(
            [self.steps, *(range(extent) for extent in values.shape[1:])], names=["step", *self.axes[1:]])
        return pandas.DataFrame({"value": values.ravel()}, index=index).reset_index()

    def __repr__(self):
        return f"<Series {self._probe.id}.{self.name} {dict(zip(self.axes, self.shape))} {self.unit}>"


def _text(value):
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        value = value.item()
    if isinstance(value, bytes):
        return value.rstrip(b"\0").decode("utf-8")
    return str(value)


def _marked(path):
    """Whether a writer has not closed the file: the consistency flags of its superblock (version 3)."""
    with builtins.open(path, "rb") as file:
        head = file.read(12)
    return len(head) == 12 and head[8] == 3 and head[11] != 0
