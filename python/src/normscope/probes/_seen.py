# SPDX-License-Identifier: GPL-3.0-or-later
"""A sampled pass as the probes read it: complete hidden states, numbers that several probes share."""

import torch

from ..structure import Structure


def wide(x):
    """At least float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def numbers(x):
    """A tensor as float64 numbers on the host."""
    return x.detach().double().cpu().numpy()


class Seen:
    """structure, the pass, and what a training step adds: update norms, loss, gradient norms of parameters."""

    def __init__(self, structure: Structure, seen, scale=1.0):
        self.structure = structure
        self.seen = seen
        self.scale = scale  # the gradients are this many times those of the loss (AMP's scaler)
        self.loss = float("nan")
        self.wants_logits = False
        self.parameter_squares = {}  # id of a parameter: squared norm of its gradient
        self.updates = {}  # group: numbers of updates.py
        self._norms = {}

    def _in_order(self, x):
        """[batch, tokens, …], whatever the model's order."""
        return x if self.structure.batch_first else x.transpose(0, 1)

    @property
    def states(self):
        return 2 * self.structure.depth + 1

    def state(self, k):
        """h_k [B, n, d] or None."""
        found = self.seen.states.get(k)
        if found is None and 0 < k and self.structure.sublayers[k - 1].result is None:
            before, branch = self.seen.states.get(k - 1), self.seen.branches.get(k - 1)
            if before is None or branch is None:
                return None
            found = self.seen.states[k] = before + branch
        return None if found is None else self._in_order(found)

    def branch(self, k):
        found = self.seen.branches.get(k)
        return None if found is None else self._in_order(found)

    def norm_input(self, site):
        found = self.seen.norm_inputs.get(site.name)
        return None if found is None else self._in_order(found)

    def gain(self, site):
        """γ of the pass, before the optimizer changed it; None without one, NaN where it was not seen."""
        return self.seen.gains.get(site.name, torch.tensor(float("nan")))

    def logits(self):
        found = self.seen.logits
        return None if found is None or found.dim() != 3 else self._in_order(found)

    def token_norms(self, k):
        """‖h_k‖ of every token [B, n], float64 on the host, or None."""
        if k not in self._norms:
            state = self.state(k)
            self._norms[k] = None if state is None else numbers(torch.linalg.vector_norm(wide(state), dim=-1))
        return self._norms[k]

    def gradient_norms(self, k):
        """‖∂L/∂h_k‖ of every token [B, n], or None. Of a state inside a parallel layer, that of its sum."""
        found = self.seen.state_gradients.get(k)
        if found is None and self.structure.parallel and k % 2 == 1:
            found = self.seen.state_gradients.get(k + 1)
        return None if found is None else numbers(self._in_order(found)) / self.scale

    def squares_of_sum(self, k):
        """Squared norms [B] of the gradient at the sum before a post norm, or None."""
        found = self.seen.sum_gradients.get(k)
        return None if found is None else ((numbers(self._in_order(found)) / self.scale) ** 2).sum(axis=1)

    def sampled(self):
        """The label that says what was measured."""
        state = self.state(0)
        if state is None:
            return "the training batch"
        return f"training batch, {state.shape[0]} sequences of {state.shape[1]} tokens"
