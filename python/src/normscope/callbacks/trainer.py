# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the training of transformers.Trainer: Trainer(…, callbacks=[NormscopeCallback("run.h5")])."""

from transformers import TrainerCallback

from ..recorder import record


class NormscopeCallback(TrainerCallback):
    """path, and what normscope.record() takes: probes, every, …"""

    def __init__(self, path, **options):
        self._path, self._options = path, options
        self.recorder = None

    def on_train_begin(self, args, state, control, model=None, optimizer=None, **others):
        options = {"steps": state.max_steps, "seed": args.seed, **self._options}
        # Trainer wraps the optimizer of accelerate around that of PyTorch.
        optimizer = getattr(optimizer, "optimizer", optimizer)
        self.recorder = record(model, self._path, optimizer=optimizer, **options)

    def on_step_end(self, args, state, control, **others):
        self.recorder.step()

    def on_train_end(self, args, state, control, **others):
        self.recorder.close()
