// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

#include <span>
#include <string>

namespace normscope::widgets {

/// The panel that draws the quantity of a claim, and its options.
struct ClaimPlace {
    const char* claim;  ///< "K07"
    const char* panel;
    PanelOptions options;
};

/// In the order of the papers; claims without a panel of their quantity have none.
std::span<const ClaimPlace> claimPlaces();
/// Null: none.
const ClaimPlace* claimPlace(const std::string& claim);

}  // namespace normscope::widgets
