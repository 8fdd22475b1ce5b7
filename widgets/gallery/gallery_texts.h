// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/gallery/gallery_state.h"

#include <QRectF>
#include <QString>
#include <array>
#include <utility>
#include <vector>

class QColor;
class QPainter;

namespace normscope::app {

class GalleryRuns;
using widgets::GalleryState;

/// In the order of the texts.
inline constexpr std::array kGalleryVerdicts = {GalleryVerdict::AsPaper, GalleryVerdict::Opposite,
                                                GalleryVerdict::NotSeen, GalleryVerdict::NotMeasured};
/// "not seen at this scale".
QString verdictText(GalleryVerdict verdict);
/// A shape for each verdict: ✓ as the paper, ✕ opposite, an interval across a limit for not seen, a ring for
/// not measured. Inside the largest centred square of `rect`.
void paintVerdict(QPainter& painter, const QRectF& rect, GalleryVerdict verdict, const QColor& colour);

/// How many measures have each verdict, those without any skipped. An entry without findings: all are not
/// measured.
std::vector<std::pair<GalleryVerdict, std::size_t>> verdictCounts(const GalleryEntry& entry,
                                                                  const GalleryState& state);
/// "2 as the paper".
QString countText(const std::pair<GalleryVerdict, std::size_t>& count);

/// "10 runs · not run", "running 7 of 10", "10 runs · measured", "4 of 10 runs".
QString stateText(const GalleryEntry& entry, const GalleryRuns& runs);
/// "Emadi · Figure 1, top left".
QString sourceText(const GalleryEntry& entry);

/// A sweep in words: what the runs have in common, a line; what varies, a line a key; the number of runs.
QStringList sweepLines(const SweepSpec& sweep);

}  // namespace normscope::app
