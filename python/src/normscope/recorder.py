# SPDX-License-Identifier: GPL-3.0-or-later
"""Records a training run of PyTorch live into a file that Normscope opens and follows."""

import hashlib
import math
import os
import time
import warnings

import torch

from . import _version, probes as _probes
from ._capture import Capture
from ._outcome import Spikes, Verdict
from ._recipe import recipe_of
from ._recording_file import RecordingFile, Sample, reject_other_files
from .families import find_structure, unwrapped
from .probes._seen import Seen
from .probes.updates import Update, groups_of
from .snapshot import write_snapshot
from .structure import local

COLUMNS = ("loss", "val_loss", "grad_norm", "grad_ratio", "lr", "temperature", "tokens_per_s", "step_ms", "probe_ms",
           "batch_hash")
EVERY = {"economy": 50, "standard": 25, "full": 100}
"""With every="auto": a sample at steps 0, 1, 2, 4, 8, … and at every so many steps."""


def record(model, path, *, optimizer=None, scaler=None, probes="standard", every="auto", steps=0, name=None,
           structure=None, seed=0, unigram_entropy=math.nan, sequences=8):
    """Begins to record the training of `model` into `path`; use it as a context manager.

        with normscope.record(model, "run.h5", optimizer=optimizer) as rec:
            for batch in batches:
                …forward, backward, optimizer.step()…
                rec.step(loss)

    model: any nn.Module in training mode, before torch.compile (compiled graphs skip hooks; then only losses,
    rates, gradients of parameters and updates are recorded). optimizer: for the learning rate and the updates.
    scaler: AMP's GradScaler. probes: "off", "economy", "standard", "full", or a list of ids. every: "auto", or
    a number of steps between two samples. steps: how many are planned, 0 if unknown. structure: a Structure, for
    models of no known form (without one such a model is recorded without the stream). seed: is only noted.
    unigram_entropy: loss of the token frequencies alone in nat, for the verdicts stalled and collapsed.
    sequences: how many of a batch the expensive probes look at.

    Under torch.distributed rank 0 records what it has, its own part of the batch, and says so; other ranks
    record nothing. Raises ValueError for unknown probes, FileExistsError where `path` is another program's file.
    What fails later (a full disk) ends the recording with a warning, never the training.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_rank() != 0:
        return SilentRecorder()
    return Recorder(model, path, optimizer, scaler, probes, every, steps, name, structure, seed, unigram_entropy,
                    sequences)


class SilentRecorder:
    """What `record` returns on the other ranks: accepts every call and does nothing."""

    def step(self, *arguments, **named):
        pass

    def event(self, *arguments, **named):
        pass

    def snapshot(self, *arguments, **named):
        return None

    def costs(self):
        return {}

    def close(self, *arguments, **named):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Recorder:
    """See record(). The members below may be called from the training loop alone, by one thread."""

    def __init__(self, model, path, optimizer, scaler, probes, every, steps, name, structure, seed, unigram_entropy,
                 sequences):
        self.path = os.fspath(path)
        self._probes = _probes.chosen(probes)
        if every == "auto":
            every = EVERY.get(probes if isinstance(probes, str) else "standard", 25)
            self._early = True
        elif isinstance(every, int) and every > 0:
            self._early = False
        else:
            raise ValueError(f'every: {every!r}; allowed: "auto", or a number of steps')
        reject_other_files(self.path)
        self._every = every
        self._given = model
        self._model, removed = unwrapped(model)
        self._optimizer, self._scaler = optimizer, scaler
        self._planned, self._seed = int(steps), int(seed)
        self._name = name or type(self._model).__name__
        self._sequences = sequences
        self._notes = []
        if removed:
            self._notes.append("the model is inside " + ", ".join(removed))
        if "_orig_mod" in removed:
            self._notes.append("the model is compiled: recording splits its graphs, whose last bits may be others than in one piece")
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            count = torch.distributed.get_world_size()
            self._notes.append(f"rank 0 of {count}: its own part of the batch, its own shards of the parameters")
        self._structure = structure
        if structure is None:
            try:
                self._structure = find_structure(self._model)
            except ValueError as problem:
                warnings.warn(f"normscope: recorded without the stream: {problem}", stacklevel=3)
                self._notes.append(f"without the stream: {problem}")
                self._probes = []
        if "_orig_mod" in removed and self._probes:
            self._notes.append("torch.compile skips hooks: of the model itself updates and parameter gradients alone")
        self._ids = {probe.ID for probe in self._probes}
        vocab = self._structure.sizes.get("vocab") if self._structure else None
        self._ln_vocab = math.log(vocab) if vocab else math.nan
        self._unigram = float(unigram_entropy)
        self._verdict = Verdict(self._ln_vocab, self._unigram)
        self._spikes = Spikes()
        self._groups = groups_of(self._model, self._structure) if self._structure else {}
        self._step = 0
        self._file = None
        self._closed = self._dead = False
        self._outcome = None
        self._waiting_events = [(0, "external", f"PyTorch {torch.__version__}, recorded by the package normscope")]
        self._costs = {}
        self._unfit = set()  # probes whose arrays have changed their shapes
        self._tokens = 0
        self._rate = math.nan
        self._squares, self._watch_gradients, self._norm_is_given = {}, False, False
        self._update, self._scale, self._probe_seconds = None, 1.0, 0.0
        self._last = time.perf_counter()
        self._batch = self._length = 0
        self._hash = math.nan
        self._capture = None
        self._problem_noted = False
        self._unmeasured = set()  # probes that failed once
        self._handles = []
        if self._structure is not None:
            self._capture = Capture(self._model, self._structure, sequences)
            self._capture.wants_norms = bool(self._ids & {"null_space", "residual"})
            self._capture.wants_attention = bool(self._ids & {"attention", "theta", "ranges"})
            self._capture.wants_ranges = "ranges" in self._ids
            self._capture.on_begin = self._begin
            self._capture.sampling = self._is_sampled(0)
        for parameter in self._model.parameters():
            if parameter.requires_grad:
                self._handles.append(parameter.register_hook(lambda g, p=parameter: self._gradient(p, g)))
        self._watch_gradients = True

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.close()
        elif issubclass(kind, KeyboardInterrupt):
            self.close("interrupted", "stopped by the user")
        else:
            self.close("failed", f"{kind.__name__}: {error}")

    # While a step runs.

    def _is_sampled(self, step):
        if not self._probes:
            return False
        early = self._early and step < self._every and (step & (step - 1)) == 0
        return early or step % self._every == 0 or step == self._planned - 1

    def _begin(self):
        """The first forward pass of a step begins: its weights are those before the update."""
        if self._optimizer is not None:
            self._rate = float(self._optimizer.param_groups[0]["lr"])
        self._scale = float(self._scaler.get_scale()) if self._scaler is not None else 1.0
        self._capture.gradient_scale = self._scale
        if self._capture.sampling and "updates" in self._ids:
            start = time.perf_counter()
            self._update = Update(self._groups, self._optimizer)
            self._spend("updates", start)

    def _gradient(self, parameter, gradient):
        """The sum over a step's backward passes so far, before clipping."""
        if not self._watch_gradients or gradient is None or gradient.is_sparse:
            return
        whole = local(gradient.detach())
        if parameter.grad is not None:
            whole = local(parameter.grad.detach()) + whole
        if whole.dtype in (torch.float16, torch.bfloat16):
            whole = whole.float()
        self._squares[id(parameter)] = torch.linalg.vector_norm(whole)

    def _spend(self, probe, start):
        seconds = time.perf_counter() - start
        self._probe_seconds += seconds
        self._costs[probe] = self._costs.get(probe, 0.0) + seconds
        return seconds

    # The end of a step.

    def step(self, loss=None, *, grad_norm=None, lr=None, val_loss=None):
        """A training step is complete: call it after optimizer.step().

        loss: of the step, a number or a tensor (without it that of the model's output, where it has one).
        grad_norm: before clipping, where clip_grad_norm_ returned it already. lr: where no optimizer was given.
        val_loss: where one was taken at these weights. Raises ValueError where neither loss nor lr is known.
        """
        if self._closed:
            raise ValueError("this recording is closed")
        if self._dead:
            return
        now = time.perf_counter()
        seen = self._capture.take() if self._capture else None
        loss = seen.loss if loss is None and seen is not None else loss
        if loss is None:
            raise ValueError("loss: is not given, and the model's output has none")
        rate = self._rate if lr is None else float(lr)
        if math.isnan(rate):
            if self._optimizer is None:
                raise ValueError("lr: give optimizer=… to record(), or lr=… to step()")
            rate = float(self._optimizer.param_groups[0]["lr"])
        loss = float(loss.detach() if torch.is_tensor(loss) else loss)
        norms = self._host_norms()
        if grad_norm is None:
            total = math.sqrt(sum(value**2 for value in norms.values())) if norms else math.nan
        else:
            total, self._norm_is_given = float(grad_norm), True
        inside = self._probe_seconds  # spent by the probes before step() was called
        begun = now - self._last - inside
        sampled = seen is not None and seen.sampled
        ratio = math.nan
        results = []
        if seen is not None:
            self._look_at(seen)
        if sampled:
            results, ratio = self._measure(seen, loss, norms)
        self._judge(loss, total, seen, norms)
        row = {"loss": loss, "val_loss": math.nan if val_loss is None else float(val_loss), "grad_norm": total,
               "grad_ratio": ratio, "lr": rate, "temperature": 1.0, "step_ms": 1e3 * begun,
               "probe_ms": 1e3 * self._probe_seconds, "batch_hash": self._hash, "loss_scale": self._scale}
        row["tokens_per_s"] = self._tokens / begun if begun > 0 and self._tokens else math.nan
        self._write(row, results)
        self._costs["steps"] = self._costs.get("steps", 0.0) + begun
        self._next()

    def _next(self):
        self._step += 1
        self._squares = {}
        self._update = None
        self._probe_seconds = 0.0
        self._tokens, self._hash, self._rate = 0, math.nan, math.nan
        sampling = self._is_sampled(self._step)
        if self._capture:
            self._capture.sampling = sampling
        self._watch_gradients = sampling or not self._norm_is_given
        self._last = time.perf_counter()

    def _host_norms(self):
        """{id of a parameter: norm of its gradient}, in one transfer a device, unscaled."""
        if not self._squares:
            return {}
        keys, values = list(self._squares), list(self._squares.values())
        host = torch.stack([value.to(values[0].device).double() for value in values]).cpu().tolist()
        return {key: value / self._scale for key, value in zip(keys, host)}

    def _look_at(self, seen):
        tokens = seen.tokens
        if tokens is not None:
            self._tokens = tokens.numel() * seen.passes
            digest = hashlib.blake2b(tokens.detach().cpu().numpy().tobytes(), digest_size=6).digest()
            self._hash = float(int.from_bytes(digest, "little"))
            if tokens.dim() == 2:
                order = 0 if self._structure.batch_first else 1
                self._batch, self._length = tokens.shape[order], tokens.shape[1 - order]
        elif 0 in seen.states and not self._batch:
            state = seen.states[0]
            order = 0 if self._structure.batch_first else 1
            self._batch, self._length = state.shape[order], state.shape[1 - order]

    @torch.no_grad()
    def _measure(self, seen, loss, norms):
        view = Seen(self._structure, seen, self._scale)
        view.loss = loss
        view.parameter_squares = {key: value**2 for key, value in norms.items()}
        view.wants_logits = "tokens" in self._ids
        if self._update is not None:
            start = time.perf_counter()
            try:
                view.updates = self._update.finish()
            except Exception as error:
                self._drop("updates", error)
            self._spend("updates", start)
        results = []
        for probe in self._probes:
            if probe.ID in self._unmeasured:
                continue
            start = time.perf_counter()
            try:
                if probe.ID in ("gradients", "tokens"):
                    arrays, labels = probe.measure(view, self._sequences)
                else:
                    arrays, labels = probe.measure(view)
            except Exception as error:  # whatever a model is, its training goes on
                self._drop(probe.ID, error)
                continue
            cost = self._spend(probe.ID, start)
            if probe.ID == "updates":
                cost = self._costs["updates"]
            results.append(Sample(probe.ID, self._step, arrays, {**labels, "sampled": [view.sampled()]}, 1e3 * cost))
        first, last = view.gradient_norms(2), view.gradient_norms(view.states - 1)
        ratio = math.nan
        if first is not None and last is not None and (last**2).sum() > 0:
            ratio = math.sqrt((first**2).sum() / (last**2).sum())
        return results, ratio

    def _drop(self, probe, error):
        """Measures a probe no more, and says why in the recording and in a warning."""
        self._unmeasured.add(probe)
        line = f"{probe}: not measured any more: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        self._waiting_events.append((self._step, "series", line))
        warnings.warn(f"normscope: {line}", stacklevel=4)

    def _judge(self, loss, total, seen, norms):
        """Events and the outcome, from the loss and what this pass shows of it."""
        spike = self._spikes.add(loss, total)
        if spike:
            self._waiting_events.append((self._step, "spike", spike))
        finite = math.isfinite(loss)
        if finite and not math.isfinite(total) and not math.isnan(total):
            place = self._bad_gradient(norms)
            kind = "overflow" if self._scaler is not None else "watch"
            self._waiting_events.append((self._step, kind, f"gradient of {place} is not finite"))
        decided = self._verdict.add(self._step, loss) if self._outcome is None else None
        if decided is None:
            return
        layer = -1
        if not finite and seen is not None:
            place, layer, value = self._bad_place(seen)
            decided = f"step {self._step} · {place} · {value}" if place else decided
        self._outcome = ("diverged", self._step, decided, layer)
        self._waiting_events.append((self._step, "outcome", decided))

    def _bad_place(self, seen):
        """The first hidden state with a value that is not finite: (its place, the layer, the value)."""
        for k in sorted(seen.states):
            state = seen.states[k]
            if bool(torch.isfinite(state).all()):
                continue
            bad = state[~torch.isfinite(state)].flatten()[0].item()
            if k == 0:
                return "embedding", -1, f"{bad:g}"
            layer = (k - 1) // 2
            return f"L{layer + 1} {'attn' if k % 2 else 'ffn'}", layer, f"{bad:g}"
        return "logits or loss", -1, "not finite"

    def _bad_gradient(self, norms):
        names = {id(p): name for name, p in self._model.named_parameters()}
        return next((names.get(key, "a parameter") for key, value in norms.items() if not math.isfinite(value)),
                    "a parameter")

    # The file.

    def _write(self, row, results):
        try:
            if self._file is None:
                self._open(results)
            if self._file.problem:
                raise OSError(self._file.problem)
            for result in results:
                if result.probe in self._file.probes:
                    unfit = self._file.append_sample(result)
                    if unfit and result.probe not in self._unfit:
                        self._unfit.add(result.probe)
                        self._waiting_events.append(
                            (self._step, "series", f"{result.probe}: other shapes than at first: {', '.join(unfit)}"))
            if self._capture and self._capture.problem and not self._problem_noted:
                self._problem_noted = True
                self._waiting_events.append((self._step, "series", self._capture.problem))
            for event in self._waiting_events:
                self._file.append_event(*event)
            self._waiting_events.clear()
            self._file.append_row(self._step, row)
        except (OSError, RuntimeError) as problem:
            self._give_up(problem)

    def _open(self, results):
        context = self._length or (self._structure.sizes.get("context") if self._structure else 0) or 1
        if self._structure is not None:
            recipe, unstated = recipe_of(self._model, self._structure, self._optimizer, steps=self._planned,
                                         batch=self._batch, context=context, seed=self._seed, probes=self._probes)
        else:
            recipe, unstated = {"format": "normscope-recipe", "version": 1, "data": {"source": "external"},
                                "steps": self._planned, "seed": self._seed}, []
        if unstated:
            self._notes.append("the recipe does not state: " + "; ".join(unstated))
        self._waiting_events[1:1] = [(0, "series", note) for note in self._notes]
        device = next((p.device for p in self._model.parameters()), torch.device("cpu"))
        header = {"app_version": "python " + _version.__version__, "name": self._name, "recipe": recipe,
                  "backend": "pytorch",
                  "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
                  "seed": self._seed, "ln_vocab": self._ln_vocab, "unigram_entropy": self._unigram}
        columns = COLUMNS + (("loss_scale",) if self._scaler is not None else ())
        self._file = RecordingFile(self.path, header, columns, results)

    def _give_up(self, problem):
        warnings.warn(f"normscope: not recorded any more: {problem}", stacklevel=4)
        self._release()
        self._dead = True
        if self._file is not None:
            try:
                self._file.close()
            except (OSError, RuntimeError):
                pass  # the reason is in the warning
        self._file = None

    def event(self, text, kind="watch"):
        """Notes something of this step: a change of the data, a restart. kind: at most 16 bytes."""
        self._waiting_events.append((self._step, kind, text))

    def costs(self):
        """Seconds spent so far by probe, and on the training steps ("steps")."""
        return dict(self._costs)

    def snapshot(self, folder=None):
        """Writes the weights as they are now for Normscope to open, into a folder next to the recording.

        Of a model of transformers or of nanoGPT's form: its own tensor names with its configuration. Returns the
        folder. ValueError where the model has no configuration.
        """
        stem, _ = os.path.splitext(self.path)
        return write_snapshot(self._model, folder or f"{stem}.step-{self._step}")

    def close(self, state=None, text=""):
        """Ends the recording with its outcome; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._release()
        if self._file is None:
            return
        if state is None and self._outcome is not None:
            outcome = self._outcome
        elif state is None:
            outcome = (*self._verdict.at_end(self._step - 1), -1)
        else:
            outcome = (state, self._step - 1, text, -1)
        try:
            for event in self._waiting_events:
                self._file.append_event(*event)
            if self._outcome is None and outcome[0] != "failed":
                self._file.append_event(outcome[1], "outcome", outcome[2])
            self._file.set_state(outcome[0], outcome[1], outcome[2], outcome[3])
            self._file.close()
        except (OSError, RuntimeError) as problem:
            warnings.warn(f"normscope: {self.path}: the end is not recorded: {problem}", stacklevel=3)

    def _release(self):
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self._capture:
            self._capture.close()
