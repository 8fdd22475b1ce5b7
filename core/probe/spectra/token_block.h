// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/model/transformer.h"

#include <functional>
#include <vector>

namespace normscope {

using BlockMatrix = std::vector<double>;  ///< [d, d] row-major, rows are outputs

/// ∂(last token out)/∂(last token in) of the sub-layers begin … end − 1, back-propagated sense, at one
/// sequence of the tape. In a causal stack, and in a feed-forward sub-layer, it affects only the last token;
/// otherwise the whole sequence is computed.
template <class T>
BlockMatrix token_block(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end);

/// The sub-layers of a model whose blocks are wanted; those of a layer only where both of its sub-layers are.
struct RequestedBlocks {
    std::vector<bool> sublayers;  ///< [2D]; empty: all
    bool all() const { return sublayers.empty(); }
    bool sublayer(std::size_t k) const { return all() || sublayers[k]; }
    bool layer(std::size_t l) const { return sublayer(2 * l) && sublayer(2 * l + 1); }
    /// Of the layers from this one on, `count` of them.
    RequestedBlocks layers_from(int first, int count) const;
};

/// The blocks of the 2D sub-layers at sequence 0, empty where not wanted. `check` is called between them and
/// may throw.
std::vector<BlockMatrix> sublayer_blocks(const Transformer<double>& model, const Tape<double>& tape,
                                         const RequestedBlocks& wanted, ThreadPool& pool,
                                         const std::function<void()>& check);

/// Whether a layer's block is the product of its sub-layers' blocks and the stack's that of its layers'.
inline bool blocks_multiply(const StackSpec& spec) {
    return spec.causal && spec.layout == Layout::Serial;
}

/// The blocks of the D layers, empty where not wanted; `sublayers` as sublayer_blocks() gives them.
std::vector<BlockMatrix> layer_blocks(const Transformer<double>& model, const Tape<double>& tape,
                                      const RequestedBlocks& wanted,
                                      const std::vector<BlockMatrix>& sublayers, ThreadPool& pool);

/// The block of the whole stack; `layers` as layer_blocks() gives all of them.
BlockMatrix stack_block(const Transformer<double>& model, const Tape<double>& tape,
                        const std::vector<BlockMatrix>& layers, ThreadPool& pool);

/// later·earlier, [d, d] each.
BlockMatrix block_product(const BlockMatrix& later, const BlockMatrix& earlier, int d);

/// Singular values of each block, descending, [blocks, d]; NaN where a block is not finite or empty.
std::vector<double> block_spectra(const std::vector<BlockMatrix>& blocks, int d, ThreadPool& pool,
                                  const std::function<void()>& check);

/// ‖B_i − shortcut_i·I‖₂ of each block, to 1e-9 of itself or round-off; NaN where it is not finite.
std::vector<double> branch_norms(const std::vector<BlockMatrix>& blocks, const std::vector<double>& shortcuts,
                                 int d, ThreadPool& pool, const std::function<void()>& check);

}  // namespace normscope
