// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/gradients_panel.h"

#include "core/model/gradient_ratio.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/gradient_factors.h"
#include "widgets/figures/parts/panel_text.h"

#include <cmath>

namespace normscope::widgets {

GradientQuantity gradientQuantity(const std::string& option) {
    if (option == "hidden")
        return {"‖∂L/∂h‖", "‖∂L/∂h_k‖_F over the held-out batch, L the mean cross-entropy", "gradient"};
    if (option == "scaled")
        return {"‖h‖·‖∂L/∂h‖",
                "‖h_k‖_F·‖∂L/∂h_k‖_F over the held-out batch, L the mean cross-entropy; the change of L for "
                "a relative change of h_k along its gradient; it does not depend on the scale of h",
                "scale-free gradient"};
    if (option == "params")
        return {"‖∂L/∂W‖",
                "L2 norm of ∂L/∂parameters over the tensors of one sub-layer; L the mean cross-entropy of "
                "the held-out batch",
                "gradient of the parameters"};
    if (option == "tokens")
        return {
            "‖g_k‖ ÷ ‖g_2D‖, median token",
            "median and quartiles of ‖g_k‖/‖g_2D‖ over the tokens of the held-out batch; g_k = ∂L/∂h_k of "
            "one token, L the mean cross-entropy. The norm over all tokens is that of the largest: token "
            "1 alone may carry nine tenths of it",
            "median token's gradient"};
    return {"‖∂L/∂h₀‖ ÷ ‖∂L/∂h_k‖",
            "products over the sub-layers 1 … k of the factors of ‖∂L/∂h‖ in the backward pass; held-out "
            "batch.\n"
            "norms: ‖g_z‖/‖g_{k+1}‖, z the residual sum (post norm and output gate); shortcuts: |a|, times "
            "the factor of a gate on the shortcut or the input; branches: ‖g_k‖/‖shortcut's part‖, what the "
            "branch's Jacobian gives back. The three multiply to ‖g_k‖/‖g_{k+1}‖ exactly. Parallel layers: "
            "attention's factor is that of both branches.",
            "gradient"};
}

std::optional<Profile> gradientProfile(const ProbeResult& sample, const std::string& quantity) {
    if (quantity == "tokens") {
        auto profile = hiddenProfile(sample, "median_token");
        if (!profile) return profile;
        for (const auto& [array, quartile] :
             {std::pair{"lower_quartile", &profile->low}, std::pair{"upper_quartile", &profile->high}})
            if (const NamedArray* a = arrayOf(sample, array, 1)) *quartile = a->data;
        return profile;
    }
    return quantity == "params" ? sublayerProfile(sample, quantity) : hiddenProfile(sample, quantity);
}

void nameGradientSource(Figure& figure) {
    figure.source = "Emadi, Theorems 5.4 and 5.5; GPAS, Section 5.3";
    figure.erratum =
        "Emadi, Theorem 5.5 (ii) names only the direction 1 as lost in a LayerNorm; the normalised vector is "
        "lost too.";
}

namespace {

/// Layer 1 over layer D of the shown quantity; of the parameters, the norm over a layer's attention and FFN
/// tensors.
std::optional<double> ratioOf(const ProbeResult& sample, const std::string& quantity) {
    const auto p = gradientProfile(sample, quantity);
    if (!p || p->depth < 2) return std::nullopt;
    const std::size_t n = p->y.size();
    if (quantity == "params") return std::hypot(p->y[0], p->y[1]) / std::hypot(p->y[n - 2], p->y[n - 1]);
    return gradient_ratio(p->y);
}

/// " · token 1 carries 91 %" of the squared norm after layer 1; empty where the sample does not say.
QString firstTokenShare(const ProbeResult& sample) {
    const NamedArray* share = arrayOf(sample, "first_token_share", 1);
    if (!share || share->data.size() < 3 || !std::isfinite(share->data[2])) return {};
    return QString(" · token 1 carries %1 %").arg(brief(100 * share->data[2]));
}

}  // namespace

std::optional<double> gradientRatio(const ProbeResult& sample) {
    return ratioOf(sample, "hidden");
}

PanelInfo gradientsPanel() {
    return {
        "gradients",
        "Gradients by depth",
        {"gradients", "residual", "transport"},
        {{"quantity", "Quantity", {"hidden", "tokens", "scaled", "params", "factors"}}, depthOrStepOption()},
        &buildGradients,
        false,
        true};
}

Figure buildGradients(const PanelInput& input) {
    const PanelInfo panel = gradientsPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& quantity = options.at("quantity");
    const GradientQuantity shown_quantity = gradientQuantity(quantity);

    Figure figure = startFigure(panel);
    figure.quantity = shown_quantity.name;
    figure.formula = shown_quantity.formula;
    nameGradientSource(figure);

    if (quantity == "factors") {
        drawGradientFactors(figure, input);
        return figure;
    }
    const std::string probe = quantity == "tokens" ? "transport" : panel.probes.front();
    const ProfileOf profile = [&](const ProbeResult& sample) { return gradientProfile(sample, quantity); };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, probe, profile);
        return figure;
    }
    drawOverDepth(figure, input, probe, profile, quantity == "tokens" ? "median_token" : quantity);
    if (figure.plots.empty()) return figure;
    QStringList parts;
    std::vector<Chip> ratios;
    for (const ShownSample& shown : shownSamples(input, probe)) {
        if (!shown.own()) continue;
        const auto ratio = ratioOf(*shown.sample, quantity);
        // Under a selection of places, NaN is an end that was not measured.
        if (!ratio || (std::isnan(*ratio) && !shown.sample->only().empty())) continue;
        const QString name = nameOf(*shown.run);
        const int depth = profile(*shown.sample)->depth;
        const QString share = firstTokenShare(*shown.sample);
        ratios.push_back({Chip::Edge::TopRight,
                          QString("%1, layer 1 over %2: %3%4").arg(name).arg(depth).arg(brief(*ratio), share),
                          Role{Role::Kind::Run, shown.index, 0}});
        parts << QString("%1: %2 changes by a factor of %3 from layer %4 to 1%5")
                     .arg(name, shown_quantity.of, brief(*ratio))
                     .arg(depth)
                     .arg(share);
    }
    addRunTexts(figure.plots.front(), ratios);
    figure.subtitle += " · held-out batch";
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
