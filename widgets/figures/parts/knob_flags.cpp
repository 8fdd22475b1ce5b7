// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/knob_flags.h"

#include "widgets/figures/parts/panel_text.h"

#include <QStringList>
#include <algorithm>

namespace normscope::widgets {

namespace {

/// "weight decay 0.1 → 0.2"
void parseChange(const QString& text, Flag& flag) {
    const QStringList ends = text.split(QStringLiteral(" → "));
    const qsizetype blank = ends[0].lastIndexOf(u' ');
    if (ends.size() != 2 || blank <= 0) {
        flag.what = text;
        return;
    }
    flag.what = ends[0].left(blank);
    flag.from = ends[0].mid(blank + 1);
    flag.to = ends[1];
}

}  // namespace

void addKnobFlags(Plot& plot, const RunData& run, int index, double from) {
    for (const RunEvent& event : run.events) {
        if (event.kind != "knob" || double(event.step) < from) continue;
        for (const QString& change : QString::fromStdString(event.text).split(QStringLiteral(", "))) {
            Flag flag;
            flag.x = double(event.step);
            flag.name = nameOf(run);
            flag.role = {Role::Kind::Run, index, 0};
            parseChange(change, flag);
            plot.flags.push_back(std::move(flag));
        }
    }
    std::stable_sort(plot.flags.begin(), plot.flags.end(),
                     [](const Flag& a, const Flag& b) { return a.x < b.x; });
}

QString describedFlags(const Plot& plot) {
    constexpr std::size_t kMaxDescribed = 8;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(plot.flags.size(), kMaxDescribed); ++i) {
        const Flag& flag = plot.flags[i];
        parts << QString("%1 %2 at step %3").arg(flag.name, flag.text(), numberText(flag.x, 10));
    }
    if (plot.flags.size() > kMaxDescribed)
        parts << QString("%1 more changes").arg(plot.flags.size() - kMaxDescribed);
    return parts.join(", ");
}

}  // namespace normscope::widgets
