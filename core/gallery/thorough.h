// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/gallery.h"

#include <string>
#include <vector>

namespace normscope {

/// An entry at one length and size.
struct ThoroughPart {
    std::string name;    ///< "600 steps, 2 × depth"
    std::string folder;  ///< "steps-600_depth-24": below that of the entry
    GalleryEntry entry;
};

/// The thorough protocol: an entry at three lengths (200, 600 and 2000 steps), and at 600 steps with twice
/// the depth and with twice the width; in each of them every arm at its own best of five learning rates, √10
/// apart around that of the entry, and three warm-ups (0, 5 and 10 % of the steps), chosen on two seeds that
/// do not judge. A key that the entry's grid has is not chosen. An entry about initial weights (one step at
/// most) has no lengths and chooses nothing. Ordered by size: the last part is the largest.
std::vector<ThoroughPart> thorough_parts(const GalleryEntry& entry);

/// Operations of all runs of an entry that are trained, without probes; of a choice by the mean run.
double training_operations(const GalleryEntry& entry);

}  // namespace normscope
