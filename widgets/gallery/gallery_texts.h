// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/recipe_distance.h"
#include "widgets/figures/gallery/gallery_state.h"

#include <QString>
#include <array>
#include <utility>
#include <vector>

namespace normscope::widgets {

/// An entry of the gallery as its drawer shows it. A plain value.
struct GalleryRow {
    GalleryEntry entry;
    GalleryState state;
    bool running = false, stopping = false;  ///< its runs are in training; they are being stopped
    std::size_t ended = 0;                   ///< of the runs in training
    QString obstacle = {};                   ///< why it cannot be trained now, in one line; empty: it can

    QString id() const { return QString::fromStdString(entry.id); }
};

/// In the order of the texts.
inline constexpr std::array kGalleryVerdicts = {GalleryVerdict::AsPaper,    GalleryVerdict::Opposite,
                                                GalleryVerdict::Smaller,    GalleryVerdict::NotSeen,
                                                GalleryVerdict::CannotTell, GalleryVerdict::NotMeasured};
/// "not seen".
QString verdictText(GalleryVerdict verdict);
/// How many measures have each verdict, those without any skipped. An entry without findings: all are not
/// measured.
std::vector<std::pair<GalleryVerdict, std::size_t>> verdictCounts(const GalleryRow& row);
/// "2 as the paper".
QString countText(const std::pair<GalleryVerdict, std::size_t>& count);

/// "10 runs · not run", "running 7 of 10", "10 runs · measured", "4 of 10 runs".
QString stateText(const GalleryRow& row);
/// "Emadi · Figure 1, top left".
QString sourceText(const GalleryEntry& entry);

/// A sweep in words: what the runs have in common, a line; what varies, a line a key; the number of runs.
QStringList sweepLines(const SweepSpec& sweep);

/// "stack.scheme=post at optimizer.lr=0.01: median final loss 1.6 nat over 5 seeds, 5 below the entropy of
/// token pairs". Of an arm with a loss.
QString armText(const GalleryArm& arm);

/// The recipe of the paper next to that of the entry, as a table in HTML; empty without rows.
QString distanceTable(const std::vector<RecipeDistance>& rows);

}  // namespace normscope::widgets
