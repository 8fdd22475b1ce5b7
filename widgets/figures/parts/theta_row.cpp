// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/theta_row.h"

#include "core/theory/softmax_sensitivity.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/parts/samples.h"
#include "widgets/figures/token_words.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr double kSumTolerance = 1e-2;  // rows of an emulated precision sum to 1 within this

/// One recorded row of attention.
struct CachedRow {
    std::size_t layer = 0, head = 0;
    int sequence = 0, token = 0;
    double theta = kNaN;
    std::vector<double> p;
    std::vector<bool> in_subset;
    QStringList words;  ///< the keys' tokens; empty where the sample has no texts
    int hidden = 0;     ///< keys at the row's begin that a window hides

    std::size_t entries() const { return p.size() - std::size_t(hidden); }
    double relative() const { return theta / uniform_row_sensitivity(entries()); }
};

enum class Kept { Absent, NotFinite, Row };

/// The row of a layer and head.
Kept cachedRow(const ProbeResult& sample, const RunData& run, std::size_t layer, std::size_t head,
               CachedRow& row) {
    const NamedArray *rows = arrayOf(sample, "lowest_row", 3), *subsets = arrayOf(sample, "lowest_subset", 3),
                     *info = arrayOf(sample, "lowest_info", 3);
    if (!rows || !subsets || !info || subsets->shape != rows->shape || info->shape[2] != 3 ||
        info->shape[0] != rows->shape[0] || info->shape[1] != rows->shape[1] || layer >= rows->shape[0] ||
        head >= rows->shape[1])
        return Kept::Absent;
    const std::size_t at = layer * rows->shape[1] + head, n = rows->shape[2];
    row = {layer, head, 0, 0, info->data[3 * at + 2], {}, {}, {}, 0};
    if (!std::isfinite(row.theta)) return Kept::NotFinite;
    row.sequence = int(info->data[3 * at]);
    row.token = int(info->data[3 * at + 1]);
    for (std::size_t i = at * n; i < (at + 1) * n && std::isfinite(rows->data[i]); ++i) {
        row.p.push_back(rows->data[i]);
        row.in_subset.push_back(subsets->data[i] > 0.5);
    }
    row.words = tokenWords(sample, row.sequence);
    if (const Recipe* recipe = run.recipe.get())
        row.hidden = std::min(recipe->stack.first_key(int(layer), row.token), int(row.p.size()) - 1);
    return row.p.empty() ? Kept::NotFinite : Kept::Row;
}

/// The selected head's row, or the lowest one of all.
Kept shownRow(const ProbeResult& sample, const RunData& run, const PanelInput& input, CachedRow& row) {
    if (input.selected_layer >= 0 && input.selected_head >= 0)
        return cachedRow(sample, run, std::size_t(input.selected_layer), std::size_t(input.selected_head),
                         row);
    const NamedArray* info = arrayOf(sample, "lowest_info", 3);
    if (!info) return Kept::Absent;
    Kept best = Kept::Absent;
    for (std::size_t layer = 0; layer < info->shape[0]; ++layer)
        for (std::size_t head = 0; head < info->shape[1]; ++head) {
            if (input.selected_layer >= 0 && std::size_t(input.selected_layer) != layer) continue;
            CachedRow candidate;
            const Kept kept = cachedRow(sample, run, layer, head, candidate);
            if (kept == Kept::Row && (best != Kept::Row || candidate.relative() < row.relative()))
                row = candidate;
            best = std::max(best, kept);
        }
    return best;
}

