// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/depth_axis.h"

namespace normscope::widgets {

namespace {

constexpr int kMaxLabels = 7;
constexpr int kMaxTicks = 64;

/// 1, 2, 4, 5, 10, 20, 40, 50, 100, … : the smallest that leaves at most kMaxLabels labelled layers.
int labelStride(int depth) {
    for (int decade = 1;; decade *= 10)
        for (const int factor : {1, 2, 4, 5})
            if (depth <= kMaxLabels * factor * decade) return factor * decade;
}

}  // namespace

QString depthName(int hidden_state) {
    if (hidden_state == 0) return "embedding";
    return QString("layer %1 · %2").arg((hidden_state + 1) / 2).arg(hidden_state % 2 ? "attn" : "ffn");
}

Axis depthAxis(int depth) {
    Axis axis;
    axis.label = "layer";
    axis.integers = true;
    axis.ticks.push_back({0, "emb", false});
    const int stride = labelStride(depth);
    for (int layer = 1; layer <= depth; ++layer) {
        const bool labelled = layer % stride == 0;
        if (labelled || depth <= kMaxTicks)
            axis.ticks.push_back({double(layer), labelled ? QString::number(layer) : QString(), !labelled});
    }
    return axis;
}

void nameDepths(Figure& figure, int depth, int first) {
    for (int k = first; k <= 2 * depth; ++k) {
        figure.x_names << depthName(k);
        figure.x_name_at.push_back(depthX(k));
    }
}

void nameLayers(Figure& figure, int depth) {
    for (int layer = 1; layer <= depth; ++layer) {
        figure.x_names << QString("layer %1").arg(layer);
        figure.x_name_at.push_back(layer);
        if (layer == depth) break;
        figure.x_names << QString("layers %1 → %2").arg(layer).arg(layer + 1);
        figure.x_name_at.push_back(layer + 0.5);
    }
}

void markBadLayers(Plot& plot, const PanelInput& input) {
    for (std::size_t i = 0; i < input.runs.size(); ++i) {
        const Outcome& outcome = input.runs[i]->outcome;
        if (outcome.state == RunState::Diverged && outcome.layer >= 0 && input.shownStep() >= outcome.step)
            plot.frame_marks.push_back(
                {outcome.layer + 1.0, "▲", Role{Role::Kind::Run, static_cast<int>(i), 0}});
    }
}

}  // namespace normscope::widgets
