// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The approximate number of rows of all heads in a sample.
inline constexpr std::size_t kThetaRows = 1024;
/// The lowest row among those with at least so many entries is written, if a head has any: shorter rows are
/// uninformative.
inline constexpr std::size_t kThetaLowestLength = 11;
/// The lowest row of every head is written where D·H·n is at most this.
inline constexpr std::size_t kThetaLowestCells = 65536;

/// Softmax sensitivity θ(p) of attention rows with at least two entries ([E] Thm 4.2), per layer and head
/// over the sequences of the batch. Relative: θ ÷ θ of the uniform row of the same length (1, or 1 − 1/L² for
/// an odd one), since exactly uniform attention has θ below 0.99 in every odd row of up to nine entries. All
/// dimensionless:
///   max, mean, below_099 (share of rows with θ < 0.99), prefix_mean (the prefix heuristic of [E] App. E.2, a
///   lower bound of θ), peaked_mean (the bound of [E] Cor. 4.3 (3), corrected: 1 where the largest entry is
///   below 1/2), over_tau (mean θ/τ, the local Lipschitz constant ‖∂p/∂logits‖_{∞→1}), relative_mean,
///   relative_below_099 [D, H];
///   NAME_error of each average: jackknife over the sequences;
///   quantiles [D, H, 5] of the relative θ: minimum, 5 %, 50 %, 95 %, maximum (linear between neighbours);
///   lowest_row [D, H, n]: the probabilities of the row with the lowest relative θ among those of at
///   least kThetaLowestLength entries (among all, where there is no such row); lowest_subset [D, H, n]: 1 in
///   its S*, 0 outside; both NaN beyond the row; lowest_info [D, H, 3] = sequence, row (from 0), θ. Skipped,
///   with the label left_out, where D·H·n > kThetaLowestCells;
///   width []: the widest certificate of any row; NaN under a selection of places.
/// Above kThetaRows rows in all it measures a sample of them (row_sample.h); the label `sampled` states of
/// how many. A head is NaN where no row has two entries, or where any of its probabilities is not finite;
/// shapes do not depend on that.
template <class T>
ProbeResult probe_theta(ProbeInput<T>& input);

ProbeInfo theta_probe();

}  // namespace normscope
