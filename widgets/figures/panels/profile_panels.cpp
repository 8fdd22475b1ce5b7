// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/profile_panels.h"

#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

/// What the entries of an array belong to.
enum class Along { HiddenStates, Sublayers, Layers, Halves, Matrices };

/// One value of the option "quantity", which is also the array's name.
struct ProfileQuantity {
    std::string array;
    QString name, formula;
    Along along = Along::Layers;
    std::string bound = {};  ///< the array that bounds it; empty = none
    bool linear = false;     ///< may be zero or negative: linear axis, no ratio
    QString unit = {};
    std::string paper_bound = {};  ///< the bound as the paper has it; empty = the same
};

struct ProfilePanel {
    PanelInfo info;
    QString source;
    std::vector<ProfileQuantity> quantities;
    QString erratum = {};
};

/// Column `matrix` of an array [D, M], by the label `matrices`.
std::optional<Profile> matrixProfile(const ProbeResult& sample, const std::string& array,
                                     const std::string& matrix) {
    const NamedArray* a = arrayOf(sample, array, 2);
    const auto names = sample.labels.find("matrices");
    if (!a || names == sample.labels.end() || names->second.size() != a->shape[1]) return std::nullopt;
    const auto found = std::find(names->second.begin(), names->second.end(), matrix);
    if (found == names->second.end()) return std::nullopt;
    const auto column = static_cast<std::size_t>(found - names->second.begin());
    Profile profile;
    profile.depth = int(a->shape[0]);
    for (std::size_t l = 0; l < a->shape[0]; ++l) {
        profile.x.push_back(depthX(2 * int(l) + 2));
        profile.y.push_back(a->data[l * a->shape[1] + column]);
    }
    return profile;
}

std::optional<Profile> profileOf(const ProbeResult& sample, const std::string& array, Along along,
                                 const std::string& matrix) {
    switch (along) {
        case Along::HiddenStates:
            return hiddenProfile(sample, array);
        case Along::Sublayers:
            return endProfile(sample, array, 1);
        case Along::Layers:
            return endProfile(sample, array, 2);
        case Along::Halves:
            return sublayerProfile(sample, array);
        case Along::Matrices:
            return matrixProfile(sample, array, matrix);
    }
    return std::nullopt;
}

QString described(const ShownSample& shown, const Profile& profile) {
    double low = INFINITY, high = -INFINITY;
    for (const double v : profile.y)
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    return nameOf(*shown.run) + ": " + (low <= high ? brief(low) + " to " + brief(high) : "not defined");
}

Figure buildProfile(const ProfilePanel& panel, const PanelInput& input) {
    const PanelOptions options = resolveOptions(panel.info, input.options);
    const auto quantity =
        std::find_if(panel.quantities.begin(), panel.quantities.end(),
                     [&](const ProfileQuantity& q) { return q.array == options.at("quantity"); });
    const auto matrix = options.find("matrix");
    const std::string column = matrix == options.end() ? "" : matrix->second;
    const bool over_steps = options.at("x") == "step";
    const auto form = options.find("bound");
    std::string bound_array = quantity->bound;
    if (form != options.end() && form->second == "paper" && !quantity->paper_bound.empty())
        bound_array = quantity->paper_bound;
    if (form != options.end() && form->second == "off") bound_array.clear();

    Figure figure = startFigure(panel.info);
    figure.quantity = quantity->name;
    if (quantity->along == Along::Matrices) figure.quantity += ", W = " + QString::fromStdString(column);
    figure.unit = quantity->unit;
    figure.formula = quantity->formula;
    figure.source = panel.source;
    figure.erratum = panel.erratum;
    const std::string& probe = panel.info.probes.front();
    const auto read = [&](const ProbeResult& sample, const std::string& array) {
        return profileOf(sample, array, quantity->along, column);
    };
    const ProfileOf profile = [&](const ProbeResult& sample) { return read(sample, quantity->array); };
    if (over_steps) {
        drawOverSteps(figure, input, probe, profile);
    } else {
        drawOverDepth(figure, input, probe, profile, quantity->array);
        QStringList parts;
        for (const ShownSample& shown : shownSamples(input, probe)) {
            const auto measured = profile(*shown.sample);
            if (!shown.own() || !measured) continue;
            parts << described(shown, *measured);
            const auto bound = bound_array.empty() ? std::nullopt : read(*shown.sample, bound_array);
            if (!bound) continue;
            Curve curve;
            curve.name = nameOf(*shown.run) + " bound";
            curve.role = {Role::Kind::Run, shown.index, 0};
            curve.x = bound->x;
            curve.y = bound->y;
            addBound(figure.plots.front(), std::move(curve), "bound");
        }
        figure.summary = QString("%1 %2. %3").arg(figure.quantity, figure.subtitle, parts.join("; "));
    }
    if (quantity->linear) makeLinear(figure, over_steps);
    return figure;
}

