// SPDX-License-Identifier: GPL-3.0-or-later
// Included by one source file per instruction set, compiled with that set's flags.
#pragma once

#include "core/backend/cpu/kernels/attention_kernels.h"
#include "core/backend/row/attention_row.h"

namespace normscope {

template <class L>
struct AttentionKernelSet {
    using T = typename L::scalar;

    static void add_rows(int n, bool causal, int window, const T* p, AttentionRowSums& sums) {
        for (int i = 0; i < n; ++i, p += n) {
            const int length = causal ? i + 1 : n, entries = window > 0 ? std::min(length, window) : length;
            if (entries < 2) continue;
            const row::MassAndEntropy found = row::mass_and_entropy<L>(p, length);
            sums.rows += 1;
            sums.entropy += found.entropy / std::log(static_cast<double>(entries));
            sums.first_mass += static_cast<double>(p[0]) / found.mass;
        }
    }
    static T largest_magnitude(int rows, int n, int first_row, bool causal, const T* s) {
        auto most = L::all(0), undefined = L::all(0);
        for (int r = 0; r < rows; ++r)
            row::collect_magnitudes<L>(s + static_cast<std::size_t>(r) * n, causal ? first_row + r + 1 : n,
                                       most, undefined);
        return L::max(most) + L::sum(undefined);
    }

    static constexpr AttentionKernels<T> table{.add_rows = add_rows, .largest_magnitude = largest_magnitude};
};

}  // namespace normscope