Plot rowPlot(const CachedRow& row, const ShownSample& shown) {
    const Role role{Role::Kind::Run, shown.index, 0};
    Plot plot;
    plot.heading =
        QString("%1 · layer %2, head %3").arg(nameOf(*shown.run)).arg(row.layer + 1).arg(row.head + 1);
    plot.x.label = "key";
    plot.x.integers = true;
    plot.x.words = row.words.mid(0, qsizetype(row.p.size()));
    plot.y.label = "probability";
    Stems inside{"S*", role, {}, {}, 0};
    Curve outside;
    outside.name = "outside";
    outside.role = role;
    outside.kind = LineKind::Draft;
    outside.markers = true;
    outside.line = false;
    outside.label_at_end = false;
    double mass = 0, sum = 0;
    for (std::size_t i = 0; i < row.p.size(); ++i) {
        auto& x = row.in_subset[i] ? inside.x : outside.x;
        auto& y = row.in_subset[i] ? inside.y : outside.y;
        x.push_back(double(i + 1));
        y.push_back(row.p[i]);
        sum += row.p[i];
        if (row.in_subset[i]) mass += row.p[i];
    }
    plot.stems.push_back(std::move(inside));
    if (!outside.x.empty()) plot.curves.push_back(std::move(outside));
    plot.references.push_back({Qt::Horizontal, 1 / double(row.p.size()), "uniform"});
    const double largest = *std::max_element(row.p.begin(), row.p.end());
    plot.x.range = {0, double(row.p.size()) + 1};
    plot.y.range = {0, 1.7 * largest};  // space for the chips above the stems
    const double kappa = std::max(0.0, 1 - largest / sum);
    const auto chip = [&plot](const QString& text) {
        plot.chips.push_back({Chip::Edge::TopRight, text, {}});
    };
    chip(QString("θ %1, uniform %2")
             .arg(numberText(row.theta, 4), numberText(uniform_row_sensitivity(row.entries()), 4)));
    chip(QString("p(S*) %1").arg(numberText(mass / sum, 4)));
    chip(QString("prefix heuristic %1")
             .arg(numberText(prefix_heuristic_sensitivity(row.p, kSumTolerance), 4)));
    chip(kappa <= 0.5 ? QString("peaked-row bound %1").arg(numberText(peaked_row_bound(kappa), 4))
                      : QString("peaked-row bound 1 (κ = %1)").arg(numberText(kappa, 2)));
    const QString word = row.words.value(row.token);
    chip(QString("sequence %1, token %2%3")
             .arg(row.sequence + 1)
             .arg(row.token + 1)
             .arg(word.isEmpty() ? QString() : QString(" “%1”").arg(word)));
    return plot;
}

}  // namespace

void drawThetaRow(Figure& figure, const PanelInput& input) {
    figure.side_by_side = true;
    const auto samples = shownSamples(input, "theta");
    std::vector<bool> drawn(input.runs.size(), false);
    QStringList parts;
    for (const ShownSample& shown : samples) {
        if (!shown.own()) continue;
        CachedRow row;
        const Kept kept = shownRow(*shown.sample, *shown.run, input, row);
        if (kept == Kept::Absent) continue;
        drawn[shown.index] = true;
        if (kept == Kept::Row) {
            figure.plots.push_back(rowPlot(row, shown));
            parts << QString("%1: layer %2, head %3 has θ = %4 over %5 keys")
                         .arg(nameOf(*shown.run))
                         .arg(row.layer + 1)
                         .arg(row.head + 1)
                         .arg(numberText(row.theta, 4))
                         .arg(row.p.size());
        } else {
            Plot plot;
            plot.heading = nameOf(*shown.run);
            const QString why = shown.sample->only().empty() ? "attention is not finite" : "not measured";
            plot.chips.push_back({Chip::Edge::TopRight, why, Role{Role::Kind::Run, shown.index, 0}});
            figure.plots.push_back(std::move(plot));
            parts << nameOf(*shown.run) + ": " + why;
        }
    }
    figure.subtitle = atStep(samples);
    figure.summary = QString("The row with the lowest θ, %1. %2").arg(figure.subtitle, parts.join("; "));
    annotateMissing(figure, input, "theta", drawn);
}

}  // namespace normscope::widgets