/// The row of a panel; its quantities are the values of its first option.
ProfilePanel panelOf(const char* probe, const QString& title, const QString& source,
                     Figure (*build)(const PanelInput&), std::vector<ProfileQuantity> quantities) {
    PanelOption option{"quantity", "Quantity", {}};
    for (const ProfileQuantity& q : quantities) option.values.push_back(q.array);
    return {{probe, title, {probe}, {std::move(option), depthOrStepOption()}, build, false, true},
            source,
            std::move(quantities)};
}

Figure buildLipschitz(const PanelInput& input);
Figure buildGates(const PanelInput& input);
Figure buildWeights(const PanelInput& input);
Figure buildImportance(const PanelInput& input);
Figure buildShift(const PanelInput& input);
Figure buildPaths(const PanelInput& input);

ProfilePanel lipschitz() {
    const QString found =
        "largest max_i ‖(Jv)_i‖₂ / max_j ‖v_j‖₂ found by an ascent from random directions v; sequence 0 of "
        "the held-out batch";
    ProfilePanel panel = panelOf(
        "lipschitz", "Lipschitz bounds", "Emadi, Theorems 5.1 to 5.3 and Section 6, corrected for biases",
        &buildLipschitz,
        {{"layer_measured",
          "gain of a layer",
          found + "; the bound multiplies those of its sub-layers",
          Along::Layers,
          "layer",
          false,
          {},
          "layer_eps"},
         {"sublayer_measured",
          "gain of a sub-layer",
          found + "; bound Lip(N_post)·(|a| + Δt|b|·Lip(N_out)·L_f·s_in·Lip(N_in)), Lip(N) = ‖γ‖∞·max 1/σ_ε",
          Along::Sublayers,
          "sublayer",
          false,
          {},
          "sublayer_eps"},
         {"attention_measured",
          "gain of attention alone",
          found + "; bound ‖W^O‖Σ_h(‖W_h^V‖ + (θ_h/τ)·Φ_h)",
          Along::Layers,
          "attention",
          false,
          {},
          "attention_paper"},
         {"ffn_measured", "gain of the FFN alone", found + "; bound ‖W₁‖‖W₂‖Lip(φ)", Along::Layers, "ffn"},
         {"projection", "G = ‖W^O‖‖W^Q‖‖W^K‖‖W^V‖", "product of spectral norms of a layer's projections"},
         {"proxy_stream", "S = (θ/τ)·B²·G, B of the stream",
          "θ the largest of the layer's rows, B = max_i ‖x_i‖₂ before the layer"},
         {"proxy_input", "S = (θ/τ)·B²·G, B of the input",
          "θ the largest of the layer's rows, B = max_i ‖u_i‖₂ of what attention reads"}});
    panel.info.options.insert(panel.info.options.begin() + 1,
                              {"bound", "Bound", {"corrected", "paper", "off"}});
    panel.erratum =
        "The paper's form takes 1/√ε for a norm. It holds for any input and is far above 1/σ of the tokens. "
        "It has no bias; with a query bias b^Q its bound of attention can be exceeded.";
    return panel;
}

ProfilePanel gates() {
    return panelOf(
        "gates", "Gates", "GPAS, Section 3.1 and Fig. 3", &buildGates,
        {{"factor", "1 − act(α)", "what the signal at the gate's site is multiplied by; above 1 where α < 0",
          Along::Sublayers, "", true},
         {"alpha", "gate α", "a parameter, one a layer", Along::Layers, "", true},
         {"act", "act(α)", "the gate after its activation", Along::Layers, "", true}});
}

