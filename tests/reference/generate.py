#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""generate.py [DIR]: writes SCHEME.h5 for every scheme, beside this file unless told. Layout: README.md."""

import json
import pathlib
import sys

import h5py
import numpy as np

from cases import cases
from expected import evaluate
from model import RULES

# Where NaN is the answer: no bound applies, no row of two entries, no branch or no post norm at this site.
MAY_BE_NAN = ("/growth/bound_", "/theta/", "/jacobian/branch_norm", "/null_space/erased_forward")


def write(group, path, value):
    """Large arrays compressed in one chunk; small ones inside their object header, where they cost least."""
    value = np.asarray(value)
    may_be_nan = value.dtype != np.float64 or any(part in path for part in MAY_BE_NAN)
    if not may_be_nan and not np.isfinite(value).all():
        raise ArithmeticError(f"{group.name}/{path}: not finite")
    if path.endswith("/sites"):
        group.require_group(path.rsplit("/", 1)[0]).attrs["sites"] = value
        return
    if value.nbytes > 2048:
        packing = {"compression": 9, "shuffle": True, "chunks": value.shape}
    else:
        packing = {"dcpl": h5py.h5p.create(h5py.h5p.DATASET_CREATE)}
        packing["dcpl"].set_layout(h5py.h5d.COMPACT)
    group.create_dataset(path, data=value, track_times=False, **packing)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for scheme in RULES:
        # The compact object headers of HDF5 1.10: these files are many small data sets.
        with h5py.File(folder / f"{scheme}.h5", "w", libver=("v110", "v110")) as file:
            for name, recipe, params, tokens, targets in cases(scheme):
                group = file.create_group(name)
                group.attrs["recipe"] = np.bytes_(json.dumps(recipe))
                for tensor, value in params.items():
                    write(group, f"params/{tensor}", value)
                write(group, "tokens", tokens)
                write(group, "targets", targets)
                out = evaluate(recipe, params, tokens, targets)
                for path, value in out.items():
                    write(group, f"expected/{path}", value)
                total = float(out["probes/gradients/total"])
                print(f"{scheme}/{name}: loss {out['loss']:.3f}, gradient norm {total:.3g}")


if __name__ == "__main__":
    main()
