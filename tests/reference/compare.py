#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the output of `normscope-cli evaluate` (or `probe`) against the PyTorch model on the same inputs.

Prints the worst relative error of every output. Exits with 1 when one is above --tol, missing or misshapen,
with 2 when an input cannot be used.

The error of an array is max|got − want| / max|want|. A gradient or step tensor whose entries are all below
1e-3 of the largest among its kind is measured against that floor instead: the key bias has a gradient of
exactly zero (softmax does not see a shift), and two programs agree there in no digit of their round-off (--single,
for float32 outputs: it is measured against the largest gradient).

The step is held against PyTorch's three times over. `step`: the parameters after it, where the gradient is above
10·eps. `step_near_eps`: where it is not. AdamW's first step, lr·g/(|g| + eps), is lr/eps = 3e5 times the gradient
there, and takes round-off of a gradient of zero for a gradient; so the difference, times eps/lr, is measured as the
difference of gradients that it is. `update`: all parameters, against PyTorch's clip and step from OUT.h5's own gradients.
In float32 `update` alone says something.
"""

import argparse
import json
import pathlib
import sys

import h5py
import numpy as np
import torch

from expected import OPTIMIZER_DEFAULTS, adamw_step, evaluate
from stack import Stack

OPTIONAL = ("step", "update", "jacobian", "singular", "jacobian_forward", "singular_forward", "probes")
FLOOR = 1e-3
NEAR = 10  # times eps


def read_tree(file):
    """path -> array of every data set; the list of norm sites as the array probes/null_space/sites."""
    arrays = {}

    def visit(path, item):
        if isinstance(item, h5py.Dataset):
            arrays[path] = item[()]

    file.visititems(visit)
    group = file.get("probes/null_space")
    if group is not None and "sites" in group.attrs:
        sites = group.attrs["sites"]
        names = [s.decode() if isinstance(s, bytes) else s for s in np.ravel(sites)]
        arrays["probes/null_space/sites"] = np.array([n.rstrip("\0") for n in names], "S")
    return arrays


def read_case(group):
    """recipe, params, tokens, targets and what is expected of them, from a group of the reference files."""
    params = {name: data[()] for name, data in group["params"].items()}
    recipe, tokens, targets = json.loads(group.attrs["recipe"]), group["tokens"][()], group["targets"][()]
    return recipe, params, tokens, targets, read_tree(group["expected"])


def relative_error(got, want, scale):
    if got.dtype.kind == "S" or want.dtype.kind == "S":
        return 0.0 if np.array_equal(got, want) else np.inf
    undefined = np.isnan(want)
    if not np.array_equal(undefined, np.isnan(got)):
        return np.inf
    worst = np.abs(got - want)[~undefined].max(initial=0.0)
    return worst / scale if worst > 0 else 0.0


def group_of(path):
    """grad/NAME, step/NAME and update/NAME are reported as one output each, everything else on its own."""
    return path.split("/")[0] if path.startswith(("grad/", "step/", "update/")) else path


def add_update(recipe, params, want, got):
    """update/NAME, where `got` has a step: in `got` that step, in `want` PyTorch's own from the gradients in `got`."""
    shapes = {f"{kind}/{name}": np.shape(value) for name, value in params.items() for kind in ("grad", "step")}
    if any(path not in got or got[path].shape != shape for path, shape in shapes.items()):
        return  # missing or misshapen, which compare() says
    leaves, grads = (
        {name: torch.tensor(np.asarray(values[prefix + name]), dtype=torch.float64) for name in params}
        for values, prefix in ((params, ""), (got, "grad/"))
    )
    stepped = adamw_step(leaves, grads, recipe.get("optimizer", {}), Stack.from_recipe(recipe).gpas)
    for name, value in stepped.items():
        want[f"update/{name}"], got[f"update/{name}"] = value.numpy(), got[f"step/{name}"]


