// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/theory/layer_lipschitz.h"

#include <functional>
#include <vector>

namespace normscope {

/// Lipschitz bounds and projection norms of one layer, from its weights and the tape (layer_lipschitz.h).
struct LayerBounds {
    AttentionLipschitz attention;
    double attention_paper = 0;  ///< without the query bias; NaN with norms on q and k
    double feed_forward = 0;
    /// Of attention and of the feed-forward map in the one form; .._eps with 1/√ε for every norm's 1/σ_ε.
    SublayerLipschitz sublayer[2], sublayer_eps[2];
    double layer = 0, layer_eps = 0;
    SensitivityFactors input, stream;  ///< with B of the attention's input, of the hidden state before it
};

/// The parts of a layer that are measured; the numbers of the others are not set.
struct LayerParts {
    bool attention = true, feed_forward = true;
};

/// One thread; `check` may throw.
template <class T>
LayerBounds layer_bounds(const Transformer<T>& model, const Tape<T>& tape, int layer, LayerParts parts,
                         const std::function<void()>& check);

/// Upper ends of the certificates of max θ over the rows of every head of a layer, at most 1; longest rows
/// first, until one is within the certificates' tolerance of 1 (softmax_sensitivity.h). NaN where a
/// probability is not finite.
template <class T>
std::vector<double> largest_thetas(const Transformer<T>& model, const Tape<T>& tape, int layer);

/// ‖γ‖∞ of a site times the largest 1/σ_ε of its tokens; with_eps: times 1/√ε instead.
template <class T>
double site_gain(const Transformer<T>& model, const Tape<T>& tape, const NormSite& site, bool with_eps);

}  // namespace normscope