ProfilePanel weights() {
    ProfilePanel panel = panelOf(
        "weights", "Weight norms", "GPAS, Fig. 6; Emadi, Section 6", &buildWeights,
        {{"spectral", "‖W‖₂", "largest singular value of a weight matrix", Along::Matrices},
         {"stable_rank", "‖W‖_F² ÷ ‖W‖₂²", "from 1, a matrix of rank one, to the rank", Along::Matrices},
         {"frobenius", "‖W‖_F", "root of the sum of squares of a weight matrix", Along::Matrices},
         {"sublayer_norm", "weight norm of a sub-layer",
          "L2 norm over the tensors of a sub-layer, norms and biases included", Along::Halves}});
    panel.info.options.insert(
        panel.info.options.begin() + 1,
        {"matrix", "Matrix", {"wq", "wk", "wv", "wo", "w1", "w2", "w_gate", "w_up", "w_down"}});
    return panel;
}

ProfilePanel importance() {
    return panelOf(
        "importance", "Layer importance", "GPAS, Fig. 7", &buildImportance,
        {{"layer", "loss without both branches of a layer − loss",
          "mean loss of the held-out batch with the branches of one layer set to 0, less that of all; "
          "shortcut, post norm and gates remain",
          Along::Layers, "", true, "nat"},
         {"sublayer", "loss without the branch of a sub-layer − loss", "the same with one branch set to 0",
          Along::Sublayers, "", true, "nat"}});
}

ProfilePanel shift() {
    return panelOf(
        "shift", "Distribution shift", "Kan et al., Theorems 5 and 6", &buildShift,
        {{"w2", "W₂ to the perturbed batch",
          "exact Wasserstein distance, by assignment, between the held-out batch and the batch from "
          "perturbed embeddings; sequences are points, Frobenius norm",
          Along::HiddenStates, "w2_bound"},
         {"w2_paired", "distance of a sequence to its perturbed one",
          "root mean square over sequences, Frobenius norm", Along::HiddenStates},
         {"variance_max", "largest variance of an entry over inputs",
          "max over tokens and channels of the variance over the sequences of the held-out batch",
          Along::HiddenStates, "variance_bound"},
         {"variance_mean", "mean variance of an entry over inputs",
          "mean over tokens and channels of the variance over the sequences of the held-out batch",
          Along::HiddenStates}});
}

ProfilePanel paths() {
    return panelOf("paths", "Paths", "Emadi, Theorem 5.4", &buildPaths,
                   {{"remainder", "‖R‖₂, two branches and more",
                     "R = Π(I + J_k) − I − ΣJ_k over the layers up to this one; small only where ‖ΣJ_k‖ is"},
                    {"first_order", "‖ΣJ_k‖₂, one branch", "I + J_k is the Jacobian of layer k"},
                    {"whole", "‖J‖₂, all paths", "J = Π(I + J_k) over the layers up to this one"}});
}

Figure buildLipschitz(const PanelInput& input) {
    return buildProfile(lipschitz(), input);
}
Figure buildGates(const PanelInput& input) {
    return buildProfile(gates(), input);
}
Figure buildWeights(const PanelInput& input) {
    return buildProfile(weights(), input);
}
Figure buildImportance(const PanelInput& input) {
    return buildProfile(importance(), input);
}
Figure buildShift(const PanelInput& input) {
    return buildProfile(shift(), input);
}
Figure buildPaths(const PanelInput& input) {
    return buildProfile(paths(), input);
}

}  // namespace

PanelInfo lipschitzPanel() {
    return lipschitz().info;
}
PanelInfo gatesPanel() {
    return gates().info;
}
PanelInfo weightsPanel() {
    return weights().info;
}
PanelInfo importancePanel() {
    return importance().info;
}
PanelInfo shiftPanel() {
    return shift().info;
}
PanelInfo pathsPanel() {
    return paths().info;
}

}  // namespace normscope::widgets
