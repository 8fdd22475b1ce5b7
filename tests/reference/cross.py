#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scheme × {GPT-2, LLaMA} × {LayerNorm, RMSNorm} × GPAS on/off × {tied, untied} × {bias, none} × {gelu_tanh,
gelu_erf, swiglu}: 960 small stacks through `normscope-cli evaluate --step --jacobian` and through PyTorch, live.

All other options of a stack (gate site and activation, key heads, position, QK-norm, layout, branch scale, Δt, τ, …)
are drawn at random, and so are sizes, weights and tokens; no draw is skipped. Prints the worst relative error of every
output by scheme (compare.py says how errors are measured), writes it to CROSS.md next to this file when all stacks were
run, and exits with 1 above tolerance: 1e-10 in float64, 1e-4 in float32. A float32 error above that is listed, and must
be within ten times PyTorch's own there, the worst over four neighbouring stacks.
"""

import argparse
import itertools
import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch

from compare import add_update, compare, read_tree
from expected import evaluate
from generate import float32_errors
from option_cases import OPTIONS, draw
from stack import SCHEMES

TOLERANCES = {"float64": 1e-10, "float32": 1e-4}
OF_PYTORCH = 10  # so many times its own float32 error
PRODUCT = {
    "scheme": SCHEMES,
    "block": ("gpt2", "llama"),
    "norm": ("layernorm", "rmsnorm"),
    "gpas": (False, True),
    "tied_head": (False, True),
    "bias": (True, False),
    "activation": ("gelu_tanh", "gelu_erf", "swiglu"),
}


def stacks(seed):
    """Yields (scheme, name, seed of its draw, choice of options)."""
    for number, values in enumerate(itertools.product(*PRODUCT.values())):
        fixed = dict(zip(PRODUCT, values))
        rng = np.random.default_rng([seed, number])
        choice = {name: allowed[rng.integers(len(allowed))] for name, allowed in OPTIONS.items()}
        choice["site"] = OPTIONS["site"][rng.integers(1, len(OPTIONS["site"]))] if fixed.pop("gpas") else None
        choice |= fixed
        choice["by_hand"] = choice["by_hand"] or choice["scheme"] == "custom"
        words = (choice["block"], choice["norm"], choice["site"] or "ungated", choice["layout"])
        yield choice["scheme"], "_".join((f"{number:03d}", *words)), [seed, number], choice


def write_inputs(folder, recipe, params, tokens, targets):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.json").write_text(json.dumps(recipe, indent=1) + "\n")
    with h5py.File(folder / "weights.h5", "w") as file:
        for name, value in params.items():
            file[f"params/{name}"] = value
    with h5py.File(folder / "tokens.h5", "w") as file:
        file["tokens"], file["targets"] = tokens, targets


def run_stack(task):
    """(cli, keep, stack) -> scheme, name, {(dtype, output): worst error}, what failed, what PyTorch misses too."""
    cli, keep, (scheme, name, seed, choice) = task
    torch.set_num_threads(1)
    recipe, params, *batch = case = draw(choice, np.random.default_rng([*seed, 0]), terse=seed[-1] % 2 == 1)
    want = evaluate(*case, with_probes=False)
    errors, failures, excused = {}, [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_inputs(folder, *case)
        for dtype, tolerance in TOLERANCES.items():
            out = folder / f"{dtype}.h5"
            command = [cli, "evaluate", folder / "recipe.json", "--weights", folder / "weights.h5", "--tokens",
                       folder / "tokens.h5", "--out", out, "--dtype", dtype, "--step", "--jacobian",
                       "--threads", "1"]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            if done.returncode:
                failures.append(f"{dtype}: exit {done.returncode}: {done.stderr.strip()}")
                continue
            with h5py.File(out) as file:
                got = read_tree(file)
            single, compared = dtype == "float32", dict(want)
            add_update(recipe, params, compared, got)
            paths = [path for path in compared if not (single and path.startswith("step/"))]
            own = None
            for output, (error, path) in compare(compared, got, single, recipe["optimizer"], paths).items():
                column = (dtype, output.split("/")[0])
                errors[column] = max(errors.get(column, 0.0), error)
                if error <= tolerance:
                    continue
                if single and own is None:
                    own = float32_errors(case)
                seen = f"{dtype}: {path}: {error:.2e}"
                if single and error <= OF_PYTORCH * own.get(output, 0.0) < np.inf:
                    excused.append(f"{seen}, PyTorch's own {own[output]:.2e}")
                else:
                    failures.append(seen)
    if failures and keep:
        write_inputs(keep / f"{scheme}-{name}", *case)
    return scheme, name, errors, failures, excused


def tables(worst, counts):
    """Markdown: a table for each dtype, rows schemes, columns outputs."""
    lines = []
    for dtype in TOLERANCES:
        outputs = list(dict.fromkeys(output for _, kind, output in worst if kind == dtype))
        lines += ["", f"{dtype}:", "", f"| scheme | stacks | {' | '.join(outputs)} |"]
        lines += ["|---|---|" + "---|" * len(outputs)]
        for scheme, count in counts.items():
            cells = [f"{worst.get((scheme, dtype, output), float('nan')):.1e}" for output in outputs]
            lines += [f"| {scheme} | {count} | {' | '.join(cells)} |"]
    return "\n".join(lines[1:]) + "\n"


def main():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("cli", help="the program normscope-cli")
    parser.add_argument("--jobs", type=int, default=2, help="processes, default 2")
    parser.add_argument("--seed", type=int, default=1, help="of all draws, default 1")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth stack")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the inputs of stacks that fail")
    options = parser.parse_args()

    tasks = [(options.cli, options.keep, stack) for stack in list(stacks(options.seed))[:: options.every]]
    worst, counts, failed, beyond = {}, {}, 0, []
    with multiprocessing.Pool(options.jobs) as pool:
        for done, (scheme, name, errors, failures, excused) in enumerate(pool.imap(run_stack, tasks), 1):
            counts[scheme] = counts.get(scheme, 0) + 1
            for (dtype, output), error in errors.items():
                worst[scheme, dtype, output] = max(worst.get((scheme, dtype, output), 0.0), error)
            failed += bool(failures)
            beyond += [f"{scheme}/{name}: {line}" for line in excused]
            for failure in failures[:3]:
                print(f"{scheme}/{name}: {failure}", flush=True)
            if done % 96 == 0:
                print(f"{done} of {len(tasks)} stacks, {failed} failed", file=sys.stderr, flush=True)
    report = tables(worst, counts)
    if beyond:
        report += f"\nAbove {TOLERANCES['float32']:g}, within {OF_PYTORCH} times PyTorch's own float32 error:\n\n"
        report += "".join(f"- {line}\n" for line in beyond)
    print(report)
    if failed:
        sys.exit(f"{failed} of {len(tasks)} stacks are above tolerance or were rejected")
    if options.every == 1:
        head = f"# {len(tasks)} stacks against PyTorch\n\nWorst relative error, seed {options.seed}; `cross.py --help`.\nNo draw is skipped.\n"
        (pathlib.Path(__file__).parent / "CROSS.md").write_text(f"{head}\n{report}")


if __name__ == "__main__":
    main()
