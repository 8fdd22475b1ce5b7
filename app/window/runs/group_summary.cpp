// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/group_summary.h"

#include "app/lab/lab.h"
#include "core/findings/held_out_loss.h"
#include "widgets/figures/outcome_word.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/findings/run_numbers.h"
#include "widgets/plots/glyph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace normscope::app {

namespace {

/// "1.82", "1.82 (1.80 – 1.85)": the median of some losses, with the least and the largest.
struct MiddleLoss {
    QString median, range;  ///< empty where there is none
    explicit MiddleLoss(std::vector<double> losses) {
        if (losses.empty()) return;
        std::sort(losses.begin(), losses.end());
        median = widgets::lossText((losses[(losses.size() - 1) / 2] + losses[losses.size() / 2]) / 2);
        if (losses.size() > 1)
            range = QStringLiteral("%1 – %2").arg(widgets::lossText(losses.front()),
                                                  widgets::lossText(losses.back()));
    }
};

/// "Held-out loss: median 1.82 nat (1.80 – 1.85), each the mean of 64 held-out sequences"; with the step
/// where all are of one that is not the shown one. Empty where no run has one.
QString heldOutLine(const std::vector<HeldOutLoss>& all, std::int64_t shown) {
    std::vector<double> losses;
    for (const HeldOutLoss& one : all)
        if (std::isfinite(one.loss)) losses.push_back(one.loss);
    if (losses.empty()) return {};
    const MiddleLoss middle(losses);
    const bool one_step = std::all_of(all.begin(), all.end(),
                                      [&all](const HeldOutLoss& h) { return h.step == all.front().step; });
    QString line = Lab::tr("Held-out loss: median %1 nat").arg(middle.median);
    if (!middle.range.isEmpty()) line += QStringLiteral(" (%1)").arg(middle.range);
    line += Lab::tr(", each the %1").arg(QString::fromStdString(all.front().of_text()));
    if (one_step && all.front().step != shown) line += Lab::tr(", at step %1").arg(all.front().step);
    return one_step ? line : line + Lab::tr(", at the newest step of each");
}

/// Of the probes' batch, in the run's newest sample of the gradients; nullopt where it has none.
std::optional<double> probeBatchLoss(const RunData& run) {
    const auto samples = run.probes.find("gradients");
    if (samples == run.probes.end() || samples->second.empty()) return std::nullopt;
    return widgets::heldOutLossOf(samples->second.back());
}

}  // namespace

GroupSummary groupSummary(const Lab& lab, const widgets::RunGroup& group) {
    GroupSummary summary;
    const int size = static_cast<int>(group.size());
    summary.name = size > 1 ? QStringLiteral("%1 ×%2").arg(group.name).arg(size) : group.name;
    for (const std::size_t i : group.members)
        summary.step = std::max(summary.step, lab.comparison().runs[i].lastStep());
    if (lab.view().step() != LabView::kNewest && summary.step >= 0) summary.step = lab.view().step();
    std::vector<double> losses;
    std::vector<HeldOutLoss> held_out;
    for (const std::size_t i : group.members) {
        const RunData& run = *lab.comparison().runs[i].data;
        const bool before = summary.step < 0;
        const auto loss = before ? probeBatchLoss(run) : widgets::lossAt(run, summary.step);
        summary.draft |= before && loss && lab.comparison().runs[i].drafts.count("gradients") > 0;
        if (loss && std::isfinite(*loss)) losses.push_back(*loss);
        summary.outcomes.push_back(run.outcome.state);
        if (before) continue;
        if (const auto newest = held_out_loss(run, summary.step)) held_out.push_back(*newest);
    }
    summary.held_out = heldOutLine(held_out, summary.step);
    if (!losses.empty()) {
        const MiddleLoss middle(losses);
        summary.loss = middle.median;
        summary.range = middle.range;
        if (static_cast<int>(losses.size()) < size)
            summary.range += (summary.range.isEmpty() ? QString() : QStringLiteral(" · ")) +
                             Lab::tr("%1 of %2 runs").arg(losses.size()).arg(size);
    }
    const bool one = group.outcomes.size() == 1;
    summary.outcome =
        one && size > 1
            ? QStringLiteral("%1 %2").arg(size).arg(widgets::outcomeWord(group.outcomes.front().first))
        : one ? widgets::outcomeWord(group.outcomes.front().first)
              : widgets::outcomeText(group);
    return summary;
}

QString groupTotal(const Lab& lab) {
    return Lab::tr("%1 runs in %2 groups")
        .arg(lab.comparison().runs.size())
        .arg(lab.view().groups().groups.size());
}

QString outcomeTotal(const Lab& lab) {
    std::map<RunState, int> counts;
    for (const LabRun& run : lab.comparison().runs) ++counts[run.data->outcome.state];
    QStringList parts;
    for (const auto& [state, count] : counts)
        parts << QStringLiteral("%1 %2").arg(count).arg(widgets::outcomeWord(state));
    return parts.join(QStringLiteral(", "));
}

}  // namespace normscope::app
