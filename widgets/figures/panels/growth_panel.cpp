// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/growth_panel.h"

#include "core/theory/growth_classifier.h"
#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

struct GrowthQuantity {
    QString name, formula;
    std::string bound;  // the array that bounds it; empty = none
};

GrowthQuantity growthQuantity(const std::string& id) {
    // RMS = ‖X‖_F/√(nd) ≤ R_k/√(nd), the same value that bounds MA (Cauchy–Schwarz: MA ≤ RMS).
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

QString classWord(GrowthModel model) {
    switch (model) {
        case GrowthModel::constant:
            return "constant";
        case GrowthModel::square_root:
            return "√ℓ";
        case GrowthModel::linear:
            return "ℓ";
        case GrowthModel::quadratic:
            return "ℓ²";
        case GrowthModel::exponential:
            return "exp(rℓ)";
    }
    return {};
}

QString tooShallow() {
    return QString("fewer than %1 layers").arg(growth_minimum_layers);
}

/// "~√ℓ" for hidden states 0 … 2D; empty where one is not finite and positive.
QString growthClassText(const std::vector<double>& states) {
    std::vector<double> layers;
    for (std::size_t k = 0; k < states.size(); k += 2) layers.push_back(states[k]);
    if (layers.size() < growth_minimum_layers + 1) return tooShallow();
    if (!std::all_of(layers.begin(), layers.end(), [](double v) { return std::isfinite(v) && v > 0; }))
        return {};
    const GrowthClass found = classify_growth(layers);
    const QString best = classWord(found.best);
    if (found.verdict != GrowthClass::Verdict::decided)
        return QString("undecided between %1 and %2").arg(best, classWord(found.rival));
    if (found.rival == found.best) return '~' + best;  // every other class contains it
    QString text = '~' + best;
    if (found.best ==
        GrowthModel::quadratic) {  // a + bℓ + cℓ²: a small c may be decided while most of the rise is linear
        const auto& p = found.fits[static_cast<std::size_t>(found.best)].parameters;
        const double last = static_cast<double>(layers.size() - 1);
        text +=
            QString(" (%1 % of the rise is ℓ²)").arg(std::lround(100 * p[2] * last / (p[1] + p[2] * last)));
    }
    if (found.best == GrowthModel::exponential)
        text += ", r " + brief(found.fits[static_cast<std::size_t>(found.best)].parameters[1]);
    return text;
}

/// The paper's form for this stack: that of output norms, or, where it has none, that of input norms.
std::string looserForm(const ProbeResult& sample) {
    const auto peri = hiddenProfile(sample, "bound_uniform_ma");
    return peri && std::isfinite(peri->y.front()) ? "bound_uniform_ma" : "bound_product_ma";
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
            {"growth"},
            {{"quantity", "Quantity", {"rms", "ma", "var", "block_rms"}},
             {"normalise", "Relative to embedding", {"off", "on"}, {{"x0", "on"}}},
             {"bound", "Bound", {"sharp", "uniform", "off"}, {{"on", "sharp"}}},
             {"estimate", "GPAS estimate", {"on", "off"}},
             {"growth_class", "Growth class", {"on", "off"}},
             depthOrStepOption()},
            &buildGrowth,
            false,
            true};
}

