#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs of normscope-cli on a device against the CPU, one JSON object a line. For tests/gpu/run; by hand with any
program and device:

    tests/gpu/steps.py equal  CLI [--backend cuda]   losses of the same recipe on both
    tests/gpu/steps.py resume CLI [--backend cuda]   CPU, killed; device, killed; CPU: the losses of one run
    tests/gpu/steps.py bench  CLI [--backend cuda]   normscope-cli bench --steps-only --large
    tests/gpu/steps.py probes CLI [--backend cuda]   normscope-cli bench --only probe
    tests/gpu/steps.py kernels CLI                   the kernels of some steps, with kernel_times.so next to the program

Exit status 1 where a row failed.
"""
import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

# Recipe and settings, steps, the largest relative difference of a loss, first step and all. In the low formats a rounding
# that falls to the other side changes the run, so that later steps only stay near.
RUNS = [
    ("pre-ln", [], 200, 1e-5, 1e-3),
    ("peri-ln", ["seed=1"], 200, 1e-5, 1e-3),
    ("deepnorm", ["stack.block=llama"], 200, 1e-5, 1e-3),
    ("post-ln-small-step", ["stack.gpas.enabled=true"], 200, 1e-5, 1e-3),
    ("pre-ln", ["stack.layout=parallel", "optimizer.kind=muon"], 100, 1e-5, 1e-3),
    ("pre-ln", ["precision=fp64"], 20, 1e-10, 1e-9),
    ("pre-ln", ["precision=bf16"], 50, 3e-3, 0.05),
    ("pre-ln", ["precision=bf16", "precision_policy=autocast"], 50, 3e-3, 0.05),
    ("pre-ln", ["precision=fp16", "precision_policy=autocast"], 50, 1e-3, 0.05),
    ("pre-ln", ["precision=tf32"], 50, 1e-3, 0.05),
]


def train_command(cli, recipe, settings, backend, out, *more):
    command = [cli, "train", recipe, "--backend", backend, "--out", out, "--json", "--set", "validate.every=0",
               "--probes", "economy", *more]
    for setting in settings:
        command += ["--set", setting]
    return command


def losses_of(text):
    return {row["step"]: row["loss"] for row in map(json.loads, text.splitlines()) if row.get("event") == "step"}


def difference(a, b):
    if a is None or b is None:
        return 0.0 if a is b else float("inf")
    return abs(a - b) / max(abs(b), 1e-30)


def trained(cli, recipe, settings, steps, backend, folder):
    """Losses by step, and seconds."""
    out = os.path.join(folder, f"{backend}.h5".replace(":", "_"))
    command = train_command(cli, recipe, settings, backend, out, "--steps", str(steps))
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().split("\n")[-1])
    return losses_of(done.stdout), time.monotonic() - start


def on_cpu(cli, recipe, settings, steps):
    # On the CPU TF32 does not exist: it is compared with float32.
    plain = [s for s in settings if s != "precision=tf32"]
    with tempfile.TemporaryDirectory() as folder:
        return trained(cli, recipe, plain, steps, "cpu", folder)[0]


def equal(cli, backend, steps_limit):
    failed = False
    # The references of later runs are computed while earlier ones are on the device.
    pool = concurrent.futures.ThreadPoolExecutor(max(1, min(4, (os.cpu_count() or 1) // 4)))
    references = [pool.submit(on_cpu, cli, recipe, settings, min(steps, steps_limit))
                  for recipe, settings, steps, _, _ in RUNS]
    for (recipe, settings, steps, first, later), reference in zip(RUNS, references):
        steps = min(steps, steps_limit)
        row = {"run": " ".join([recipe, *settings]), "steps": steps}
        try:
            with tempfile.TemporaryDirectory() as folder:
                found, seconds = trained(cli, recipe, settings, steps, backend, folder)
            wanted = reference.result()
            errors = [difference(found.get(k), wanted[k]) for k in sorted(wanted)]
            row |= {"s": seconds, "first": errors[0], "ten": max(errors[:10]), "largest": max(errors), "allowed": later,
                    "passed": len(found) == len(wanted) == steps and errors[0] <= first and max(errors) <= later}
        except RuntimeError as error:
            row |= {"passed": False, "error": str(error)}
        failed |= not row["passed"]
        print(json.dumps(row), flush=True)
    return failed


def killed_after(command, step):
    """The losses that were printed before SIGKILL, which is sent after that step's line."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        text = ""
        for line in program.stdout:
            text += line
            row = json.loads(line)
            if row.get("event") == "step" and row["step"] >= step:
                program.send_signal(signal.SIGKILL)
                break
    return losses_of(text)


