#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The peer of `normscope-cli bench`: the same training steps in PyTorch, on the CPU.

    python3 tests/bench/peer.py normscope-cli [--threads 2] [--rounds 3] [--compile]

A plain Pre-LN GPT-2 stack (tanh GELU, biases, learned positions, untied head; AdamW with decay on matrices, clipping
at 1), written as one would write it for speed: fused attention (scaled_dot_product_attention), one fused AdamW, foreach
clipping, gradients set to None; --compile adds torch.compile. Both programs run alternately, several rounds, and the best
median of each counts: other work on the machine then hurts both alike. Needs PyTorch 2.
"""
import argparse
import json
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
from torch import nn

# name, depth, width, heads, context, batch, vocabulary: as in app/cli/bench.cpp
SHAPES = [
    ("L4 d128 T64 B12 V65", 4, 128, 4, 64, 12, 65),
    ("L6 d64 T64 B16 V65", 6, 64, 4, 64, 16, 65),
    ("L12 d128 T128 B16 V65", 12, 128, 4, 128, 16, 65),
    ("L6 d384 T256 B8 V65", 6, 384, 6, 256, 8, 65),
]


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.before_attention(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.before_mlp(x)), approximate="tanh"))


class Stack(nn.Module):
    def __init__(self, depth, width, heads, context, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def torch_step_ms(depth, width, heads, context, batch, vocabulary, compiled):
    torch.manual_seed(0)
    model = Stack(depth, width, heads, context, vocabulary)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=3e-3, betas=(0.9, 0.95), fused=True)
    run = torch.compile(model) if compiled else model
    times = []
    begin = time.perf_counter()
    while len(times) < 12 or time.perf_counter() - begin < 2:
        tokens = torch.randint(vocabulary, (batch, context))
        targets = torch.randint(vocabulary, (batch, context))
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        run(tokens, targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[3:])


def ours(cli, threads):
    lines = subprocess.run([cli, "bench", "--json", "--steps-only", "--threads", str(threads)], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {line["what"]: line["ms"] for line in map(json.loads, lines) if "ms" in line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cli")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    libraries = [line.strip(" -").split(" (")[0] for line in torch.__config__.show().splitlines()
                 if "Math Kernel Library" in line or "MKL-DNN" in line]
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; {', '.join(libraries)}")

    best = {}
    for _ in range(arguments.rounds):
        own = ours(arguments.cli, arguments.threads)
        for name, *shape in SHAPES:
            pair = own[f"step {name} pre fp32"], torch_step_ms(*shape, arguments.compile)
            best[name] = tuple(map(min, zip(pair, best.get(name, pair))))
    print("| step | Normscope ms | PyTorch ms | ratio | Normscope tokens/s | PyTorch tokens/s |\n|---|---|---|---|---|---|")
    for name, _, _, _, context, batch, _ in SHAPES:
        normscope, peer = best[name]
        rates = (f"{context * batch / ms * 1e3:,.0f}" for ms in (normscope, peer))
        print(f"| {name} | {normscope:.1f} | {peer:.1f} | {peer / normscope:.2f} | {' | '.join(rates)} |")


if __name__ == "__main__":
    main()
