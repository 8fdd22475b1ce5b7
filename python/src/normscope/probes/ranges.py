# SPDX-License-Identifier: GPL-3.0-or-later
"""The range of values at every place, and the shares that a number format would lose."""

import numpy as np
import torch

from .._recording_file import Array
from ._attention_rows import rows_of
from ._seen import wide

ID = "ranges"

# Largest value, smallest normal one, smallest one (IEEE 754; OCP 8-bit formats).
FORMATS = {
    "fp16": (65504.0, 2.0**-14, 2.0**-24),
    "bf16": (float.fromhex("0x1.fep127"), 2.0**-126, 2.0**-133),
    "e4m3": (448.0, 2.0**-6, 2.0**-9),
    "e5m2": (57344.0, 2.0**-14, 2.0**-16),
}
NAMES = ("amax", "amin") + tuple(f"{kind}_{name}" for name in FORMATS for kind in ("over", "under", "lost"))


def of(x, scale=1.0):
    """The numbers of NAMES of a tensor's values divided by `scale`; NaN where one is NaN."""
    sizes = wide(x.detach()).flatten().abs()
    if not sizes.numel() or bool(torch.isnan(sizes).any()):
        return [float("nan")] * len(NAMES)
    present = sizes > 0
    smallest = sizes.masked_fill(~present, float("inf")).min()
    found = [float(sizes.max()) / scale, float(smallest) / scale if bool(present.any()) else float("nan")]
    for largest, normal, least in FORMATS.values():
        for hit in (sizes > largest * scale, present & (sizes < normal * scale), present & (sizes <= least / 2 * scale)):
            found.append(float(hit.sum()) / sizes.numel())
    return found


def measure(seen):
    places = []
    for layer in range(seen.structure.depth):
        rows = rows_of(seen, layer)
        if rows is not None:
            probabilities, scores, allowed = rows
            places.append((f"blocks.{layer}.attn.scores", of(scores[allowed])))
            places.append((f"blocks.{layer}.attn.probabilities", of(probabilities[allowed])))
        for k, short in ((2 * layer, "attn"), (2 * layer + 1, "ffn")):
            branch = seen.branch(k)
            if branch is not None:
                places.append((f"blocks.{layer}.{short}.branch", of(branch)))
    for k in range(seen.states):
        state = seen.state(k)
        if state is not None:
            places.append((f"hidden.{k}", of(state)))
    logits = seen.logits()
    if logits is not None:
        places.append(("logits", of(logits)))
    for k, found in sorted(seen.seen.gradient_ranges.items()):
        places.append((f"grad.hidden.{k}", found))
    values = np.array([found for _, found in places], dtype=np.float64).reshape(len(places), len(NAMES))
    arrays = {name: Array(values[:, i], ("place",)) for i, name in enumerate(NAMES)}
    return arrays, {"places": [name for name, _ in places]}
