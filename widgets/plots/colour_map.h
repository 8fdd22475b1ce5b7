// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

namespace normscope::widgets {

/// Cividis, the map that is perceived alike with and without colour blindness (Nuñez, Anderton, Renslow, PLOS
/// ONE 2018), by the polynomial fit of d3-scale-chromatic. t is clamped to [0, 1]; dark blue → yellow.
/// Requires a finite t.
QColor cividis(double t);

/// Layers and other ordered curves: 10–90 % of cividis, so that both ends contrast with the background;
/// reversed on dark.
QColor sequentialColour(double position, bool dark);

/// Blue at −1, grey at 0, orange at +1; t is clamped. Requires a finite t.
QColor divergingColour(double t, bool dark);

/// Relative luminance (WCAG 2): 0 black … 1 white.
double luminance(const QColor& colour);

/// Contrast ratio (WCAG 2): 1 … 21; text needs 4.5.
double contrast(const QColor& a, const QColor& b);

/// Black or white, whichever reads better on this colour.
QColor textOn(const QColor& background);

/// The colour, moved towards black or white as far as text on this background needs (contrast 4.5).
QColor readable(const QColor& colour, const QColor& background);

/// a + t (b − a) in sRGB.
QColor blend(const QColor& a, const QColor& b, double t);

}  // namespace normscope::widgets
