// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/fragility_panel.h"

#include "core/theory/norm_precision.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <cmath>

namespace normscope::widgets {

namespace {

double scalarOf(const ProbeResult& sample, const std::string& array) {
    const NamedArray* found = arrayOf(sample, array, 0);
    return found ? found->data.front() : NAN;
}

/// The error of the last hidden state in that format, every operation rounded, at the step of `sample`; NaN
/// where it was not measured then.
double measuredError(const RunData& run, const ProbeResult& sample, const std::string& format) {
    const ProbeResult* mismatch = run.sample_of("mismatch", sample.step);
    const NamedArray* errors = mismatch ? arrayOf(*mismatch, format + "_hidden", 1) : nullptr;
    return errors ? errors->data.back() : NAN;
}

/// A relative error above 1 can be any error.
QString predictedText(double error) {
    if (!std::isfinite(error)) return "not of all layers";
    return brief(error) + (error > 1 ? " (above 1: bounds nothing)" : "");
}

}  // namespace

PanelInfo fragilityPanel() {
    return {"fragility",
            "Predicted low-precision error",
            {"fragility", "mismatch"},
            {{"predictor", "Predictor", {"v2", "v1"}},
             {"format", "Format", {"bf16", "fp16"}},
             depthOrStepOption()},
            &buildFragility,
            false,
            true};
}

Figure buildFragility(const PanelInput& input) {
    const PanelInfo panel = fragilityPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string version = options.at("predictor"), format = options.at("format");
    const bool second = version == "v2";
    const double u = format == "bf16" ? kUnitRoundOffBf16 : kUnitRoundOffFp16;
    const QString name = QString::fromStdString(format).toUpper();

    Figure figure = startFigure(panel);
    figure.quantity = QString("predicted relative error ÷ u, %1").arg(QString::fromStdString(version));
    figure.formula =
        second ? "v2, a layer: [(κ_softmax + χ)‖P‖‖V‖₂ + Σ‖γ‖∞(ε + 2σ²)/(σ² + ε)^(3/2)‖x‖ + ‖W_O‖‖O‖ + "
                 "‖W₁‖‖u‖ + ‖W₂‖‖act‖] · "
                 "Π(1 + r) ÷ ‖h‖; the product over later layers, r = a + m(1 + a) of the branches' relative "
                 "sizes"
               : "v1, a layer: κ_softmax(1 + κ_score)κ(V)‖W_O‖ + κ(W₁) + κ(W₂) + κ(W_O) + σ/√ε + σ²/ε + 1";
    figure.source = second ? "Baek, second code; the error is at most about u times the sum over layers"
                           : "Baek, Theorem 3 without residual factors, as in the first code";
    figure.erratum =
        "κ(V) of v1 does not bound the error of attention's output: with V = [I; −I] and uniform rows PV is "
        "0 and κ(V) is 1; v2 "
        "has ‖P‖‖V‖ ÷ ‖PV‖ in its place. The first code reads a norm's output for σ², which is then 1. A "
        "large sum bounds "
        "nothing that is of use: compare it with the error measured.";
    const ProfileOf profile = [&](const ProbeResult& sample) {
        return endProfile(sample, "predictor_" + version, 2);
    };
    const std::string& probe = panel.probes.front();
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, probe, profile);
        return figure;
    }
    drawOverDepth(figure, input, probe, profile);
    if (figure.plots.empty()) return figure;
    QStringList parts;
    std::vector<Chip> chips;
    for (const ShownSample& shown : shownSamples(input, probe)) {
        if (!shown.own() || !profile(*shown.sample)) continue;
        const double predicted = u * scalarOf(*shown.sample, "total_" + version),
                     measured = measuredError(*shown.run, *shown.sample, format);
        const QString text =
            QString("%1 %2: predicted %3, measured %4")
                .arg(nameOf(*shown.run), name, predictedText(predicted),
                     std::isfinite(measured) ? brief(measured) : QString("not at this step"));
        chips.push_back({Chip::Edge::TopLeft, text, Role{Role::Kind::Run, shown.index, 0}});
        parts << text;
    }
    addRunTexts(figure.plots.front(), chips);
    figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
