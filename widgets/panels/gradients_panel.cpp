// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/gradients_panel.h"

#include "core/model/gradient_ratio.h"
#include "widgets/panels/depth_figure.h"
#include "widgets/panels/panel_text.h"

#include <cmath>

namespace normscope::widgets {

namespace {

/// The same for the parameters of a whole layer: the norm over its attention and FFN tensors.
std::optional<double> parameterRatio(const ProbeResult& sample) {
    const auto p = sublayerProfile(sample, "params");
    if (!p || p->depth < 2) return std::nullopt;
    const std::size_t n = p->y.size();
    return std::hypot(p->y[0], p->y[1]) / std::hypot(p->y[n - 2], p->y[n - 1]);
}

}  // namespace

std::optional<double> gradientRatio(const ProbeResult& sample) {
    const auto p = hiddenProfile(sample, "hidden");
    if (!p || p->depth < 2) return std::nullopt;
    return gradient_ratio(p->y);
}

PanelInfo gradientsPanel() {
    return {"gradients",
            "Gradients by depth",
            {{"quantity", "Quantity", {"hidden", "params"}}, depthOrStepOption()},
            &buildGradients};
}

Figure buildGradients(const PanelInput& input) {
    const PanelInfo panel = gradientsPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const bool hidden = options.at("quantity") == "hidden";

    Figure figure = startFigure(panel);
    figure.quantity = hidden ? "‖∂L/∂h‖" : "‖∂L/∂W‖";
    figure.formula = hidden ? "‖∂L/∂h_k‖_F over the held-out batch, L the mean cross-entropy"
                            : "L2 norm of ∂L/∂parameters over the tensors of one sub-layer";
    figure.source = "Emadi, Theorems 5.4 and 5.5; GPAS, Section 5.3";
    figure.erratum =
        "Emadi, Theorem 5.5 (ii) names only the direction 1 as lost in a LayerNorm; the normalised vector is "
        "lost too.";

    const ProfileOf profile = [hidden](const ProbeResult& sample) {
        return hidden ? hiddenProfile(sample, "hidden") : sublayerProfile(sample, "params");
    };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.id, profile);
        return figure;
    }
    drawOverDepth(figure, input, panel.id, profile);
    if (figure.plots.empty()) return figure;
    QStringList parts;
    for (const ShownSample& shown : shownSamples(input, panel.id)) {
        if (!shown.own()) continue;
        const auto ratio = hidden ? gradientRatio(*shown.sample) : parameterRatio(*shown.sample);
        if (!ratio) continue;
        const QString name = nameOf(*shown.run);
        // The step table's grad_ratio is the same number on the training batch.
        figure.plots.front().chips.push_back({Chip::Edge::TopRight,
                                              QString("%1 first/last %2, held-out").arg(name, brief(*ratio)),
                                              Role{Role::Kind::Run, shown.index, 0}});
        const int depth = profile(*shown.sample)->depth;
        parts << QString("%1: gradient changes by a factor of %2 from layer %3 to 1")
                     .arg(name, brief(*ratio))
                     .arg(depth);
    }
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
