// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/row_kernels.h"

namespace normscope {

/// Sums over the rows of attention maps that have two entries or more.
struct AttentionRowSums {
    double rows = 0;
    double entropy = 0;     ///< Σ of −Σ p ln p ÷ ln(entries) of each row, divided by its sum
    double first_mass = 0;  ///< Σ of each row's first entry, divided by the row's sum
};

/// Reductions over attention maps for probes, one table per instruction set; not used by passes.
template <class T>
struct AttentionKernels {
    /// Adds the rows of one map [n, n] of probabilities, zero where a causal map is masked. With a window
    /// (else 0) a row has at most that many entries. NaN where an entry is.
    void (*add_rows)(int n, bool causal, int window, const T* p, AttentionRowSums& sums);
    /// max |s| over the first first_row + r + 1 entries (causal) or all n of row r of [rows, n]; NaN where
    /// one of them is not finite.
    T (*largest_magnitude)(int rows, int n, int first_row, bool causal, const T* s);
};

template <class T>
const AttentionKernels<T>& attention_kernels(Isa isa = best_isa());

}  // namespace normscope
