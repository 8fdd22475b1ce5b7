#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ranks bring: steps of one process and of ranks under mpirun, one thread each, in turns; what the exchange of the
gradients takes; and, by the model of docs/guide/scaling.md, the bandwidth from which a second rank pays.

    tests/bench/ranks.py CLI [--rounds N] [--steps N]

As many ranks as there are cores, at most four. All other work on the machine paused.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

# width, settings of the preset pre-ln: 12 layers, 8 sequences of 64 tokens
SHAPES = [(64, []), (128, ["stack.d_model=128"]), (256, ["stack.d_model=256", "stack.heads=4"])]
LAYERS, TOKENS = 12, 8 * 64


def step_ms(cli, settings, steps, ranks, threads):
    with tempfile.TemporaryDirectory() as folder:
        command = [cli, "train", "pre-ln", "--steps", str(steps), "--set", "probes=[]", "--set", "validate.every=0", "--threads",
                   str(threads), "--json", "--out", f"{folder}/run.h5"]
        for setting in settings:
            command += ["--set", setting]
        if ranks:
            command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), *command, "--ranks", "mpi"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    times = [json.loads(line)["step_ms"] for line in done.stdout.splitlines() if '"step_ms"' in line]
    return statistics.median(times[5:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    cores = min(len(os.sched_getaffinity(0)), 4)
    own = 4 // cores  # the parts of a batch that a rank passes; ranks that do not divide four have unequal ones
    print(f"{cores} ranks of one thread, {cores} cores; medians of {options.rounds} rounds, ms\n\n"
          "| step | parameters | one process, one thread | its threads | ranks | exchange | MB a rank | GB/s | a second rank pays from |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for width, settings in SHAPES:
        rounds = [(step_ms(options.cli, settings, options.steps, 0, 1), step_ms(options.cli, settings, options.steps, 0, cores),
                   step_ms(options.cli, settings, options.steps, cores, 1)) for _ in range(options.rounds)]
        one, threads, ranks = (statistics.median(column) for column in zip(*rounds))
        values = 12 * LAYERS * width**2  # of the layers' matrices, all but a few per cent
        exchange = ranks - one / cores
        received = 4 * values * (4 - own + cores - 1) / cores  # of each other shard a part of the arena, then the other parts
        # Half of a step is saved, and 4·(2 + 1)/2 bytes a parameter are received.
        pays = 6 * values / (one / 2 / 1e3)
        print(f"| L{LAYERS} d{width}, {TOKENS} tokens | {values / 1e6:.2f} million | {one:.1f} | {threads:.1f} | {ranks:.1f} | "
              f"{exchange:.1f} | {received / 1e6:.1f} | {received / exchange / 1e6:.2f} | {pays / 1e6:.0f} MB/s |")


main()
