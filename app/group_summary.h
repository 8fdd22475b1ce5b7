// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>

namespace normscope::widgets {
struct RunGroup;
}

namespace normscope::app {

class Lab;

/// What the runs of a group reached at the shown step: the median of their losses (each the mean of its last
/// 20 finite ones), the lowest and the highest, and how many of them have which outcome.
struct GroupSummary {
    QString name;      ///< "Post-LN ×3"
    QString loss;      ///< "2.87"; empty where no run has one
    QString range;     ///< "2.86 to 2.88"; of fewer runs than the group has, their number too
    QString outcomes;  ///< "2 of 3 stalled", "3 finished"
};
GroupSummary groupSummary(const Lab& lab, const widgets::RunGroup& group);

/// As rich text of three lines for the findings band.
QString groupHtml(const GroupSummary& summary, const QColor& colour);

}  // namespace normscope::app
