// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/tokens_panel.h"

#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

namespace normscope::widgets {

namespace {

struct TokensQuantity {
    QString name, formula, source;
};

TokensQuantity tokensQuantity(const std::string& id) {
    if (id == "similarity")
        return {"cosine of two tokens",
                "mean over pairs of different tokens of a sequence of x_i·x_j / (‖x_i‖‖x_j‖), then over "
                "sequences; 1: all tokens point the same way",
                "mean pairwise cosine; the collapse of tokens: Dong et al. 2021"};
    if (id == "effective_rank")
        return {"effective rank of a sequence",
                "exp of the entropy of p_i = σ_i / Σσ, σ the singular values of the sequence's [n, d] "
                "matrix; from 1 to min(n, d)",
                "Roy & Vetterli 2007"};
    if (id == "outlier")
        return {"max |x| ÷ median |x|",
                "largest |x_ij| of a sequence ÷ the median |x_ij| of its entries, mean over sequences",
                "activation outliers: Dettmers et al. 2022"};
    return {"heaviest token ÷ mean",
            "max_i ‖x_i‖₂ of a sequence ÷ the mean ‖x_i‖₂ of its tokens, mean over sequences",
            "massive activations: Sun et al. 2024"};
}

/// The number of sequences of the effective rank, where the samples have the label.
QString rankedSequences(const PanelInput& input) {
    QStringList counts;
    for (const ShownSample& shown : shownSamples(input, "tokens")) {
        const auto label = shown.sample->labels.find("effective_rank_sequences");
        if (!shown.own() || label == shown.sample->labels.end() || label->second.empty()) continue;
        const QString count = QString::fromStdString(label->second.front());
        if (!counts.contains(count)) counts << count;
    }
    return counts.join(", ");
}

}  // namespace

PanelInfo tokensPanel() {
    return {"tokens",
            "Tokens",
            {"tokens"},
            {{"quantity", "TokensQuantity", {"similarity", "effective_rank", "outlier", "heaviest_norm"}},
             depthOrStepOption()},
            &buildTokens,
            false,
            true};
}

Figure buildTokens(const PanelInput& input) {
    const PanelInfo panel = tokensPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& array = options.at("quantity");
    const TokensQuantity quantity = tokensQuantity(array);

    Figure figure = startFigure(panel);
    figure.quantity = quantity.name;
    figure.formula = quantity.formula;
    figure.source = quantity.source;
    if (array == "effective_rank")
        if (const QString count = rankedSequences(input); !count.isEmpty())
            figure.formula += QString("\nmean over the first %1 sequences of the probe batch").arg(count);

    const ProfileOf profile = [&](const ProbeResult& sample) { return hiddenProfile(sample, array); };
    const bool over_steps = options.at("x") == "step";
    if (over_steps)
        drawOverSteps(figure, input, panel.probes.front(), profile);
    else
        drawOverDepth(figure, input, panel.probes.front(), profile, array);
    if (array == "similarity") {  // passes through 0: no logarithm and no ratio
        if (!over_steps && figure.plots.size() > 1) figure.plots.resize(1);
        for (Plot& plot : figure.plots) plot.y.scale = Scale::Linear;
    }
    if (over_steps || figure.plots.empty()) return figure;
    QStringList parts;
    for (const Curve& curve : figure.plots.front().curves)
        if (curve.kind == LineKind::Measured || curve.kind == LineKind::Draft)
            parts << QString("%1 goes from %2 to %3 at layer %4")
                         .arg(curve.name, brief(curve.y.front()), brief(curve.y.back()))
                         .arg(curve.x.back());
    figure.summary = QString("%1 %2: %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
