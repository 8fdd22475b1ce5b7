#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preset `tiny-vit`, widths 96 and 128, three seeds each, against the PyTorch model in float64: logits, hidden
states, loss, gradients and one step of AdamW (`normscope-cli evaluate --step`) on random weights and images. Exits
with 1 where an output is off by more than TOLERANCE (compare.py states how errors are measured).
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py

from compare import add_update, compare, read_tree
from cross import write_inputs
from expected import evaluate
from precision_probes import drawn

TOLERANCE = 1e-10
PRESET = pathlib.Path(__file__).parents[2] / "resources/presets/tiny-vit.json"


def measured(cli, recipe, params, images, classes):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_inputs(folder, recipe, params, images, classes)
        with h5py.File(folder / "tokens.h5", "w") as file:
            file["images"], file["targets"] = images, classes
        out = folder / "out.h5"
        command = [cli, "evaluate", folder / "recipe.json", "--weights", folder / "weights.h5", "--tokens",
                   folder / "tokens.h5", "--out", out, "--dtype", "float64", "--step"]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with h5py.File(out) as file:
            return read_tree(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cli", help="normscope-cli")
    cli = parser.parse_args().cli
    preset = json.loads(PRESET.read_text())
    failed = False
    for width in (96, 128):
        for seed in range(3):
            keys = {**preset["stack"], "d_model": width, "classes": preset["stack"].get("classes", 10)}
            recipe, _, params, (images, classes) = drawn(keys, seed)
            recipe["optimizer"] = {**preset["optimizer"], "kind": "adamw"}
            wanted = evaluate(recipe, params, images, classes, with_jacobians=False, with_probes=False)
            got = measured(cli, recipe, params, images, classes)
            add_update(recipe, params, wanted, got)
            errors = compare(wanted, got, optimizer=recipe["optimizer"])
            worst = max(errors.values())
            print(f"d_model {width} seed {seed}: {len(wanted)} arrays, worst relative error {worst[0]:.1e} ({worst[1]})")
            failed |= not worst[0] <= TOLERANCE
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
