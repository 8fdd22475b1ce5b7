// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Positions along the depth: hidden state k = 0 … 2D lies at x = k/2, so that layers (counted from 1) are
/// the whole numbers, the embedding is 0, and an attention sub-layer ends half-way to its layer.
inline double depthX(int hidden_state) {
    return hidden_state / 2.0;
}

/// "embedding", "layer 3 · attn", "layer 3 · ffn".
QString depthName(int hidden_state);

/// The axis of a stack of D layers: "emb", then at most eight labelled layers; the other layers are minor
/// ticks.
Axis depthAxis(int depth);

/// Fills x_names and x_name_at for the hidden states `first` … 2D.
void nameDepths(Figure& figure, int depth, int first = 0);
/// Names for values of whole layers, "layer 3", and of what lies between two, "layers 3 → 4".
void nameLayers(Figure& figure, int depth);

/// A ▲ at the frame under the first bad layer of each run that has diverged at or before the shown step.
void markBadLayers(Plot& plot, const PanelInput& input);

}  // namespace normscope::widgets
