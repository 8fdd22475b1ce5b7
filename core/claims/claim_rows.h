// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"

#include <span>

namespace normscope {

// The rows of the table, one file per subject; a new claim is a row there.
std::span<const Claim> softmax_claims();     ///< θ, the softmax Jacobian, attention scores
std::span<const Claim> norm_claims();        ///< one norm at one token
std::span<const Claim> null_space_claims();  ///< what Post-LN and Pre-LN lose
std::span<const Claim> residual_claims();    ///< I + A, its condition number, products over depth
std::span<const Claim> growth_claims();      ///< the size of the hidden state over depth
std::span<const Claim> gradient_claims();    ///< gradients over depth
std::span<const Claim> scaling_claims();     ///< initialisation over depth, scaled weights
std::span<const Claim> gate_claims();        ///< GPAS
std::span<const Claim> lipschitz_claims();   ///< bounds of a layer, the sensitivity S
std::span<const Claim> shift_claims();       ///< the distribution of hidden states over inputs
std::span<const Claim> precision_claims();   ///< short formats, arithmetic on published numbers
std::span<const Claim> fragility_claims();   ///< the experiments of [B]
std::span<const Claim> training_claims();    ///< what only recorded runs can show

}  // namespace normscope
