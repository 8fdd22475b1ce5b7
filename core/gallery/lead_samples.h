// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"
#include "core/session/run_data.h"

#include <vector>

namespace normscope {

/// The two series of a lead, at the steps that both were sampled at.
struct LeadSamples {
    std::vector<double> ahead, after;
};
LeadSamples lead_samples(const GalleryQuantity& lead, const RunData& recorded);

}  // namespace normscope
