// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/ranges_panel.h"

#include "core/backend/shared/number_format.h"
#include "widgets/figures/panels/headroom_map.h"
#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace normscope::widgets {

namespace {

constexpr const char* kSource =
    "measured in the run's own precision; IEEE 754, OCP 8-bit formats without a scale";

/// The hidden state at whose x a place is drawn: the state itself, or the one that its sub-layer produces;
/// nullopt of other kinds of places.
std::optional<int> stateOf(std::string_view place, std::string_view kind) {
    const auto number = [](std::string_view text) {
        int value = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size() ? value : -1;
    };
    const std::string_view block = "blocks.";
    if (!place.starts_with(block)) {
        if (!place.starts_with(kind) || place.size() <= kind.size() || place[kind.size()] != '.')
            return std::nullopt;
        const int state = number(place.substr(kind.size() + 1));
        return state < 0 ? std::nullopt : std::optional(state);
    }
    place.remove_prefix(block.size());
    const std::size_t dot = place.find('.');
    if (dot == std::string_view::npos || place.substr(dot + 1) != kind) return std::nullopt;
    const int layer = number(place.substr(0, dot));
    if (layer < 0) return std::nullopt;
    return 2 * layer + (kind.starts_with("attn.") ? 1 : 2);
}

std::optional<Profile> rangesAlongDepth(const ProbeResult& sample, const std::string& kind,
                                        const std::string& array) {
    const NamedArray* values = arrayOf(sample, array, 1);
    const auto places = sample.labels.find("places");
    if (!values || places == sample.labels.end() || places->second.size() != values->data.size())
        return std::nullopt;
    Profile profile;
    for (std::size_t i = 0; i < values->data.size(); ++i) {
        const auto state = stateOf(places->second[i], kind);
        if (!state) continue;
        profile.x.push_back(depthX(*state));
        profile.y.push_back(values->data[i]);
        profile.depth = std::max(profile.depth, (*state + 1) / 2);
    }
    if (profile.x.empty()) return std::nullopt;
    return profile;
}

double largestOf(const std::optional<Profile>& profile) {
    double most = NAN;
    if (profile)
        for (const double y : profile->y) most = std::fmax(most, y);
    return most;
}

QString percent(double share) {
    return std::isfinite(share) ? brief(100 * share) + " %" : QString("not known");
}

}  // namespace

PanelInfo rangesPanel() {
    return {"ranges",
            "Ranges of values",
            {"ranges"},
            {{"place",
              "Place",
              {"hidden", "grad.hidden", "attn.qkv", "attn.scores", "attn.probabilities", "attn.mixed",
               "attn.branch", "ffn.pre", "ffn.hidden", "ffn.branch", "headroom"}},
             {"format", "Format", {"fp16", "bf16", "e4m3", "e5m2"}},
             depthOrStepOption()},
            &buildRanges,
            false,
            true};
}

Figure buildRanges(const PanelInput& input) {
    const PanelInfo panel = rangesPanel();
    const PanelOptions options = resolveOptions(panel, input.options);
    const std::string &kind = options.at("place"), &id = options.at("format");
    const NumberFormat& format = *std::find_if(kNumberFormats.begin(), kNumberFormats.end(),
                                               [&](const NumberFormat& f) { return id == f.name; });
    const QString title = format.title;

    Figure figure = startFigure(panel);
    if (kind == "headroom") {
        drawHeadroom(figure, input, format);
        figure.source = kSource;
        return figure;
    }
    figure.quantity = "largest magnitude, " + QString::fromStdString(kind);
    figure.formula =
        QString(
            "max |x| over the entries of a place; %1 holds up to %2, with full precision from %3 on, and "
            "what is at "
            "most %4 becomes 0")
            .arg(title, brief(format.largest), brief(format.smallest_normal), brief(format.smallest / 2));
    figure.source = kSource;
    const std::string& probe = panel.probes.front();
    const ProfileOf profile = [&](const ProbeResult& sample) {
        return rangesAlongDepth(sample, kind, "amax");
    };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, probe, profile);
        return figure;
    }
    drawOverDepth(figure, input, probe, profile);
    if (figure.plots.empty()) return figure;
    Plot& plot = figure.plots.front();
    // A limit far above the values would press them into a line.
    double most = 0;
    QStringList parts;
    std::vector<Chip> chips;
    for (const ShownSample& shown : shownSamples(input, probe)) {
        const auto magnitudes = profile(*shown.sample);
        if (!shown.own() || !magnitudes) continue;
        const double largest = largestOf(magnitudes);
        most = std::fmax(most, largest);
        const QString text =
            QString(
                "%1: largest %2, %3 binades below %4's limit; above it %5, below full precision %6, lost %7")
                .arg(nameOf(*shown.run), brief(largest), brief(std::log2(format.largest / largest)), title,
                     percent(largestOf(rangesAlongDepth(*shown.sample, kind, "over_" + id))),
                     percent(largestOf(rangesAlongDepth(*shown.sample, kind, "under_" + id))),
                     percent(largestOf(rangesAlongDepth(*shown.sample, kind, "lost_" + id))));
        chips.push_back({Chip::Edge::TopLeft, text, Role{Role::Kind::Run, shown.index, 0}});
        parts << text;
    }
    if (most > 0x1p-10 * format.largest)
        plot.references.push_back({Qt::Horizontal, format.largest, "largest of " + title});
    addRunTexts(plot, chips);
    figure.summary = QString("%1 %2. Of the place with the most: %3")
                         .arg(figure.quantity, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
