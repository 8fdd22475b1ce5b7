# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of the sequences of a batch, as Normscope's own probes take them."""

import numpy as np


def jackknife(sums, statistic):
    """Value of a statistic of sums and its standard error (delete-one jackknife; Efron and Stein 1981).

    sums: array [sequences, ...], the contribution of each sequence to every term.
    statistic(totals, count): of the totals over `count` sequences; must accept a leading axis of totals.
    Returns (value, error); the error is NaN with fewer than two sequences. Float64.
    """
    sums = np.asarray(sums, dtype=np.float64)
    sequences = sums.shape[0]
    totals = sums.sum(axis=0)
    with np.errstate(all="ignore"):
        value = np.asarray(statistic(totals[None], sequences), dtype=np.float64)[0]
        if sequences < 2:
            return value, np.full_like(value, np.nan)
        without = np.asarray(statistic(totals[None] - sums, sequences - 1), dtype=np.float64)
        spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return value, np.sqrt((sequences - 1) / sequences * spread)


def mean_of_sequences(values):
    """Mean of values [sequences, ...] and its standard error."""
    return jackknife(values, lambda total, count: total / count)


def upper_median(values):
    """The middle value, of an even count the upper one of the middle two."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
