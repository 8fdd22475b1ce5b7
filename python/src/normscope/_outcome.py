# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of a run, decided from its losses by the rules of Normscope's own runs (core/train/verdict.h)."""

import math

from ._statistics import upper_median

WINDOW = 20
PATIENCE = 50
UNIGRAM_SHARE = 0.97


class Spikes:
    """Reports where a spike of the loss or the gradient begins, against the last 50 steps (core/train/spike.h)."""

    KEPT, LEAST = 50, 20
    GRADIENT_FACTOR, LOSS_RISE, DEVIATIONS = 4.0, 0.5, 4.0

    def __init__(self):
        self._losses, self._norms, self._inside = [], [], False

    def add(self, loss, grad_norm):
        """One more step; the text of a spike that begins here, or None."""
        if not (math.isfinite(loss) and math.isfinite(grad_norm)):
            return None
        report = None
        if len(self._losses) >= self.LEAST:
            middle, norm = upper_median(self._losses), upper_median(self._norms)
            spread = 1.4826 * upper_median([abs(value - middle) for value in self._losses])
            steep = grad_norm > self.GRADIENT_FACTOR * norm
            high = loss - middle > max(self.LOSS_RISE, self.DEVIATIONS * spread)
            if steep and not self._inside:
                report = (f"gradient norm {grad_norm:.4g}, {grad_norm / norm:.3g} times the median {norm:.4g} of the "
                          f"last {len(self._norms)} steps; loss {loss:.4g}")
            elif high and not self._inside:
                report = (f"loss {loss:.4g} nat, {loss - middle:.3g} above the median {middle:.4g} of the last "
                          f"{len(self._losses)} steps")
            self._inside = steep or high
        self._losses = (self._losses + [loss])[-self.KEPT:]
        self._norms = (self._norms + [grad_norm])[-self.KEPT:]
        return report


class Verdict:
    """Classifies a run by its losses in nat. ln_vocab, unigram_entropy: NaN where unknown."""

    def __init__(self, ln_vocab, unigram_entropy):
        self.ln_vocab, self.unigram = ln_vocab, unigram_entropy
        self._losses = []  # the last WINDOW
        self._first = math.nan
        self._best_median = math.inf
        self._best = (math.inf, 0.0, -1)  # mean, its error, step
        self._held = -1
        self._seen = self._above = 0

    def add(self, step, loss):
        """One more step; the text of a divergence that is complete here, or None. Without ln V: of non-finite
        losses and of those above the best median alone."""
        if not math.isfinite(loss):
            return f"step {step} · loss · {loss}"
        self._first = loss if math.isnan(self._first) else self._first
        self._seen += 1
        self._losses = (self._losses + [loss])[-WINDOW:]
        if len(self._losses) < WINDOW:
            return None
        median, mean = upper_median(self._losses), sum(self._losses) / WINDOW
        error = math.sqrt(sum((value - mean) ** 2 for value in self._losses) / (WINDOW * (WINDOW - 1)))
        if mean < self._best[0]:
            self._best = (mean, error, step)
        if mean <= self._collapse_level():
            self._held = step
        by_start = max(self._first, self.ln_vocab if math.isfinite(self.ln_vocab) else self._first) + 1
        by_best = self._best_median + 2
        self._best_median = min(self._best_median, median)
        self._above = self._above + 1 if median > min(by_start, by_best) else 0
        if self._above < PATIENCE or self._seen <= PATIENCE:
            return None
        return (f"step {step} · median of 20 losses {median:.4g} nat, above {min(by_start, by_best):.4g} for "
                f"{PATIENCE} steps")

    def _collapse_level(self):
        return self._best[0] + (self.unigram - self._best[0]) / 4

    def at_end(self, step):
        """(state, step, text) of a run that ended without a divergence."""
        if len(self._losses) < WINDOW:
            if not self._losses:
                return "finished", step, "no step made"
            return "finished", step, f"too short for a verdict, {self._seen} of 20 steps: last loss {self._losses[-1]:.4g} nat"
        mean, median = sum(self._losses) / WINDOW, upper_median(self._losses)
        error = math.sqrt(sum((value - mean) ** 2 for value in self._losses) / (WINDOW * (WINDOW - 1)))
        low, last = min(mean, median), f"last 20 at {mean:.4g} nat"
        if low > self.ln_vocab + 1:
            return "diverged", step, f"step {step} · {last}, above ln V {self.ln_vocab:.4g} + 1 (first loss {self._first:.4g})"
        if not self.unigram > 0:
            return "finished", step, last
        best, best_error, best_step = self._best
        lost = mean - best
        if (best < UNIGRAM_SHARE * self.unigram and low > self._collapse_level()
                and lost > (1 - UNIGRAM_SHARE) * self.unigram and lost > 6 * math.hypot(error, best_error)):
            began = min(self._held + 1, step)
            return "collapsed", began, (f"step {began} · lost {lost:.2g} of the {self.unigram - best:.2g} nat gained: best "
                                        f"{best:.4g} at step {best_step}, {last}, unigram entropy {self.unigram:.4g}")
        if low >= UNIGRAM_SHARE * self.unigram:
            more = "hardly more" if mean < self.unigram else "no more"
            return "stalled", step, f"learned {more} than the unigram: {last}, unigram entropy {self.unigram:.4g}"
        return "finished", step, f"{last}, {self.unigram - mean:.2g} below the unigram entropy {self.unigram:.4g}"
