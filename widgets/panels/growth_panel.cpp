// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/growth_panel.h"

#include "widgets/panels/comparison.h"
#include "widgets/panels/depth_figure.h"
#include "widgets/panels/panel_text.h"

namespace normscope::widgets {

namespace {

struct Quantity {
    QString name, formula;
    std::string bound;  // the array that bounds it; empty = none
};

Quantity quantityOf(const std::string& id) {
    // RMS = ‖X‖_F/√(nd) ≤ R_k/√(nd), the same number that bounds MA (Cauchy–Schwarz: MA ≤ RMS).
    if (id == "rms") return {"RMS of the hidden state", "RMS(X) = ‖X‖_F / √(n·d) ≤ R_k / √(n·d)", "bound_ma"};
    if (id == "ma")
        return {"mean |x| of the hidden state", "MA(X) = Σ|x_ij| / (n·d) ≤ R_k / √(n·d)", "bound_ma"};
    if (id == "var")
        return {"variance of the hidden state", "Var(X) = Σ(x_ij − mean)² / (n·d − 1) ≤ R_k² / (n·d − 1)",
                "bound_var"};
    return {"largest token RMS of the hidden state", "‖X‖_∞,rms = max_i ‖x_i‖₂ / √d", ""};
}

/// Divides by the embedding's value; everything is undefined where that is not positive.
void divideByFirst(std::vector<double>& values, double first) {
    for (double& value : values) value = first > 0 ? value / first : kNaN;
}

void summarise(Figure& figure) {
    QStringList parts;
    for (const Curve& curve : figure.plots.front().curves)
        if (curve.kind == LineKind::Measured || curve.kind == LineKind::Draft)
            parts << QString("%1 goes from %2 to %3 at layer %4 (×%5)")
                         .arg(curve.name, brief(curve.y.front()), brief(curve.y.back()))
                         .arg(curve.x.back())
                         .arg(brief(curve.y.back() / curve.y.front()));
    figure.summary = QString("%1 %2: %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
}

}  // namespace

PanelInfo growthPanel() {
    return {"growth",
            "Growth",
            {{"quantity", "Quantity", {"rms", "ma", "var", "block_rms"}},
             {"normalise", "÷ X₀", {"off", "x0"}},
             {"bound", "Bound", {"on", "off"}},
             depthOrStepOption()},
            &buildGrowth};
}

Figure buildGrowth(const PanelInput& input) {
    const PanelInfo panel = growthPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& array = options.at("quantity");
    const Quantity quantity = quantityOf(array);
    const bool relative = options.at("normalise") == "x0";

    Figure figure = startFigure(panel);
    figure.quantity = relative ? quantity.name + " ÷ X₀" : quantity.name;
    figure.formula = quantity.formula;
    if (!quantity.bound.empty())
        figure.formula += "\nPeri-LN: R_k = R_{k−1} + Δt·|b|·√(n·d)·(‖γ_out‖∞ + ‖β_out‖∞), R_0 = ‖X₀‖_F";
    figure.source = array == "block_rms" ? "Emadi, Definition 3.1"
                                         : "Kan et al., Theorem 4 (the sharper form, per sub-layer)";
    figure.erratum =
        "Kan et al., eq. 65: the Pre-LN factor lacks √d. Their exponential is a loose bound under weight "
        "decay, not a "
        "prediction: it is not drawn.";

    const ProfileOf profile = [&](const ProbeResult& sample) {
        auto p = hiddenProfile(sample, array);
        if (p && relative) {
            divideByFirst(p->y, double(p->y.front()));
            p->error.clear();  // that of a value, not of a ratio of two values of the same sequences
        }
        return p;
    };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.id, profile);
        return figure;
    }
    drawOverDepth(figure, input, panel.id, profile);
    if (figure.plots.empty()) return figure;
    summarise(figure);
    if (options.at("bound") == "off" || quantity.bound.empty()) return figure;
    for (const ShownSample& shown : shownSamples(input, panel.id)) {
        if (!shown.own()) continue;
        auto bound = hiddenProfile(*shown.sample, quantity.bound);
        const auto measured = hiddenProfile(*shown.sample, array);
        if (!bound || !measured) continue;
        if (relative) divideByFirst(bound->y, measured->y.front());
        Curve curve;
        curve.name = nameOf(*shown.run) + " bound";
        curve.role = {Role::Kind::Run, shown.index, 0};
        curve.x = std::move(bound->x);
        curve.y = std::move(bound->y);
        addBound(figure.plots.front(), std::move(curve));
    }
    return figure;
}

}  // namespace normscope::widgets
