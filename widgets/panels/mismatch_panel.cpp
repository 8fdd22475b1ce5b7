// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/mismatch_panel.h"

#include "widgets/panels/depth_figure.h"
#include "widgets/panels/panel_text.h"

namespace normscope::widgets {

PanelInfo mismatchPanel() {
    return {"mismatch",
            "Low-precision error",
            {{"format", "Format", {"bf16", "fp16"}}, depthOrStepOption()},
            &buildMismatch};
}

Figure buildMismatch(const PanelInput& input) {
    const PanelInfo panel = mismatchPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& format = options.at("format");
    const bool bf16 = format == "bf16";
    const QString title = bf16 ? "BF16" : "FP16";

    Figure figure = startFigure(panel);
    figure.quantity = QString("relative error of the hidden state in %1").arg(title);
    figure.formula =
        QString(
            "‖h_%1 − h_FP32‖_F / ‖h_FP32‖_F, same weights and batch; the result of every operation is "
            "rounded to %1, sums inside an operation run in FP32")
            .arg(title);
    figure.source = "Baek, the observed error of a forward pass in low precision";
    figure.erratum =
        "Baek speaks of the error of a block's output; the released code measures it on the logits.";

    const ProfileOf profile = [&](const ProbeResult& sample) {
        return hiddenProfile(sample, format + "_hidden");
    };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.id, profile);
        return figure;
    }
    drawOverDepth(figure, input, panel.id, profile);
    if (figure.plots.empty()) return figure;
    Plot& plot = figure.plots.front();
    // Rounding once costs at most the unit roundoff: 2^-(p) with p significant bits.
    plot.references.push_back({Qt::Horizontal, bf16 ? 0x1p-8 : 0x1p-11, "unit roundoff u"});
    QStringList parts;
    for (const ShownSample& shown : shownSamples(input, panel.id)) {
        const auto p = profile(*shown.sample);
        if (!shown.own() || !p) continue;
        QString text =
            QString("%1: %2 at layer %3").arg(nameOf(*shown.run), brief(p->y.back())).arg(p->depth);
        if (const NamedArray* logits = arrayOf(*shown.sample, format + "_logits", 0)) {
            const QString value = QString("logits %1").arg(brief(logits->data.front()));
            plot.chips.push_back({Chip::Edge::TopRight, nameOf(*shown.run) + ' ' + value,
                                  Role{Role::Kind::Run, shown.index, 0}});
            text += ", " + value;
        }
        parts << text;
    }
    figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
