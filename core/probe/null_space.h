// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The effect of every norm of the stack on a gradient ([N] §2), per norm site; label `sites` names them in
/// forward order:
///
///   gain             mean over tokens of 1/σ_ε
///   erased_backward  the share of the energy of ∂loss/∂(norm output) in ker Jᵀ
///   erased_forward   the share of the branch δ = Δt·b·y in ker J, at the post norm where δ was added to the
///                    stream (NaN at other sites)
///   epsilon_share    mean over tokens of ε/(var + ε) (RMSNorm: ε/(mean(x²) + ε)): the part of what the norm
///                    divides by that is ε, and the factor by which the direction ẑ passes; near 1 ε
///                    dominates the norm
///   bf16_rho_ln, fp16_rho_ln    ρ_LN (theory/norm_precision.h) of the median token variance, were the norm
///                               computed in
///                    that format; NaN where ε = 0
///
/// each [sites]; the first four with their jackknife error over the sequences (NAME_error). Energies are
/// summed over tokens; the null spaces are those of ε = 0 (theory/norm_jacobian.h). NaN where an activation
/// or a gradient is not finite.
template <class T>
ProbeResult probe_null_space(ProbeInput<T>& input);

ProbeInfo null_space_probe();

}  // namespace normscope
