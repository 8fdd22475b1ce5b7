// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/updates_panel.h"

#include "widgets/figures/parts/depth_axis.h"
#include "widgets/figures/parts/depth_figure.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr const char* kAfterTheDepth[] = {"head", "norms", "scales"};

/// A choice of the panel.
struct Quantity {
    const char* option;
    const char* array;
    const char* title;
    const char* formula;
    bool share;  ///< 0 to 1
};
constexpr Quantity kQuantities[] = {
    {"ratio", "update_ratio", "‖Δθ‖ ÷ ‖θ‖",
     "‖θ after the step − θ before it‖₂/‖θ before it‖₂ over the tensors of a group", false},
    {"under_eps", "under_eps", "share of entries with √v̂ < ε",
     "v̂: Adam's mean squared gradient after clipping, without its bias. Below ε the update of an entry "
     "shrinks with its gradient. Entries without any gradient so far are not counted",
     true},
    {"bf16_unmoved", "bf16_unmoved", "share of entries that BF16 alone would not move",
     "bf16(bf16(θ) + Δθ) = bf16(θ), of the entries with Δθ ≠ 0: what weights without a float32 master copy "
     "would lose. Here the optimizer updates float32 weights",
     true},
};

const Quantity& quantityOf(const std::string& option) {
    for (const Quantity& quantity : kQuantities)
        if (option == quantity.option) return quantity;
    return kQuantities[0];
}

/// One sample by its group names; empty where label and array do not fit.
struct Groups {
    Profile along;  ///< embedding and sub-layers
    std::vector<std::pair<QString, double>> after;
};

std::optional<Groups> groupsOf(const ProbeResult& sample, const std::string& quantity) {
    const auto names = sample.labels.find("groups");
    const NamedArray* ratio = arrayOf(sample, quantity, 1);
    if (names == sample.labels.end() || !ratio || ratio->data.size() != names->second.size())
        return std::nullopt;
    Groups groups;
    for (std::size_t i = 0; i < ratio->data.size(); ++i) {
        const QString name = QString::fromStdString(names->second[i]);
        const QStringList parts = name.split('.');
        if (parts.size() == 3 && parts[0] == "blocks") {
            const int layer = parts[1].toInt() + 1;
            groups.along.depth = std::max(groups.along.depth, layer);
            groups.along.x.push_back(depthX(2 * layer - (parts[2] == "attn" ? 1 : 0)));
            groups.along.y.push_back(ratio->data[i]);
        } else if (name == "embedding") {
            groups.along.x.push_back(0);
            groups.along.y.push_back(ratio->data[i]);
        } else {
            groups.after.emplace_back(name, ratio->data[i]);
        }
    }
    if (groups.along.x.empty()) return std::nullopt;
    return groups;
}

std::optional<Profile> alongDepth(const ProbeResult& sample, const std::string& quantity) {
    const auto groups = groupsOf(sample, quantity);
    if (!groups) return std::nullopt;
    return groups->along;
}

/// Groups without a depth are placed after the last layer, each at a tick of its name.
void drawAfterTheDepth(Figure& figure, const PanelInput& input, const std::string& probe,
                       const std::string& quantity) {
    Plot& plot = figure.plots.front();
    int depth = 0;
    std::vector<std::pair<const ShownSample, Groups>> shown_groups;
    for (const ShownSample& shown : shownSamples(input, probe))
        if (auto groups = groupsOf(*shown.sample, quantity)) {
            depth = std::max(depth, groups->along.depth);
            shown_groups.emplace_back(shown, std::move(*groups));
        }
    const int apart = std::max(1, depth / 6);  // space for the name of each tick
    int place = depth;
    for (const char* name : kAfterTheDepth) {
        bool any = false;
        for (const auto& [shown, groups] : shown_groups)
            for (const auto& [group, value] : groups.after) {
                if (group != name) continue;
                if (!any) place += apart;
                any = true;
                Curve point;
                point.name = nameOf(*shown.run) + ", " + group;
                point.role = {Role::Kind::Run, shown.index, 0};
                point.kind = shown.kind;
                point.x = {double(place)};
                point.y = {value};
                point.markers = true;
                point.label_at_end = false;
                plot.curves.push_back(std::move(point));
            }
        if (!any) continue;
        plot.x.ticks.push_back({double(place), name, false});
        figure.x_names << name;
        figure.x_name_at.push_back(place);
    }
    for (std::size_t i = 1; i < figure.plots.size(); ++i) figure.plots[i].x = plot.x;
}

