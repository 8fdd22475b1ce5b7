// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

namespace normscope {

/// Singular values, descending, of the per-token block ∂(last token out)/∂(last token in) of sequence 0, in the
/// back-propagated sense ([N] §3–6): sublayer_sv [2D, d], layer_sv [D, d], end_to_end_sv [d] (final norm and head not
/// included); branch_norm [2D] = ‖J − a·I‖₂ where there is no post norm, else NaN: σ_min ≥ 1 − ‖A‖ for a = 1 ([N] Thm 4.6).
/// The theorems speak of maps R^d → R^d: exact for the feed-forward sub-layer, the diagonal block for attention.
template <class T>
ProbeResult probe_jacobian(ProbeInput<T>& input);

}  // namespace normscope
