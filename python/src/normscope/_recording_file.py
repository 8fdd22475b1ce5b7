# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes one run live into an HDF5 file that others read while it grows (single writer, multiple readers).

The layout is that of Normscope's own recordings (docs/guide/sessions.md): everything is made before SWMR
starts, afterwards only data sets of a fixed type grow. Rows are kept in memory and written at most ten times a
second, `steps/step` last, so that every other column is at least as long for a concurrent reader.
"""

import json
import os
import tempfile
import threading
import time
from dataclasses import dataclass

import h5py
import numpy as np

from . import _process

STATE_BYTES, KIND_BYTES, TEXT_BYTES = 16, 16, 240
FLUSH_SECONDS = 0.1
HEARTBEAT_SECONDS = 1.0
CHUNK_BYTES = 4096
EVENT = np.dtype([("step", "<i8"), ("kind", f"S{KIND_BYTES}"), ("text", f"S{TEXT_BYTES}")])


@dataclass
class Array:
    """One array of a sample: values of shape [axes…], the names of the axes, the unit (1: dimensionless)."""

    values: np.ndarray
    axes: tuple = ()
    unit: str = "1"

    def __post_init__(self):
        self.values = np.asarray(self.values, dtype=np.float64)
        if self.values.ndim != len(self.axes):
            raise ValueError(f"{self.values.ndim} axes are named {self.axes}")


@dataclass
class Sample:
    """What a probe measured at one step: arrays by name, labels (lists of texts) by name, its cost."""

    probe: str
    step: int
    arrays: dict
    labels: dict
    cost_ms: float = 0.0


def cut_text(text, size):
    """UTF-8, cut to at most `size` bytes at the boundary of a character."""
    return text.encode("utf-8")[:size].decode("utf-8", errors="ignore").encode("utf-8")


def _text_type(size):
    return h5py.string_dtype("utf-8", max(size, 1))


def _put_text(place, name, text):
    data = text.encode("utf-8")
    place.attrs.create(name, np.array(data, dtype=f"S{max(len(data), 1)}"), dtype=_text_type(len(data)))


def _put_texts(place, name, texts):
    data = [text.encode("utf-8") for text in texts]
    size = max([len(one) for one in data] + [1])
    place.attrs.create(name, np.array(data, dtype=f"S{size}"), shape=(len(data),), dtype=_text_type(size))


def _text_cell(group, name, text, size):
    cell = group.create_dataset(name, shape=(1,), dtype=_text_type(size))
    cell[0] = text.encode("utf-8")
    return cell


class _Column:
    """A data set that grows along its first axis, with the rows that are not written yet."""

    def __init__(self, group, name, dtype, row_shape=()):
        dtype = np.dtype(dtype)
        row_bytes = max(1, int(np.prod(row_shape, dtype=np.int64))) * dtype.itemsize
        self.waiting = []
        self.data = group.create_dataset(
            name,
            shape=(0, *row_shape),
            maxshape=(None, *row_shape),
            chunks=(max(1, CHUNK_BYTES // row_bytes), *[max(1, extent) for extent in row_shape]),
            dtype=dtype,
        )

    def write(self):
        if not self.waiting:
            return
        rows = np.array(self.waiting, dtype=self.data.dtype).reshape((-1, *self.data.shape[1:]))
        at = self.data.shape[0]
        self.data.resize(at + len(rows), axis=0)
        self.data[at:] = rows
        self.data.flush()
        self.waiting.clear()


class RecordingFile:
    """One recording, open for writing. Its methods may be called by any thread, one at a time.

    header: name, recipe (a dict), backend, device, seed, ln_vocab, unigram_entropy.
    columns: of the step table, without "step". samples: one of each probe, for the arrays and their shapes.
    The file appears at `path` at once, complete, in place of an earlier Normscope file; anything else there is
    an error (FileExistsError). OSError where it cannot be written.
    """

    def __init__(self, path, header, columns, samples):
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        self._file = None
        reject_other_files(self.path)
        folder = os.path.dirname(os.path.abspath(self.path))
        handle, temporary = tempfile.mkstemp(prefix="." + os.path.basename(self.path), suffix=".tmp", dir=folder)
        os.close(handle)
        try:
            self._build(temporary, header, list(columns), samples)
            mode = 0o666 & ~_umask()
            os.chmod(temporary, mode)
            os.replace(temporary, self.path)
        except BaseException:
            if self._file is not None:
                self._file.close()
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
        self._stop = threading.Event()
        self._pulse = threading.Thread(target=self._beat, name="normscope-heartbeat", daemon=True)
        self._pulse.start()

    def _build(self, path, header, columns, samples):
        # v110: what HDF5 1.10, which Normscope is built with, can read. Pages: metadata never crosses a page
        # of the operating system, so that a killed process leaves it old or new, never torn.
        file = h5py.File(path, "w", libver=("v110", "v110"), fs_strategy="page", fs_page_size=4096, track_order=True)
        self._file = file
        _put_text(file, "format", "normscope-session")
        file.attrs["version"] = np.int64(1)
        _put_text(file, "app_version", header["app_version"])
        _put_text(file, "created", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        run = file.create_group("runs", track_order=True).create_group("a", track_order=True)
        for name in ("name", "backend", "device"):
            _put_text(run, name, header[name])
        _put_text(run, "recipe", json.dumps(header["recipe"], separators=(",", ":")))
        run.attrs["seed"] = np.uint64(header["seed"])
        for name in ("ln_vocab", "unigram_entropy"):
            run.attrs[name] = np.float64(header[name])
        for name in ("bigram_entropy", "trigram_entropy", "entropy_rate"):
            run.attrs[name] = np.float64("nan")
        writer = run.create_group("writer", track_order=True)
        for name, value in _process.this_process().items():
            if isinstance(value, str):
                _put_text(writer, name, value)
            else:
                writer.attrs[name] = np.int64(value)

        # With values from the start: a data set without any has no place in the file yet.
        self._state = _text_cell(run, "state", "running", STATE_BYTES)
        outcome = run.create_group("outcome", track_order=True)
        self._outcome_step = outcome.create_dataset("step", data=np.array([-1], dtype="<i8"))
        self._outcome_layer = outcome.create_dataset("layer", data=np.array([-1], dtype="<i4"))
        self._outcome_text = _text_cell(outcome, "text", "", TEXT_BYTES)
        self._heartbeat = run.create_dataset("heartbeat", data=np.array([_process.now_ms()], dtype="<i8"))
        steps = run.create_group("steps", track_order=True)
        self._step = _Column(steps, "step", "<i8")
        self._columns = {name: _Column(steps, name, "<f8") for name in columns}
        probes = run.create_group("probes", track_order=True)
        self._probes = {}
        for sample in samples:
            group = probes.create_group(sample.probe, track_order=True)
            for name, texts in sample.labels.items():
                _put_texts(group, name, texts)
            made = {"step": _Column(group, "step", "<i8"), "cost_ms": _Column(group, "cost_ms", "<f8")}
            for name, array in sample.arrays.items():
                made[name] = _Column(group, name, "<f8", array.values.shape)
                _put_texts(made[name].data, "axes", ["sample", *array.axes])
                _put_text(made[name].data, "unit", array.unit)
            self._probes[sample.probe] = made
        # Texts of a compound are fixed UTF-8, as those of the attributes.
        event = h5py.h5t.create(h5py.h5t.COMPOUND, EVENT.itemsize)
        for field, size in (("step", None), ("kind", KIND_BYTES), ("text", TEXT_BYTES)):
            member = h5py.h5t.NATIVE_INT64 if size is None else _utf8(size)
            event.insert(field.encode(), EVENT.fields[field][1], member)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((max(1, CHUNK_BYTES // EVENT.itemsize),))
        space = h5py.h5s.create_simple((0,), (h5py.h5s.UNLIMITED,))
        self._events_id = h5py.h5d.create(run.id, b"events", event, space, plist)
        self._events = []

        file.flush()
        file.swmr_mode = True

    @property
    def probes(self):
        """The ids of the probes that the file has."""
        return set(self._probes)

    def append_row(self, step, values):
        """One row of the step table; values by column, NaN where a column is missing."""
        with self._lock:
            for name, column in self._columns.items():
                column.waiting.append(values.get(name, float("nan")))
            self._step.waiting.append(step)

    def append_sample(self, sample):
        """A sample; an array of another shape, or that is missing, is NaN. Returns the names of those."""
        with self._lock:
            made = self._probes[sample.probe]
            unfit = []
            for name, column in made.items():
                if name in ("step", "cost_ms"):
                    continue
                array = sample.arrays.get(name)
                shape = column.data.shape[1:]
                if array is None or array.values.shape != shape:
                    unfit.append(name)
                    column.waiting.append(np.full(shape, np.nan))
                else:
                    column.waiting.append(array.values)
            made["cost_ms"].waiting.append(sample.cost_ms)
            made["step"].waiting.append(sample.step)
            return unfit

    def append_event(self, step, kind, text):
        with self._lock:
            self._events.append((step, cut_text(kind, KIND_BYTES), cut_text(text, TEXT_BYTES)))

    def flush(self):
        """Passes everything appended so far to the operating system."""
        with self._lock:
            self._flush()

    def _flush(self):
        if self._events:
            rows = np.array(self._events, dtype=EVENT)
            at = self._events_id.shape[0]
            self._events_id.set_extent((at + len(rows),))
            space = self._events_id.get_space()
            space.select_hyperslab((at,), (len(rows),))
            self._events_id.write(h5py.h5s.create_simple((len(rows),)), space, rows, self._events_id.get_type())
            self._events_id.flush()
            self._events.clear()
        for columns in self._probes.values():
            for name, column in columns.items():
                if name != "step":
                    column.write()
            columns["step"].write()
        for column in self._columns.values():
            column.write()
        self._step.write()
        self._last_flush = time.monotonic()

    def set_state(self, state, step=-1, text="", layer=-1):
        """Writes the outcome after everything appended before."""
        with self._lock:
            self._flush()
            self._outcome_step[0] = step
            self._outcome_layer[0] = layer
            self._outcome_text[0] = cut_text(text, TEXT_BYTES)
            self._state[0] = cut_text(state, STATE_BYTES)
            for data in (self._outcome_step, self._outcome_layer, self._outcome_text, self._state):
                data.flush()

    def close(self):
        """Flushes and ends the recording; a second call does nothing."""
        self._stop.set()
        if self._pulse is not threading.current_thread():
            self._pulse.join()
        with self._lock:
            if self._file is None:
                return
            self._flush()
            self._file.close()
            self._file = None

    def _beat(self):
        """Writes what waits ten times a second, and the heartbeat every second."""
        beats = 0.0
        while not self._stop.wait(FLUSH_SECONDS):
            beats += FLUSH_SECONDS
            with self._lock:
                if self._file is None:
                    return
                try:
                    self._flush()
                    if beats >= HEARTBEAT_SECONDS:
                        beats = 0.0
                        self._heartbeat[0] = _process.now_ms()
                        self._heartbeat.flush()
                except (OSError, RuntimeError) as error:
                    self.problem = f"{self.path}: {error}"
                    return

    problem = ""
    """Why nothing more is recorded, one line; empty while all is well."""


def _utf8(size):
    text = h5py.h5t.C_S1.copy()
    text.set_size(size)
    text.set_strpad(h5py.h5t.STR_NULLPAD)
    text.set_cset(h5py.h5t.CSET_UTF8)
    return text


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def reject_other_files(path):
    """Only a Normscope file may be replaced."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    try:
        with h5py.File(path, "r", libver="latest", swmr=True) as file:
            found = file.attrs.get("format")
    except OSError:
        found = None
    if found not in ("normscope-session", b"normscope-session"):
        raise FileExistsError(f"{path}: exists and is not a Normscope file; choose another name")