def resume(cli, backend):
    settings = ["checkpoint.every=5", "stack.depth=4"]
    steps = 60
    with tempfile.TemporaryDirectory() as folder:
        wanted, _ = trained(cli, "pre-ln", settings, steps, "cpu", folder)
        out = os.path.join(folder, "resumed.h5")
        more = ["--steps", str(steps)]
        found = killed_after(train_command(cli, "pre-ln", settings, "cpu", out, *more), 22)
        found |= killed_after(train_command(cli, "pre-ln", settings, backend, out, *more, "--resume"), 41)
        last = subprocess.run(train_command(cli, "pre-ln", settings, "cpu", out, *more, "--resume"),
                              capture_output=True, text=True)
        found |= losses_of(last.stdout)
    errors = {k: difference(found.get(k), wanted[k]) for k in wanted}
    passed = last.returncode == 0 and len(found) == steps and max(errors.values()) <= 1e-3
    print(json.dumps({"run": f"CPU, killed at 22; {backend}, killed at 41; CPU", "steps": len(found),
                      "largest": max(errors.values()), "allowed": 1e-3, "passed": passed,
                      **({} if passed else {"error": (last.stderr or "").strip()[-200:]})}))
    return not passed


def bench(cli, backend, *more):
    return subprocess.run([cli, "bench", "--backend", backend, "--json", *more]).returncode != 0


# Of bench --large; the kernels that take most of the time, and the sum of all.
PROFILED = ["L4 d128 T128 B32 V256 pre bf16", "L4 d128 T128 B32 V256 pre fp32", "L6 d256 T256 B32 V256 pre bf16",
            "124M L12 d768 T1024 B8 V50257 pre bf16"]
LISTED = 16
ONCE_A_STEP = "EachCoefficients"


def kernel_name(name):
    """A GEMM of cuBLAS, else the kernel and its types."""
    if name.startswith(("sm80", "sm90", "nvjet", "void cutlass", "cutlass")) or "cublas" in name:
        return "GEMM"
    short = re.sub(r"normscope::(cuda::)?|\(anonymous namespace\)::|^void |\(grid::MmaFormat\)", "", name)
    return short.split("(")[0]


def kernels(cli, backend):
    library = os.path.join(os.path.dirname(os.path.abspath(cli)), "kernel_times.so")
    if not os.path.exists(library):
        print("no kernel_times.so: tests/gpu/pack makes it where CUPTI is installed")
        return True
    failed = False
    for step in PROFILED:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "kernels.json")
            done = subprocess.run([cli, "bench", "--backend", backend, "--steps-only", "--large", "--only", step],
                                  env={**os.environ, "CUDA_INJECTION64_PATH": library, "NORMSCOPE_KERNEL_TIMES": out},
                                  capture_output=True, text=True)
            rows = [json.loads(line) for line in open(out)] if os.path.exists(out) else []
        total = [row for row in rows if "kernel" in row]
        steps = sum(row["count"] for row in total if ONCE_A_STEP in row["kernel"])
        failed |= done.returncode != 0 or steps == 0
        if steps == 0:
            print(f"{step}: {done.stderr.strip() or 'no kernels were noted'}")
            continue
        sums = {}
        for row in total:
            kept = sums.setdefault(kernel_name(row["kernel"]), [0, 0.0])
            kept[0] += row["count"]
            kept[1] += row["ms"]
        everything = [sum(v[i] for v in sums.values()) for i in range(2)]
        for name, (count, ms) in [("all", everything), *sorted(sums.items(), key=lambda item: -item[1][1])[:LISTED]]:
            print(json.dumps({"step": step, "kernel": name, "calls": count / steps, "us": ms / steps * 1e3}), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["equal", "resume", "bench", "probes", "kernels"])
    parser.add_argument("cli")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--steps", type=int, default=200, help="at most, of equal")
    parser.add_argument("--only", default="step ", help="of bench: lines with this text")
    given = parser.parse_args()
    if given.part == "equal":
        failed = equal(given.cli, given.backend, given.steps)
    elif given.part == "resume":
        failed = resume(given.cli, given.backend)
    elif given.part == "bench":
        failed = bench(given.cli, given.backend, "--steps-only", "--large", "--only", given.only)
    elif given.part == "kernels":
        failed = kernels(given.cli, given.backend)
    else:
        failed = bench(given.cli, given.backend, "--only", "probe")
    sys.exit(1 if failed else 0)


main()
