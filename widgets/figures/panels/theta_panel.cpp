// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/theta_panel.h"

#include "widgets/figures/parts/head_map.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/theta_row.h"

namespace normscope::widgets {

namespace {

constexpr double kThetaPanelMinSpan = 1e-3;  // of the colours: above the certificate of a float32 row
constexpr std::size_t kLowQuantile = 1, kMaximum = 4;  // in the probe's array `quantiles`

struct ThetaQuantity {
    QString name;
    bool is_share = false;
};

ThetaQuantity thetaQuantity(const std::string& id) {
    if (id == "relative_mean") return {"mean θ ÷ uniform"};
    if (id == "relative_low") return {"5 % quantile of θ ÷ uniform"};
    if (id == "relative_max") return {"largest θ ÷ uniform"};
    if (id == "relative_below_099") return {"share of rows with θ < 0.99 · uniform", true};
    if (id == "over_tau") return {"mean θ/τ"};
    if (id == "below_099") return {"share of rows with θ < 0.99", true};
    return {QString::fromStdString(id) + " θ"};
}

HeadValuesOf valuesOf(const std::string& id) {
    return [id](const ProbeResult& sample) {
        if (id == "relative_low") return headValues(sample, "quantiles", kLowQuantile);
        if (id == "relative_max") return headValues(sample, "quantiles", kMaximum);
        return headValues(sample, id);
    };
}

/// Which rows each run's sample covers, if not all: in the subtitle, so that it covers no cell.
void annotateSampling(Figure& figure, const PanelInput& input) {
    for (const ShownSample& shown : shownSamples(input, "theta")) {
        const auto label = shown.sample->labels.find("sampled");
        if (!shown.own() || label == shown.sample->labels.end() || label->second.empty()) continue;
        const QString text = QString::fromStdString(label->second.front());
        if (!figure.subtitle.contains(text)) figure.subtitle += " · " + text;
        if (!figure.formula.contains(text)) figure.formula += "\n" + nameOf(*shown.run) + ": " + text;
    }
}

}  // namespace

PanelInfo thetaPanel() {
    return {"theta",
            "θ",
            {"theta"},
            {{"quantity",
              "Colour",
              {"relative_mean", "relative_low", "relative_max", "relative_below_099", "over_tau", "mean",
               "max", "below_099"}},
             {"x", "Horizontal axis", {"map", "step", "row"}}},
            &buildTheta};
}

Figure buildTheta(const PanelInput& input) {
    const PanelInfo panel = thetaPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string &id = options.at("quantity"), &x = options.at("x");
    const ThetaQuantity quantity = thetaQuantity(id);

    Figure figure = startFigure(panel);
    figure.quantity = x == "row" ? "probability" : quantity.name;
    figure.formula =
        "θ(p) = 4·max_S p(S)·(1 − p(S)) = τ·‖∂p/∂logits‖_{∞→1}; θ/τ is the local Lipschitz constant of the "
        "softmax\n"
        "uniform: θ of the uniform row of the same length L, 1 (L even) or 1 − 1/L² (L odd); a ratio can "
        "exceed 1 where L is odd\n"
        "peaked row, largest entry 1 − κ, κ ≤ 1/2: θ ≤ 4κ(1 − κ), with equality; prefix heuristic: S from "
        "the sorted row's prefixes alone, a lower bound of θ: greedy is not exact\n"
        "over the sequences of the probe batch and rows of two or more entries; of a large stack a sample "
        "of the rows";
    figure.source = "Emadi, Definition 4.1, Theorem 4.2, Corollary 4.3 and Appendix E.2";
    figure.erratum =
        "Emadi, E.2: the prefix heuristic is not exact: (0.35, 0.30, 0.20, 0.15) has prefix value 0.91 but "
        "θ = 1. Corollary 4.3, case 3, holds only for κ ≤ 1/2: uniform over 10 has 4κ(1 − κ) = 0.36 but θ = "
        "1.";
    if (x == "row")
        drawThetaRow(figure, input);
    else if (x == "step")
        drawHeadsOverSteps(figure, input, panel.probes.front(), valuesOf(id));
    else
        drawHeadMaps(figure, input, panel.probes.front(), valuesOf(id), quantity.is_share,
                     kThetaPanelMinSpan);
    annotateSampling(figure, input);
    return figure;
}

}  // namespace normscope::widgets
