// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/launch/context.h"
#include "core/backend/pass_ops.h"

namespace normscope::cuda {

/// Attention between its projections, in tiles: no map is ever in memory, only the softmax of its rows
/// (AttentionTape::row_softmax). The scheme is FlashAttention-2's (Dao, 2023): the forward pass builds the
/// softmax while tiles of keys pass, the backward passes compute the scores again. Every kernel adds in a
/// fixed order and a block owns what it writes: the same call gives the same bits.
///
/// Arithmetic by `rounding`: float32 (fused multiply-adds), or tensor cores with operands in BF16 or FP16 and
/// sums in float32. The rules of cpu/autocast_kernels.h hold: operands and results of products are rounded to
/// the format, the softmax and its derivative are float32. It differs from attention with stored
/// probabilities in this:
///   - forward: P is rounded before it is divided by the row's sum;
///   - VJP: the heads of a group are added in float32, and their sum is rounded once;
///   - JVP: the sum P'V + PV' is rounded once.
/// A number that is not finite reaches the rows that read it, and, multiplied by a masked zero, other rows of
/// its sequence and its heads; no others.
class TiledAttention {
  public:
    /// Rows of float32, or of 16 bits in the format of the operands.
    struct Rows {
        void* data;
        bool in_16_bits = false;
    };
    /// What the passes read and write of a tape.
    struct Tape {
        Rows qkv, mixed;     ///< [sequences·n, width] and [sequences·n, d_q]
        float* row_softmax;  ///< AttentionTape::row_softmax
    };
    static Tape tape_of(const AttentionTape<float>& tape) {
        return {{tape.qkv}, {tape.mixed}, tape.row_softmax};
    }

    /// qkv [sequences·n, width] → row_softmax and mixed.
    virtual void forward(Context&, const AttentionShape&, int sequences, const float* scale,
                         const Tape&) const = 0;
    /// dmixed [directions·sequences·n, d_q] → dqkv [directions·sequences·n, width]. sums
    /// [sum_chunks(), width], unless null: of dqkv's rows, chunk by chunk.
    virtual void vjp(Context&, const AttentionShape&, int sequences, int directions, const float* scale,
                     const Tape&, Rows dmixed, Rows dqkv, float* sums = nullptr) const = 0;
    /// Chunks of the sums of so many sequences' rows.
    virtual unsigned sum_chunks(const AttentionShape&, int sequences) const = 0;
    /// tqkv [directions·m, width] → tmixed [directions·m, d_q] of the tokens first_token … n − 1 (m) of one
    /// sequence; the others do not move.
    virtual void jvp(Context&, const AttentionShape&, int first_token, int directions, const float* scale,
                     const Tape&, const float* tqkv, float* tmixed) const = 0;

  protected:
    ~TiledAttention() = default;  // objects are static
};

/// Heads of at most this size.
inline constexpr int kTiledHead = 256;
/// A card trains without stored probabilities at every length: the GEMMs of one head's short maps are
/// launches of about 8 µs each, where one launch of tiles serves all heads.
inline constexpr int kStoredTokens = 0;

/// With these operands; None: float32.
const TiledAttention& tiled_attention(Rounding operands);
// Of one kind of operands each, with kernels of their own.
const TiledAttention& tiled_float();
const TiledAttention& tiled_bf16();
const TiledAttention& tiled_fp16();

}  // namespace normscope::cuda
