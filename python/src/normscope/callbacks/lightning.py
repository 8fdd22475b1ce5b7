# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the training of PyTorch Lightning: Trainer(…, callbacks=[NormscopeCallback("run.h5")])."""

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback

from ..recorder import record


class NormscopeCallback(Callback):
    """path, and what normscope.record() takes. module: of the LightningModule, which to record ("model")."""

    def __init__(self, path, module=None, **options):
        self._path, self._module, self._options = path, module, options
        self.recorder = None
        self._step = 0

    def on_train_start(self, trainer, pl_module):
        model = getattr(pl_module, self._module) if self._module else pl_module
        optimizers = trainer.optimizers
        steps = trainer.estimated_stepping_batches
        options = {"steps": int(steps) if steps != float("inf") else 0, **self._options}
        self.recorder = record(model, self._path, optimizer=optimizers[0] if optimizers else None, **options)
        self._step = trainer.global_step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step == self._step:  # gradients are still being accumulated
            return
        self._step = trainer.global_step
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        self.recorder.step(loss)

    def on_train_end(self, trainer, pl_module):
        self.recorder.close()

    def on_exception(self, trainer, pl_module, exception):
        if self.recorder is not None:
            self.recorder.close("failed", f"{type(exception).__name__}: {exception}")
