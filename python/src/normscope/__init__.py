# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads Normscope's sessions and records training runs of PyTorch into them.

    import normscope

    run = normscope.open("run.h5")["runs"]["a"]          # needs h5py and NumPy alone
    run.probes.growth.rms.sel(step=45)

    with normscope.record(model, "run.h5", optimizer=optimizer) as rec:    # needs PyTorch
        …
        rec.step(loss)
"""

from ._version import __version__
from .reading import NotASession, Run, Series, Session, open

__all__ = ["NotASession", "Run", "Series", "Session", "Structure", "UnknownStructure", "open", "record", "__version__"]


def __getattr__(name):
    # Only these need PyTorch.
    if name == "record":
        from .recorder import record
        return record
    if name in ("Structure", "UnknownStructure"):
        from . import structure
        return getattr(structure, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
