// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/group_summary.h"

#include "app/lab/lab.h"
#include "core/findings/findings.h"
#include "widgets/plots/glyph.h"

#include <algorithm>

namespace normscope::app {

GroupSummary groupSummary(const Lab& lab, const widgets::RunGroup& group) {
    GroupSummary summary;
    const int size = static_cast<int>(group.size());
    summary.name = size > 1 ? QStringLiteral("%1 ×%2").arg(group.name).arg(size) : group.name;
    std::vector<double> losses;
    for (const std::size_t i : group.members)
        if (const auto loss = recent_loss(*lab.runs()[i].data, lab.step())) losses.push_back(loss->mean);
    std::sort(losses.begin(), losses.end());
    const auto text = [](double loss) { return QString::number(loss, 'f', 2); };
    if (!losses.empty()) {
        summary.loss = text((losses[(losses.size() - 1) / 2] + losses[losses.size() / 2]) / 2);
        if (losses.size() > 1)
            summary.range = Lab::tr("%1 to %2").arg(text(losses.front()), text(losses.back()));
        if (static_cast<int>(losses.size()) < size)
            summary.range += (summary.range.isEmpty() ? QString() : QStringLiteral(" · ")) +
                             Lab::tr("%1 of %2 runs").arg(losses.size()).arg(size);
    }
    const bool one = group.outcomes.size() == 1;
    summary.outcomes =
        one && size > 1
            ? QStringLiteral("%1 %2").arg(size).arg(widgets::outcomeWord(group.outcomes.front().first))
        : one ? widgets::outcomeWord(group.outcomes.front().first)
              : widgets::outcomeText(group);
    return summary;
}

QString groupHtml(const GroupSummary& summary, const QColor& colour) {
    QString html = QStringLiteral("<div style='font-size: 11px'><b style='color: %1'>%2</b></div>")
                       .arg(colour.name(), summary.name.toHtmlEscaped());
    if (!summary.loss.isEmpty())
        html += QStringLiteral(
                    "<div style='font-size: 18px; font-weight: 600'>%1"
                    "<span style='font-size: 11px; font-weight: 400'> nat%2</span></div>")
                    .arg(summary.loss, summary.range.isEmpty() ? QString() : ", " + summary.range);
    return html +
           QStringLiteral("<div style='font-size: 11px'>%1</div>").arg(summary.outcomes.toHtmlEscaped());
}

}  // namespace normscope::app
