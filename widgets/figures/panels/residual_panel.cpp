// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/residual_panel.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

/// An array [2D] over sub-layers, each at the x of the hidden state that it produces.
std::optional<Profile> branchProfile(const ProbeResult& sample, const std::string& array) {
    const NamedArray* a = arrayOf(sample, array, 1);
    if (!a || a->data.size() % 2 != 0) return std::nullopt;
    Profile profile;
    profile.depth = int(a->data.size() / 2);
    profile.y = a->data;
    for (int k = 1; k <= int(a->data.size()); ++k) profile.x.push_back(depthX(k));
    return profile;
}

QString described(const ShownSample& shown, const Profile& profile, const QString& what) {
    double low = INFINITY, high = -INFINITY;
    for (const double v : profile.y)
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    const QString range = low <= high ? brief(low) + " to " + brief(high) : QString("not defined");
    return QString("%1: %2 %3").arg(nameOf(*shown.run), what, range);
}

}  // namespace

PanelInfo residualPanel() {
    return {"residual",
            "Branch and stream",
            {"residual"},
            {{"quantity", "Quantity", {"branch_ratio", "branch_cosine"}}, depthOrStepOption()},
            &buildResidual,
            false,
            true};
}

Figure buildResidual(const PanelInput& input) {
    const PanelInfo panel = residualPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& array = options.at("quantity");
    const bool cosine = array == "branch_cosine", over_steps = options.at("x") == "step";

    Figure figure = startFigure(panel);
    figure.quantity = cosine ? "cos(branch, x)" : "‖branch‖ ÷ ‖x‖";
    figure.formula =
        (cosine ? QString("mean over the tokens of the held-out batch of cos(Δt·b·λ∘y, x)")
                : QString("mean over the tokens of the held-out batch of ‖Δt·b·λ∘y‖₂/‖x‖₂")) +
        "; y the branch's output after its norm (times 1 − act(g) under a gate on the branch); x the hidden "
        "state that it joins, without the shortcut's factor a. " +
        (cosine ? "In a high dimension unrelated vectors have a cosine near 0, with a spread of 1/√d."
                : "Far below 1 the shortcut dominates the sum, far above 1 the branch.");
    figure.source = "Kan et al., eq. 8; Baek, Theorem 2";

    const ProfileOf profile = [&](const ProbeResult& sample) { return branchProfile(sample, array); };
    if (over_steps) {
        drawOverSteps(figure, input, panel.probes.front(), profile);
    } else {
        drawOverDepth(figure, input, panel.probes.front(), profile, array);
        QStringList parts;
        for (const ShownSample& shown : shownSamples(input, panel.probes.front()))
            if (shown.own())
                if (const auto p = profile(*shown.sample)) parts << described(shown, *p, figure.quantity);
        if (!figure.plots.empty())
            figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    }
    if (cosine) makeLinear(figure, over_steps);
    return figure;
}

}  // namespace normscope::widgets
