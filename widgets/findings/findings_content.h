// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/draft.h"
#include "widgets/findings/findings_column.h"
#include "widgets/findings/remedy_table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace normscope::widgets {

/// What can be tried with a failed run, for RemedyBox.
struct RemedyContent {
    /// A change of the recipe whose draft is done.
    struct Choice {
        std::size_t index;  ///< among all remedies of the run
        QString name, sentence;
        QString reason;  ///< what was measured that points to it; may be empty
        DraftResult draft;
        /// The step at which its run branches off the failed one; nullopt: it begins at step 0.
        std::optional<std::int64_t> branch_step = {};
    };
    std::string run;                        ///< id of the failed run
    int hue = 0;                            ///< index of its colour
    int depth = 0;                          ///< layers
    DraftControl control;                   ///< its own first steps
    QString obstacle;                       ///< why no remedy can be tried, in one line; empty if they can
    std::size_t all = 0;                    ///< remedies
    std::size_t made = 0;                   ///< of these, with a draft
    bool requested = false;                 ///< the drafts are, or were, made
    double seconds = 0;                     ///< that all drafts take
    std::vector<Choice> shown, not_enough;  ///< both in the order of the list, which is no ranking
    std::vector<std::string> tried;         ///< ids of the runs of "Try all"
    std::vector<RemedyTable::Row> rows;     ///< the failed run, then those tried; empty where none was tried
};

/// What FindingsBand shows of the groups of runs; a run without other seeds is a group by itself.
struct FindingsContent {
    QStringList names;               ///< of each group
    std::vector<std::size_t> order;  ///< the groups, the one that gets a column first at the front
    /// The column of a group. Called for those that fit, while refresh() of the band lasts.
    std::function<ColumnContent(std::size_t group)> column;
    QStringList key;  ///< the lines of GroupKey; empty where no two runs are in one group
    std::optional<RemedyContent> remedies;
};

}  // namespace normscope::widgets
