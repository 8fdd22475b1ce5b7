// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/attention_panel.h"

#include "widgets/figures/parts/head_map.h"

namespace normscope::widgets {

namespace {

constexpr double kAttentionPanelMinSpan = 1e-3;  // of the colours: far above the round-off of an entropy

}  // namespace

PanelInfo attentionPanel() {
    return {"attention",
            "Attention",
            {"attention"},
            {{"quantity", "Quantity", {"entropy", "max_logit", "sink_mass"}},
             {"x", "Horizontal axis", {"map", "step"}}},
            &buildAttention};
}

Figure buildAttention(const PanelInput& input) {
    const PanelInfo panel = attentionPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& array = options.at("quantity");

    Figure figure = startFigure(panel);
    if (array == "entropy") {
        figure.quantity = "entropy ÷ ln(row length)";
        figure.formula =
            "mean over rows of two or more entries of −Σ p ln p ÷ ln(entries)\n"
            "uniform attention has 1, in a causal stack too; one key alone has 0";
        figure.source = "Zhai et al. 2023, attention entropy collapse";
    } else if (array == "max_logit") {
        figure.quantity = "largest |logit|";
        figure.formula = "max |q·k| / (τ·√d_h) over the unmasked entries of all sequences of the probe batch";
        figure.source = "Dehghani et al. 2023, scaling vision transformers to 22 billion parameters";
    } else {
        figure.quantity = "mass on the first token";
        figure.formula =
            "mean over rows of two or more entries of p(first token)\n"
            "uniform causal attention of n tokens has (1/2 + 1/3 + … + 1/n) / (n − 1)";
        figure.source = "Xiao et al. 2023, attention sinks";
    }
    const HeadValuesOf values = [&array](const ProbeResult& sample) { return headValues(sample, array); };
    if (options.at("x") == "step")
        drawHeadsOverSteps(figure, input, panel.probes.front(), values);
    else
        drawHeadMaps(figure, input, panel.probes.front(), values, false, kAttentionPanelMinSpan);
    return figure;
}

}  // namespace normscope::widgets
