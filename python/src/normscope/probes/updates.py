# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a step of the optimizer moves each group of tensors, as a share of its length."""

import numpy as np
import torch

from .._recording_file import Array
from ..structure import local
from ._seen import wide

ID = "updates"


def groups_of(model, structure):
    """Parameters by group, in the order of the depth: embedding, blocks.L.attn, blocks.L.ffn, norms, head."""
    groups, taken = {}, set()

    def add(name, parameters):
        fresh = [p for p in parameters if p.requires_grad and id(p) not in taken]
        taken.update(id(p) for p in fresh)
        if fresh:
            groups.setdefault(name, []).extend(fresh)

    norms = [p for site in structure.sites() for p in site.module.parameters()]
    of_norms = {id(p) for p in norms}
    add("embedding", [p for module in structure.embeddings for p in module.parameters()])
    for k, sublayer in enumerate(structure.sublayers):
        name = f"blocks.{k // 2}.{'attn' if k % 2 == 0 else 'ffn'}"
        add(name, [p for module in sublayer.modules for p in module.parameters() if id(p) not in of_norms])
    add("norms", norms)
    if structure.head is not None:
        add("head", structure.head.parameters())
    add("other", model.parameters())
    return groups


class Update:
    """Compares parameters before and after a step; keeps a copy of them in between."""

    def __init__(self, groups, optimizer):
        self.groups = groups
        self.optimizer = optimizer
        self.before = {name: [local(p.detach()).clone() for p in group] for name, group in groups.items()}

    def finish(self):
        """{group: (ratio, share under ε, share that BF16 would not move)}."""
        return {name: self._of(name, group) for name, group in self.groups.items()}

    def _of(self, name, group):
        moved, length = [], []
        still = changed = under = seen = 0
        for before, parameter in zip(self.before[name], group):
            after = local(parameter.detach())
            if after.shape != before.shape:  # FSDP gathered it when the step began
                return np.nan, np.nan, np.nan
            change = wide(after) - wide(before)
            moved.append(torch.linalg.vector_norm(change))
            length.append(torch.linalg.vector_norm(wide(before)))
            if before.dtype == torch.float32:
                rounded = before.bfloat16()
                kept = (rounded.float() + change).bfloat16() == rounded
                moving = change != 0
                still = still + (kept & moving).sum()
                changed = changed + moving.sum()
            counts = self._under_eps(parameter)
            if counts is not None:
                under, seen = under + counts[0], seen + counts[1]
        with np.errstate(all="ignore"):
            ratio = np.divide(float(torch.stack(moved).norm()), np.float64(float(torch.stack(length).norm())))
            return (ratio if np.isfinite(ratio) else np.nan, np.float64(float(under)) / np.float64(float(seen)),
                    np.float64(float(still)) / np.float64(float(changed)))

    def _under_eps(self, parameter):
        """(entries with √v̂ < ε, entries with a gradient) of Adam's second moment, or None."""
        state = self.optimizer.state.get(parameter, {}) if self.optimizer else {}
        second = state.get("exp_avg_sq")
        if second is None:
            return None
        settings = next((g for g in self.optimizer.param_groups if any(p is parameter for p in g["params"])), {})
        eps, betas, step = settings.get("eps"), settings.get("betas"), float(state.get("step", 0))
        if eps is None or betas is None or step < 1:
            return None
        second = local(second)
        bound = (eps * eps) * (1 - betas[1] ** step)
        present = second > 0
        return (present & (second < bound)).sum(), present.sum()


def measure(seen):
    names = list(seen.updates)
    values = np.array([seen.updates[name] for name in names], dtype=np.float64).reshape(len(names), 3)
    arrays = {array: Array(values[:, i], ("group",))
              for i, array in enumerate(("update_ratio", "under_eps", "bf16_unmoved"))}
    return arrays, {"groups": names}