Figure buildGrowth(const PanelInput& input) {
    const PanelInfo panel = growthPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& array = options.at("quantity");
    const GrowthQuantity quantity = growthQuantity(array);
    const bool relative = options.at("normalise") == "on";

    Figure figure = startFigure(panel);
    figure.quantity = relative ? quantity.name + " relative to the embedding" : quantity.name;
    figure.formula = quantity.formula;
    const bool uniform = options.at("bound") == "uniform";
    if (!quantity.bound.empty())
        figure.formula +=
            uniform
                ? "\nPeri-LN, the paper's form: R_k = ‖X₀‖_F + k·Δt·|b|·√(n·d)·(γ_max + β_max), one γ_max "
                  "and β_max "
                  "for all sub-layers; drawn without gates and shortcut factors only\n"
                  "Pre-LN, the paper's form: R_k = R_{k−1}·(|a| + Δt·|b|·√n·√d·‖γ_in‖∞·Σ_h‖W^V_h·W^O_h‖₂ / "
                  "min_j‖x_j‖₂) for attention, x_j the tokens that the norm reads; the feed-forward factor, "
                  "√d·‖γ_in‖∞·‖W₁‖₂·‖W₂‖₂ without √n, and LayerNorm (‖x_j − mean‖₂) are ours. Drawn while β "
                  "and the "
                  "branch's biases are zero"
                : "\nR_k = |1 − act(α_k)|·(|a|·R_{k−1} + Δt·|b|·√n·B_k), R_0 = ‖X₀‖_F; α: a gate of GPAS at "
                  "the output; a gate on the shortcut or the input multiplies |a|, one on the branch |b|; "
                  "B_k: the largest 2-norm of a branch's token\n"
                  "Peri-LN: B_k = √d·(‖γ_out‖∞ + ‖β_out‖∞), for any weights\n"
                  "Pre-LN: with U = √d·‖γ_in‖∞ + ‖β_in‖₂, attention B_k = Σ_h‖W^V_h·W^O_h‖₂·U + ‖W^O·b^V + "
                  "b^O‖₂; feed-forward B_k = ‖W₂‖₂·(‖W₁‖₂·U + ‖b₁‖₂) + ‖b₂‖₂ (SwiGLU: gate times up), of "
                  "the weights at this step; ‖W‖₂ from above: at most 14 % too large up to d = 64, √⌈d/64⌉ "
                  "times that in wider stacks";
    const bool estimate = array == "var" && options.at("estimate") == "on";
    if (estimate)
        figure.formula +=
            "\nGPAS estimate: σ² ← (1 − act(α))²·(σ² + σ) from the embedding on; it ignores the weights and "
            "is not a bound";
    const bool classify = options.at("growth_class") == "on";
    if (classify)
        figure.formula +=
            "\ngrowth class: constant, √ℓ, ℓ, ℓ² or exp(rℓ) over the layers ℓ, embedding included; fitted to "
            "the logarithm and compared by AICc; a lead under 2 over a rival is undecided. "
            "Independent branches of one size give √ℓ in the RMS, ℓ in the variance";
    figure.source = array == "block_rms" ? "Emadi, Definition 3.1"
                    : uniform
                        ? "Kan et al., Theorem 4 (eq. 11 and 12) and, for Pre-LN, Theorem 3 (App. G, eq. 82)"
                        : "Kan et al., Theorem 4 (the sharper form, per sub-layer); Pre-LN: ours";
    if (estimate) figure.source += "; GPAS, eq. 16";
    figure.erratum =
        "Kan et al., eq. 65: the Pre-LN factor lacks √d; it is drawn with it. Their product grows "
        "exponentially with depth because it multiplies factors: a loose bound, not a prediction. A Pre-LN "
        "branch of given weights is bounded, and the sharp form grows by one term a sub-layer. At step 0 of "
        "the default Pre-LN stack their product is more than 23 decades above the measured RMS. The sharp "
        "form is 40 times above it.";
    if (estimate)
        figure.erratum +=
            " GPAS, eq. 16: a scale of 1 − act(α) enters the variance squared; the paper writes it once.";

    const ProfileOf profile = [&](const ProbeResult& sample) {
        auto p = hiddenProfile(sample, array);
        if (p && relative) {
            divideByFirst(p->y, double(p->y.front()));
            p->error.clear();  // not valid for a ratio of two values of the same sequences
        }
        return p;
    };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.probes.front(), profile);
        return figure;
    }
    drawOverDepth(figure, input, panel.probes.front(), profile, relative ? std::string() : array);
    if (figure.plots.empty()) return figure;
    summarise(figure);
    std::string bound = options.at("bound") == "off" ? "" : quantity.bound;
    const bool squared = uniform && bound == "bound_var";  // the recording holds the looser forms of MA alone
    std::vector<Chip> classes;
    std::size_t shallow = 0;
    for (const ShownSample& shown : shownSamples(input, panel.probes.front())) {
        const auto measured = hiddenProfile(*shown.sample, array);
        if (!shown.own() || !measured) continue;
        if (uniform && !bound.empty()) bound = looserForm(*shown.sample);
        const auto add = [&](const std::string& name, const QString& word) {
            auto theory = hiddenProfile(*shown.sample, name);
            if (!theory) return;
            if (squared && name == bound) {
                // (R/√(nd))² is R²/(nd); the sharp bounds, which begin at the same R_0, hold nd/(nd − 1).
                const auto ma = hiddenProfile(*shown.sample, "bound_ma");
                const auto var = hiddenProfile(*shown.sample, "bound_var");
                if (!ma || !var) return;
                const double entries = var->y.front() / (ma->y.front() * ma->y.front());
                for (double& y : theory->y) y *= y * entries;
            }
            if (relative) divideByFirst(theory->y, measured->y.front());
            Curve curve;
            curve.name = nameOf(*shown.run) + ' ' + word;
            curve.role = {Role::Kind::Run, shown.index, 0};
            curve.x = std::move(theory->x);
            curve.y = std::move(theory->y);
            addBound(figure.plots.front(), std::move(curve), word);
        };
        if (!bound.empty()) add(bound, "bound");
        if (estimate) add("gpas_estimate", "GPAS estimate");
        if (!classify) continue;
        const QString text = growthClassText(measured->y);
        if (text.isEmpty()) continue;
        classes.push_back(
            {Chip::Edge::TopLeft, nameOf(*shown.run) + ": " + text, Role{Role::Kind::Run, shown.index, 0}});
        shallow += text == tooShallow();
        figure.summary += QString("; %1: %2").arg(nameOf(*shown.run), text);
    }
    if (classes.size() > 1 && shallow == classes.size())  // once for all of them
        classes = {{Chip::Edge::TopLeft, "No class of growth: " + tooShallow(), {}}};
    addRunTexts(figure.plots.front(), classes);
    return figure;
}

}  // namespace normscope::widgets
