#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of `normscope-cli bench --large` in PyTorch on the same card, eager and compiled, one JSON object a line. The
stack is that of tests/bench/peer.py. A shape that does not fit or does not compile gives its error's first line.

    python3 tests/gpu/peer.py [--device cuda] [--only TEXT]
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from peer import Stack  # noqa: E402

# name, depth, width, heads, context, batch, vocabulary: as in app/cli/bench.cpp
SHAPES = [
    ("L4 d128 T128 B32 V256", 4, 128, 4, 128, 32, 256),
    ("L6 d256 T256 B32 V256", 6, 256, 8, 256, 32, 256),
    ("124M L12 d768 T1024 B8 V50257", 12, 768, 12, 1024, 8, 50257),
    ("774M L36 d1280 T1024 B2 V50257", 36, 1280, 20, 1024, 2, 50257),
]


def step_ms(shape, precision, compiled, device):
    depth, width, heads, context, batch, vocabulary = shape
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    model = Stack(depth, width, heads, context, vocabulary).to(device)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=3e-4, betas=(0.9, 0.95), fused=device == "cuda")
    run = torch.compile(model) if compiled else model
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)

    def autocast():
        return torch.autocast(device, dtype=torch.bfloat16) if precision == "bf16" else contextlib.nullcontext()

    times, begin = [], None
    while len(times) < 10 or (time.perf_counter() - begin < 1 and len(times) < 1000):
        tokens = torch.randint(vocabulary, (batch, context), device=device)
        targets = torch.randint(vocabulary, (batch, context), device=device)
        wait()
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = run(tokens, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        wait()
        times.append((time.perf_counter() - start) * 1e3)
        begin = begin or time.perf_counter()  # the first step compiles
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    # Eager first, then small before large: compiling may use up the time.
    for compiled in (False, True):
        for name, *shape in SHAPES:
            for precision in ("fp32", "tf32", "bf16"):
                what = f"step {name} pre {precision}"
                if given.only not in what:
                    continue
                row = {"what": what, "torch": torch.__version__, "compiled": compiled}
                try:
                    row["ms"] = step_ms(shape, precision, compiled, given.device)
                    row["tokens_per_s"] = shape[3] * shape[4] / row["ms"] * 1e3
                except Exception as error:  # out of memory, no compiler: a row of the table, not the end of it
                    row["error"] = str(error).split("\n")[0]
                print(json.dumps(row), flush=True)
                if given.device == "cuda":
                    torch.cuda.empty_cache()


main()
