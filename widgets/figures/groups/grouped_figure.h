// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/groups/group_statistics.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/figures/runs/run_group.h"

namespace normscope::widgets {

/// More groups than these are drawn as small multiples: a plot each, the medians of the others in grey.
inline constexpr std::size_t kMaxGroupsInOnePlot = 6;

struct GroupDrawing {
    Spread spread = Spread::MinMax;
    bool ratio = false;      ///< the strip of each median over that of the first group
    bool multiples = false;  ///< small multiples for any number of groups
};

/// Whether groupedFigure() draws the panel with these options (resolved).
bool isGroupable(const PanelInfo& panel, const PanelOptions& options);

/// A panel's figure of single runs, redrawn with one median and band a group. Curves of runs are matched by
/// what they show (loss, held-out loss, a layer); a plot per run becomes a plot per group. Medians are over
/// samples of one step: the one that most runs show; notes under the plots state what they are medians of,
/// how many runs of a group have which outcome, and where fewer runs have a value. What belongs to a single
/// run alone is omitted: bounds, error bands, end marks and its chips. Where the runs' floors differ (data
/// drawn by seed), the median floor is drawn.
///
/// `runs` are those of the figure's roles. Throws InputError for a panel, or an option of it, that does not
/// draw curves over depth or steps alone, with the panels that do.
Figure groupedFigure(const PanelInfo& panel, const PanelInput& input, const RunGroups& groups,
                     const GroupDrawing& drawing);

}  // namespace normscope::widgets
