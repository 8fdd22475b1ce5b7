# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small GPT on sequences and their copies, recorded live: nanogpt.py RUN.h5 [STEPS]; open it with normscope."""
import sys
import torch, torch.nn as nn, torch.nn.functional as F  # noqa: E401
import normscope

V, T, D, d, H = 17, 64, 6, 64, 4  # vocabulary, context, layers, width, heads

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_head, self.c_attn, self.c_proj = H, nn.Linear(d, 3 * d), nn.Linear(d, d)
    def forward(self, x):
        q, k, v = (t.view(*x.shape[:2], H, -1).transpose(1, 2) for t in self.c_attn(x).split(d, 2))
        scores = (q @ k.transpose(2, 3) / k.shape[-1] ** 0.5).masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)
        return self.c_proj((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape))

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(d), Attention(), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

torch.manual_seed(42)
model = nn.Sequential(nn.Embedding(V, d), nn.Sequential(*[Block() for _ in range(D)]), nn.LayerNorm(d), nn.Linear(d, V))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 500
with normscope.record(model, sys.argv[1], optimizer=optimizer, probes="full", steps=steps, name="nanoGPT") as rec:
    for step in range(steps):
        half = torch.randint(1, V, (16, T // 2))
        text = torch.cat([half, half, half[:, :1]], 1)
        loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rec.step(loss)
