// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/findings.h"
#include "widgets/figures/figure.h"

#include <cstddef>

namespace normscope::widgets {

/// The values of one measure of an entry, with its effect, interval and verdict:
///   scatter             the points on logarithmic axes, a series each cell and quantity
///   difference, ratio   each seed's two arms, joined
///   a lead              the correlation at each lag, a curve each seed, and the level of chance,
///                       median of the seeds
///   other values        a dot each seed, and the paper's limit
/// A figure without plots states why in empty_text. `measure` is an index. Pure.
Figure galleryFigure(const GalleryEntry& entry, const GalleryResult& result, std::size_t measure);

}  // namespace normscope::widgets
