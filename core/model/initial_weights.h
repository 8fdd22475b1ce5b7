// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/parameters.h"

#include <cstdint>

namespace normscope {

/// Initial weights, drawn entry by entry from (seed, tensor name, row, column): a layer keeps its weights
/// when depth changes, a block when width changes. Tensors of two dimensions are normal with initial_std, the
/// others initial_constant. Uses default_threads() threads; the weights do not depend on their number.
template <class T>
void initialise(const StackSpec& spec, const ParameterTable& table, std::uint64_t seed, T* parameters);

/// The standard deviation of a matrix by the init rule; 0 for tensors of fewer dimensions. N is the depth.
/// Per rule: matrices of the blocks; embeddings; untied head.
///
///   lab          1/√d; 1, positions ½; 1/√d
///   plain        std; embedding_std; std
///   gpt2         std, output projections (wo, w2, w_down) std/√(2N), so that the 2N branches' sum keeps its
///                size; embedding_std; std
///   xavier       Xavier-normal, gain 1: √(2/(fan in + fan out)); embedding_std; Xavier
///   deepnorm     Xavier-normal: q and k gain 1, v, o and all of the feed-forward map (8N)^(−1/4) (DeepNet as
///                in [G]); embedding_std; std
///   path_length  std·N^(−1/path_maps): every map of a branch lies on its path ([E] Thm 6.2); embedding_std;
///                std
///
/// [E] counts four maps (q, k, v, o), but the value path of its own Theorem 5.1 has two, and stays bounded
/// over N layers only with path_maps ≤ 2. "Scaled Embed" of [G] is plain with embedding_std √(2/5).
double initial_std(const StackSpec& spec, const TensorInfo& tensor);

/// The initial value of a tensor of fewer than two dimensions: norm weights 1 (input norms of LNS in its γ
/// form 1/√ℓ, ℓ the layer from 1), branch scales branch_scale_init, biases and gates 0.
double initial_constant(const StackSpec& spec, const TensorInfo& tensor);

}  // namespace normscope