/// The same groups over the steps, in the plot of each run.
void drawAfterTheSteps(Figure& figure, const PanelInput& input, const std::string& probe,
                       const std::string& quantity) {
    auto plot = figure.plots.begin();
    for (std::size_t i = 0; i < input.runs.size() && plot != figure.plots.end(); ++i) {
        const auto samples = input.runs[i]->probes.find(probe);
        if (plot->heading != nameOf(*input.runs[i]) || samples == input.runs[i]->probes.end()) continue;
        for (const char* name : kAfterTheDepth) {
            Curve curve;
            curve.name = name;
            curve.role = {Role::Kind::Run, int(i), 0};
            for (const ProbeResult& sample : samples->second) {
                if (input.exploring && sample.step > 0) break;
                const auto groups = groupsOf(sample, quantity);
                if (!groups) continue;
                for (const auto& [group, value] : groups->after)
                    if (group == name) {
                        curve.x.push_back(double(sample.step));
                        curve.y.push_back(value);
                    }
            }
            curve.markers = curve.x.size() == 1;
            if (!curve.x.empty()) plot->curves.push_back(std::move(curve));
        }
        ++plot;
    }
}

}  // namespace

PanelInfo updatesPanel() {
    return {"updates",
            "Updates",
            {"updates"},
            {{"quantity", "Quantity", {"ratio", "under_eps", "bf16_unmoved"}}, depthOrStepOption()},
            &buildUpdates,
            false,
            true};
}

Figure buildUpdates(const PanelInput& input) {
    const PanelInfo panel = updatesPanel();
    const PanelOptions options = resolveOptions(panel, input.options);

    Figure figure = startFigure(panel);
    const Quantity& shown_quantity = quantityOf(options.at("quantity"));
    figure.quantity = shown_quantity.title;
    figure.formula = QString(shown_quantity.formula) +
                     ". Groups: the embeddings, the matrices and biases of each sub-layer, the head, all "
                     "norms, and branch scales with gates. It is the update that this step of the run makes, "
                     "on its training batch, decay and clipping included; while exploring, the first step, "
                     "applied and undone. A step whose update was skipped has no value.";
    figure.source = "measured; no paper's bound";

    const std::string array = shown_quantity.array;
    const auto profile = [&](const ProbeResult& sample) { return alongDepth(sample, array); };
    if (options.at("x") == "step") {
        drawOverSteps(figure, input, panel.probes.front(), profile);
        drawAfterTheSteps(figure, input, panel.probes.front(), array);
        if (shown_quantity.share) makeLinear(figure, true);
        return figure;
    }
    drawOverDepth(figure, input, panel.probes.front(), profile);
    if (figure.plots.empty()) return figure;
    QStringList parts;
    for (const ShownSample& shown : shownSamples(input, panel.probes.front())) {
        const auto p = alongDepth(*shown.sample, array);
        if (!shown.own() || !p) continue;
        const auto finite = [](double v) { return std::isfinite(v); };
        const auto first = std::find_if(p->y.begin(), p->y.end(), finite);
        const auto last = std::find_if(p->y.rbegin(), p->y.rend(), finite);
        if (first == p->y.end()) continue;
        parts << QString(shown.sample->only().empty() ? "%1: %2 first, %3 in the last layer"
                                                      : "%1: %2 first, %3 last of those measured")
                     .arg(nameOf(*shown.run), brief(*first), brief(*last));
    }
    drawAfterTheDepth(figure, input, panel.probes.front(), array);
    if (shown_quantity.share) makeLinear(figure, false);
    figure.summary = QString("%1 %2. %3").arg(figure.title, figure.subtitle, parts.join("; "));
    return figure;
}

}  // namespace normscope::widgets
