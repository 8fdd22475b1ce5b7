// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/gradient_ribbons.h"

#include "widgets/figures/groups/group_statistics.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"

#include <limits>
#include <map>

namespace normscope::widgets {
namespace {

struct Measured {
    std::int64_t step;
    Curve curve;
};

/// By run.
std::map<std::size_t, Measured> measuredRuns(const PanelInput& input) {
    std::map<std::size_t, Measured> runs;
    for (const ShownSample& shown : shownSamples(input, "gradients")) {
        if (!shown.own()) continue;
        auto profile = hiddenProfile(*shown.sample, "hidden");
        if (!profile) continue;
        Measured& run = runs[static_cast<std::size_t>(shown.index)];
        run.step = shown.sample->step;
        run.curve.x = std::move(profile->x);
        run.curve.y = std::move(profile->y);
    }
    return runs;
}

/// The step of most samples, the later of two.
std::int64_t commonStep(const std::map<std::size_t, Measured>& runs) {
    std::map<std::int64_t, int> counts;
    for (const auto& [run, measured] : runs) ++counts[measured.step];
    std::int64_t best = -1;
    for (const auto& [step, count] : counts)
        if (best < 0 || count >= counts[best]) best = step;
    return best;
}

}  // namespace

std::vector<Ribbon> gradientRibbons(const PanelInput& input, const RunGroups& groups) {
    const std::map<std::size_t, Measured> runs = measuredRuns(input);
    const std::int64_t common = commonStep(runs);
    std::vector<Ribbon> ribbons;
    for (const RunGroup& group : groups.groups) {
        Ribbon ribbon;
        ribbon.index = static_cast<int>(ribbons.size());
        ribbon.runs = static_cast<int>(group.size());
        ribbon.name = group.size() > 1 ? QStringLiteral("%1 ×%2").arg(group.name).arg(group.size())
                                       : nameOf(*input.runs[group.members.front()]);
        std::map<std::int64_t, std::vector<const Curve*>> by_step;
        for (const std::size_t member : group.members)
            if (const auto found = runs.find(member); found != runs.end())
                by_step[found->second.step].push_back(&found->second.curve);
        if (!by_step.empty()) {
            const auto of = by_step.count(common) ? by_step.find(common) : std::prev(by_step.end());
            ribbon.step = of->first;
            ribbon.aged = input.shownStep() != std::numeric_limits<std::int64_t>::max() &&
                          ribbon.step != input.shownStep();
            ribbon.gradient = groupCurve(of->second, Spread::None, Scale::Log).median;
        }
        ribbons.push_back(std::move(ribbon));
    }
    return ribbons;
}

}  // namespace normscope::widgets
