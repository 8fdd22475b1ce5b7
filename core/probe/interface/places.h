// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"
#include "core/recipe/place_selection.h"

namespace normscope {

/// Whether any array of the probe has entries of its own for places of the stack, so that a selection can
/// exclude some.
bool has_places(const ProbeInfo& probe);

/// Sets the entries of places that are not selected to NaN, their errors too, and kNeedsAll arrays as a
/// whole; adds the label `only`. Nothing where everything is selected or the probe has no places.
void apply_selection(const ProbeInfo& probe, const PlaceSelection& selection, ProbeResult& result);

/// The shares for operation counts, from the depth and the matrices of a feed-forward sub-layer alone.
SelectedParts selected_parts(const PlaceSelection& selection, const ProbeShape& shape);

/// Of one sample of the probe under a selection, without the shared passes.
double selected_operations(const ProbeInfo& probe, ProbeShape shape, const PlaceSelection& selection);

}  // namespace normscope
