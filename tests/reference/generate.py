#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""generate.py [DIR]: writes the base cases SCHEME.h5, images.h5 and options/SCHEME.h5, next to this file by default. Layout:
README.md. The tests' tolerances are those of well-conditioned cases: an option case that PyTorch itself cannot
compute in float32 to FLOAT32_ERROR is drawn anew."""

import json
import pathlib
import sys

import h5py
import numpy as np
import torch

from cases import BASE_SCHEMES, cases, image_cases
from compare import compare
from expected import evaluate
from option_cases import option_cases
from stack import SCHEMES

FLOAT32_ERROR = 3e-6

# Where NaN is the answer: no bound applies, no row of two entries, no branch or no post norm at this site.
MAY_BE_NAN = ("/growth/bound_", "/theta/", "/jacobian/branch_norm", "/null_space/erased_forward")


def is_defined(path, value):
    may_be_nan = value.dtype != np.float64 or any(part in path for part in MAY_BE_NAN)
    return may_be_nan or np.isfinite(value).all()


def write(group, path, value):
    """Large arrays compressed in one chunk; small ones inside their object header, where they cost least."""
    value = np.asarray(value)
    if not is_defined(path, value):
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


def float32_errors(case):
    """Output -> PyTorch's own error in float32, the worst over neighbours: round-off is small by luck, but not four
    times."""
    recipe, params, *batch = case
    worst = {}
    for trial in range(4):
        near = {name: value * (1 + 1e-4 * trial) for name, value in params.items()}
        single = evaluate(recipe, near, *batch, trial == 0, False, torch.float32)
        want = evaluate(recipe, near, *batch, trial == 0, False)
        want = {path: value for path, value in want.items() if not path.startswith("step/")}
        for output, (error, _) in compare(want, single, single=True).items():
            worst[output] = max(worst.get(output, 0.0), error)
    return worst


def well_conditioned(*case):
    try:
        if not all(is_defined(path, np.asarray(value)) for path, value in evaluate(*case).items()):
            return False
    except np.linalg.LinAlgError:  # a norm of the zero vector, where the null space of ε = 0 is not defined
        return False
    return all(error <= FLOAT32_ERROR for error in float32_errors(case).values())


def write_file(path, cases_of_file):
    path.parent.mkdir(exist_ok=True)
    # The compact object headers of HDF5 1.10: these files are many small data sets.
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name, recipe, params, tokens, targets in cases_of_file:
            group = file.create_group(name)
            group.attrs["recipe"] = np.bytes_(json.dumps(recipe))
            for tensor, value in params.items():
                write(group, f"params/{tensor}", value)
            write(group, "images" if tokens.ndim == 4 else "tokens", tokens)
            write(group, "targets", targets)
            out = evaluate(recipe, params, tokens, targets)
            for name_of, value in out.items():
                write(group, f"expected/{name_of}", value)
            total = float(out["probes/gradients/total"])
            print(f"{path.stem}/{name}: loss {out['loss']:.3f}, gradient norm {total:.3g}")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for scheme in BASE_SCHEMES:
        write_file(folder / f"{scheme}.h5", cases(scheme))
    write_file(folder / "images.h5", image_cases())
    for scheme in SCHEMES:
        write_file(folder / "options" / f"{scheme}.h5", option_cases(scheme, well_conditioned))


if __name__ == "__main__":
    main()
