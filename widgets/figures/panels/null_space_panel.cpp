// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/null_space_panel.h"

#include "widgets/figures/parts/comparison.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/norm_sites.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/recipe_facts.h"
#include "widgets/figures/parts/samples.h"

#include <cmath>
#include <limits>
#include <map>

namespace normscope::widgets {

namespace {

/// The quantity of the lollipops.
struct NullSpaceQuantity {
    QString name;  ///< on the axis
    const char* described;
    QString formula;
};

NullSpaceQuantity nullSpaceQuantity(const std::string& array) {
    if (array == "gain") return {"gain 1/σ_ε", "gain", "gain: mean over tokens of 1/√(var + ε)"};
    if (array == "epsilon_share")
        return {"ε ÷ (var + ε)", "ε's share",
                "ε's share: mean over tokens of ε/(var + ε), var the variance of the norm's input "
                "(RMSNorm: mean square); near 1 the norm divides by √ε for any input, near 0 ε changes "
                "nothing"};
    const bool bf16 = array == "bf16_rho_ln";
    const QString format = bf16 ? "BF16" : "FP16";
    return {
        "ρ_LN in " + format, "ρ_LN",
        QString("ρ_LN = (σ²/ε)·d·u; σ² the median over tokens of the variance of the norm's input (RMSNorm: "
                "mean square); u = 2^-%1 of %2. ρ_LN = 1 is where ε's share is d·u/(1 + d·u): 3 % at d = 64 "
                "in FP16. So a value below 1 does not mean that ε dominates; the quantity ε ÷ (var + ε) does")
            .arg(bf16 ? 8 : 11)
            .arg(format)};
}

/// The per-site arrays of one sample; empty where they do not fit the sites.
struct SiteValues {
    std::vector<NormSite> sites;
    std::vector<double> shown, erased;
};

SiteValues siteValues(const ProbeResult& sample, const std::string& shown_array,
                      const std::string& erased_array) {
    const auto names = sample.labels.find("sites");
    const NamedArray* shown = arrayOf(sample, shown_array, 1);
    const NamedArray* erased = arrayOf(sample, erased_array, 1);
    if (names == sample.labels.end() || !shown || !erased) return {};
    const std::size_t count = names->second.size();
    if (shown->data.size() != count || erased->data.size() != count) return {};
    return {placeNormSites(names->second), shown->data, erased->data};
}

/// The ratio strip of the lollipops, as if they were curves; nullopt without a common site.
std::optional<Plot> stemStrip(const Plot& lollipops) {
    Plot curves;
    curves.x = lollipops.x;
    for (const Stems& stems : lollipops.stems) {
        Curve curve;
        curve.name = stems.name;
        curve.role = stems.role;
        curve.step = stems.step;
        curve.x = stems.x;
        curve.y = stems.y;
        curves.curves.push_back(std::move(curve));
    }
    return ratioStrip(curves);
}

QString described(const RunData& run, const char* what, const SiteValues& values) {
    double low = std::numeric_limits<double>::infinity(), high = 0, most = 0;
    for (const double value : values.shown) {  // comparisons with NaN are false: it is skipped
        if (value < low) low = value;
        if (value > high) high = value;
    }
    for (const double share : values.erased)
        if (share > most) most = share;
    const QString range = low <= high ? brief(low) + " to " + brief(high) : QString("not defined");
    return QString("%1: %2 norms, %3 %4, share erased up to %5")
        .arg(nameOf(run))
        .arg(values.shown.size())
        .arg(what, range, brief(most));
}

}  // namespace

PanelInfo nullSpacePanel() {
    return {"null_space",
            "Norm sites",
            {"null_space"},
            {{"quantity", "Lollipops", {"gain", "epsilon_share", "fp16_rho_ln", "bf16_rho_ln"}},
             {"erased", "Erased energy", {"backward", "forward"}}},
            &buildNullSpace};
}

Figure buildNullSpace(const PanelInput& input) {
    const PanelInfo panel = nullSpacePanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string &direction = options.at("erased"), &array = options.at("quantity");
    const NullSpaceQuantity quantity = nullSpaceQuantity(array);

    Figure figure = startFigure(panel);
    figure.quantity = quantity.name;
    figure.formula =
        quantity.formula + (direction == "backward"
                                ? "\nerased: ‖Pg‖²/‖g‖² over tokens, P on diag(γ)⁻¹·span{1, ẑ}"
                                : "\nerased: ‖Pδ‖²/‖δ‖² over tokens, δ = Δt·b·y, P on span{1, ẑ}");
    figure.source = "Null-space note, Theorem 2.2; Emadi, Lemma A.1";
    figure.erratum =
        "The note (remark 1.2) puts diag(γ) on the right of the Jacobian; it belongs on the left. Kan et "
        "al., Lemma 9 omits −11ᵀ/d. Emadi, Theorem 5.5 (ii) names only the direction 1; ẑ is erased too.";
    if (array.ends_with("_rho_ln")) {
        figure.source += "; ρ_LN: Baek";
        figure.erratum +=
            " Baek's first code takes σ² of the norm's output, about 1 for any input, and twice the unit "
            "roundoff; and a larger ε, a smaller ρ_LN, lowers the norm's gain instead of raising it.";
    }

    const auto samples = shownSamples(input, panel.probes.front());
    std::vector<bool> drawn(input.runs.size(), false);
    Plot sites, erased;
    std::map<double, QString> names;
    std::map<double, QStringList> random_shares;
    QStringList parts;
    double end = 0;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;  // ghosts of lollipops would only clutter
        const SiteValues values = siteValues(*shown.sample, array, "erased_" + direction);
        if (values.sites.empty()) continue;
        drawn[shown.index] = true;
        Stems site_stems{nameOf(*shown.run), {Role::Kind::Run, shown.index, 0}, {}, values.shown, 0};
        site_stems.step = shown.sample->step;
        for (const NormSite& site : values.sites) {
            site_stems.x.push_back(site.x);
            names[site.x] = site.name;
            end = std::max(end, site.x);
        }
        Stems erased_stems = site_stems;
        erased_stems.y = values.erased;
        sites.stems.push_back(std::move(site_stems));
        erased.stems.push_back(std::move(erased_stems));
        parts << described(*shown.run, quantity.described, values);
        const RecipeFacts facts = recipeFacts(shown.run->recipe);
        if (facts.random_erased) random_shares[*facts.random_erased] << nameOf(*shown.run);
    }
    sites.x = depthAxis(int(std::ceil(end - 1.0 / 8)));  // a final norm is placed 1/8 after the last layer
    sites.y.label = figure.quantity;
    sites.y.scale = Scale::Log;
    sites.references.push_back({Qt::Horizontal, 1, QString()});
    markBadLayers(sites, input);
    erased.x = sites.x;
    erased.y.label = "share erased";
    erased.y.scale = Scale::Log;
    erased.height_share = 0.5;
    for (const auto& [share, runs] : random_shares)
        erased.references.push_back(
            {Qt::Horizontal, share,
             random_shares.size() == 1 ? QString("random") : "random (" + runs.join(", ") + ')'});
    for (const auto& [x, name] : names) {
        figure.x_name_at.push_back(x);
        figure.x_names << name;
    }
    auto strip = stemStrip(sites);
    figure.plots = {std::move(sites), std::move(erased)};
    if (strip) figure.plots.insert(figure.plots.begin() + 1, std::move(*strip));
    figure.quantity_in_header = true;
    figure.subtitle = atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, panel.probes.front(), drawn);
    return figure;
}

}  // namespace normscope::widgets
