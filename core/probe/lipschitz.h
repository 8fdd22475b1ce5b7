// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/bounds/mixed_norm_search.h"
#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Lipschitz bounds of every layer in the block-∞/RMS norm (theory/layer_lipschitz.h) with, below them, the
/// largest gain that a search over JVPs found in the same norm (mixed_norm_search.h), and the projection
/// norms of [E] §6. Of the derivative of the forward map (gates count), at the hidden states of the probe
/// batch; bounds hold for every sequence of the batch, the search uses sequence 0. Without the rounding of an
/// emulated precision. Dimensionless; D layers, 2D sub-layers.
///   attention_value, attention_scores, attention [D]: the two pathways of L_MHA and their sum ([E] Thm 5.1,
///   corrected for biases, norms on q and k and rotary positions); attention_paper [D]: without the query
///   bias (NaN with norms on q and k, which the paper does not treat); attention_measured [D]; ffn,
///   ffn_measured [D]: L_FFN; SwiGLU's on the inputs of this batch; norm_gain, norm_gain_eps [sites]:
///   ‖γ‖∞·max 1/σ_ε over the tokens, and ‖γ‖∞/√ε ([E] Lemma A.1); label `sites`; sublayer, sublayer_measured
///   [2D], layer, layer_measured [D]: bounds of the whole one form, with norm_gain
///   ([E] Thms 5.2, 5.3); sublayer_eps, layer_eps: with norm_gain_eps, as the paper has it;
///   projection [D] = G_ℓ = ‖W^O‖₂‖W^Q‖₂‖W^K‖₂‖W^V‖₂; theta_over_tau [D]: largest θ of the layer's rows over
///   τ; input_norm, stream_norm [D]: B = longest token of the attention's input, of the hidden state before
///   the layer; proxy_input, proxy_stream [D] = S_ℓ = (θ/τ)·B²·G_ℓ with either.
/// In a parallel layer a sub-layer is the map of one alone (model/sublayer.h). …_measured is NaN in the
/// layers that label `measured` does not name. All NaN where a parameter or a hidden state is not finite.
template <class T>
ProbeResult probe_lipschitz(ProbeInput<T>& input);

ProbeInfo lipschitz_probe();

/// The layers that the search visits, evenly spread, and its effort: a function of the shape alone.
struct LipschitzPlan {
    std::vector<int> layers;
    SearchEffort effort;
    double operations = 0;  ///< of the whole search
};
LipschitzPlan plan_lipschitz(const ProbeShape& shape);

}  // namespace normscope
