// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/tokens_panel.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/token_words.h"

#include <algorithm>
#include <cmath>

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

/// Of each run the heaviest token at the selected layer, else at the last one: its text and where it is.
void nameHeaviest(Figure& figure, const PanelInput& input) {
    std::vector<Chip> texts;
    for (const ShownSample& shown : shownSamples(input, "tokens")) {
        const NamedArray* const places = arrayOf(*shown.sample, "heaviest_place", 2);
        if (!shown.own() || !places || places->shape[1] != 2 || places->shape[0] == 0) continue;
        const std::size_t selected = input.selected_layer < 0 ? places->shape[0]
                                                              : std::size_t(2 * input.selected_layer + 2),
                          state = std::min(selected, places->shape[0] - 1);
        const double sequence = places->data[2 * state], token = places->data[2 * state + 1];
        if (!std::isfinite(sequence) || !std::isfinite(token)) continue;
        const QStringList words = tokenWords(*shown.sample, int(sequence));
        const QString word =
            token < double(words.size()) ? QString(" “%1”").arg(words[int(token)]) : QString();
        texts.push_back({Chip::Edge::TopLeft,
                         QString("%1: heaviest at %2:%3 token %4 of sequence %5")
                             .arg(nameOf(*shown.run), depthName(int(state)), word)
                             .arg(token + 1)
                             .arg(sequence + 1),
                         Role{Role::Kind::Run, shown.index, 0}});
    }
    addRunTexts(figure.plots.front(), texts);
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
    if (array == "heaviest_norm") nameHeaviest(figure, input);
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
