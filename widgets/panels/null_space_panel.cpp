// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/null_space_panel.h"

#include "widgets/panels/comparison.h"
#include "widgets/panels/depth_axis.h"
#include "widgets/panels/norm_sites.h"
#include "widgets/panels/panel_text.h"
#include "widgets/panels/recipe_facts.h"
#include "widgets/panels/samples.h"

#include <cmath>
#include <limits>
#include <map>

namespace normscope::widgets {

namespace {

/// The per-site arrays of one sample; empty where they do not fit the sites.
struct SiteValues {
    std::vector<NormSite> sites;
    std::vector<double> gain, erased;
};

SiteValues siteValues(const ProbeResult& sample, const std::string& erased_array) {
    const auto names = sample.labels.find("sites");
    const NamedArray* gain = arrayOf(sample, "gain", 1);
    const NamedArray* erased = arrayOf(sample, erased_array, 1);
    if (names == sample.labels.end() || !gain || !erased) return {};
    const std::size_t count = names->second.size();
    if (gain->data.size() != count || erased->data.size() != count) return {};
    return {placeNormSites(names->second), gain->data, erased->data};
}

/// The ratio strip of the gains, as if the lollipops were curves; runs without a common site have none.
std::optional<Plot> gainStrip(const Plot& gains) {
    Plot curves;
    curves.x = gains.x;
    for (const Stems& stems : gains.stems) {
        Curve curve;
        curve.name = stems.name;
        curve.role = stems.role;
        curve.x = stems.x;
        curve.y = stems.y;
        curves.curves.push_back(std::move(curve));
    }
    return ratioStrip(curves);
}

QString spoken(const RunData& run, const SiteValues& values) {
    double low = std::numeric_limits<double>::infinity(), high = 0, most = 0;
    for (const double gain : values.gain) {  // comparisons with NaN are false: it is left out
        if (gain < low) low = gain;
        if (gain > high) high = gain;
    }
    for (const double share : values.erased)
        if (share > most) most = share;
    return QString("%1: %2 norms, gain %3 to %4, erased share up to %5")
        .arg(nameOf(run))
        .arg(values.gain.size())
        .arg(brief(low), brief(high), brief(most));
}

}  // namespace

PanelInfo nullSpacePanel() {
    return {
        "null_space", "Norm sites", {{"erased", "Erased energy", {"backward", "forward"}}}, &buildNullSpace};
}

Figure buildNullSpace(const PanelInput& input) {
    const PanelInfo panel = nullSpacePanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string& direction = options.at("erased");

    Figure figure = startFigure(panel);
    figure.quantity = "gain 1/σ_ε";
    figure.formula = direction == "backward" ? "gain: mean over tokens of 1/√(var + ε)\nerased: ‖Pg‖²/‖g‖² "
                                               "over tokens, P on diag(γ)⁻¹·span{1, ẑ}"
                                             : "gain: mean over tokens of 1/√(var + ε)\nerased: ‖Pδ‖²/‖δ‖² "
                                               "over tokens, δ = Δt·b·y, P on span{1, ẑ}";
    figure.source = "Null-space note, Theorem 2.2; Emadi, Lemma A.1";
    figure.erratum =
        "The note (remark 1.2) puts diag(γ) on the right of the Jacobian; it stands on the left. Kan et al., "
        "Lemma 9 "
        "leaves out −11ᵀ/d. Emadi, Theorem 5.5 (ii) names only the direction 1; ẑ is erased too.";

    const auto samples = shownSamples(input, panel.id);
    std::vector<bool> drawn(input.runs.size(), false);
    Plot gains, erased;
    std::map<double, QString> names;
    std::map<double, QStringList> random_shares;
    QStringList parts;
    double end = 0;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;  // grey lollipops under lollipops would only clutter
        const SiteValues values = siteValues(*shown.sample, "erased_" + direction);
        if (values.sites.empty()) continue;
        drawn[shown.index] = true;
        Stems gain_stems{nameOf(*shown.run), {Role::Kind::Run, shown.index, 0}, {}, values.gain, 0};
        for (const NormSite& site : values.sites) {
            gain_stems.x.push_back(site.x);
            names[site.x] = site.name;
            end = std::max(end, site.x);
        }
        Stems erased_stems = gain_stems;
        erased_stems.y = values.erased;
        gains.stems.push_back(std::move(gain_stems));
        erased.stems.push_back(std::move(erased_stems));
        parts << spoken(*shown.run, values);
        const RecipeFacts facts = recipeFacts(shown.run->recipe_json);
        if (facts.random_erased) random_shares[*facts.random_erased] << nameOf(*shown.run);
    }
    gains.x = depthAxis(int(std::ceil(end - 1.0 / 8)));  // a final norm stands 1/8 after the last layer
    gains.y.label = figure.quantity;
    gains.y.scale = Scale::Log;
    gains.references.push_back({Qt::Horizontal, 1, QString()});
    markBadLayers(gains, input);
    erased.x = gains.x;
    erased.y.label = "erased share";
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
    auto strip = gainStrip(gains);
    figure.plots = {std::move(gains), std::move(erased)};
    if (strip) figure.plots.insert(figure.plots.begin() + 1, std::move(*strip));
    figure.subtitle = atStep(samples);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    sayWhatIsMissing(figure, input, panel.id, drawn);
    return figure;
}

}  // namespace normscope::widgets
