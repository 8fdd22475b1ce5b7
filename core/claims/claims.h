// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim.h"
#include "core/claims/claim_input.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// All claims: E01 …, N01 …, G01 …, B01 …, K01 ….
std::span<const Claim> claims();
const Claim* find_claim(const std::string& id);  ///< nullptr when unknown

/// The claims of a list of ids and papers' letters ("E01", "N"), in the order of claims(); all where the list
/// is empty. Throws InputError, one line with what is allowed; `where` begins it.
std::vector<const Claim*> selected_claims(const std::vector<std::string>& ids, const std::string& where);

/// Measures one claim. What this stack does not allow (a number that is not finite, a map that is too large)
/// makes it unknown, with the reason. May throw Cancelled.
ClaimResult check_claim(const Claim& claim, ClaimInput& input);

}  // namespace normscope