def compare(want, got, single=False, optimizer=None, paths=None):
    """want, got: path -> array. Returns output -> (worst error, its path); inf: missing, misshapen or NaN.

    single: got is float32. A gradient that is zero but for round-off is then measured against the largest of all.
    optimizer: of the recipe. paths: what of `want` is compared, all unless told.
    """
    options, largest = {**OPTIMIZER_DEFAULTS, **(optimizer or {})}, {}
    for path, value in want.items():
        if value.dtype.kind == "f":
            output = group_of(path)
            largest[output] = max(largest.get(output, 0.0), np.nanmax(np.abs(value), initial=0.0))

    def scale_of(path):
        if want[path].dtype.kind != "f":
            return 1.0
        own, most = np.nanmax(np.abs(want[path]), initial=0.0), largest[group_of(path)]
        return max(own, most if single and own < 1e-12 * most else FLOOR * most) or 1.0

    worst = {}

    def note(output, error, path):
        if output not in worst or error > worst[output][0]:
            worst[output] = (error, path)

    for path in want if paths is None else paths:
        output, value, found = group_of(path), want[path], got.get(path)
        if found is not None and path.startswith("probes/") and found.shape == (1, *value.shape):
            found = found[0]  # the sample axis of a recording
        if found is None or found.shape != value.shape:
            note(output, np.inf, path)
        elif output == "step":
            gradient = "grad" + path.removeprefix("step")
            near = np.asarray(np.abs(want[gradient]) <= NEAR * options["eps"])
            of_gradients = scale_of(gradient) * options["lr"] / options["eps"]
            for name, entries, scale in (("step", ~near, scale_of(path)), ("step_near_eps", near, of_gradients)):
                if entries.any():
                    note(name, relative_error(found[entries], value[entries], scale), path)
        else:
            note(output, relative_error(found, value, scale_of(path)), path)
    return worst


def main():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    for name in ("recipe", "weights", "tokens", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--tol", type=float, default=1e-10, help="default 1e-10; for float32 outputs 1e-4")
    parser.add_argument("--single", action="store_true", help="the outputs are float32")
    parser.add_argument("--only", nargs="*", help="only outputs that begin so, e.g. hidden probes/growth")
    options = parser.parse_args()

    try:
        recipe = json.loads(options.recipe.read_text())
        with h5py.File(options.weights) as file:
            params = {name: data[()] for name, data in file["params"].items()}
        with h5py.File(options.tokens) as file:
            tokens, targets = file["tokens"][()], file["targets"][()]
        with h5py.File(options.out) as file:
            got = read_tree(file)
        optimizer = recipe.get("optimizer", {})
        needs_jacobians = any(path.startswith(("jacobian/", "singular/", "probes/jacobian/")) for path in got)
        want = evaluate(recipe, params, tokens, targets, needs_jacobians)
        add_update(recipe, params, want, got)
    except (OSError, KeyError, ValueError) as problem:  # Unsupported and bad JSON are ValueErrors
        parser.exit(2, f"{parser.prog}: {problem}\n")

    # What evaluate writes only when asked may be absent as a whole, and a probe that did not run likewise.
    def expected(path):
        parts = path.split("/")
        whole = parts[0] + "/" + (parts[1] + "/" if parts[0] == "probes" else "")
        asked = parts[0] not in OPTIONAL or any(p.startswith(whole) for p in got)
        if options.single and parts[0] == "step":
            return False
        return asked and (options.only is None or path.startswith(tuple(options.only)))

    worst = compare(want, got, options.single, optimizer, [path for path in want if expected(path)])
    for output, (error, path) in worst.items():
        print(f"{error:9.2e}  {output}" + (f"  ({path})" if path != output else ""))
    failed = [name for name, (error, _) in worst.items() if not error <= options.tol]
    if failed or not worst:
        sys.exit(f"above {options.tol:g}, missing or misshapen: {', '.join(failed) or 'nothing to compare'}")


if __name__ == "__main__":
    main()
