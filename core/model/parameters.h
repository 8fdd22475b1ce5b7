// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/scheme.h"
#include "core/stack/stack_spec.h"

#include <cstddef>
#include <string>
#include <vector>

namespace normscope {

/// The offset of a tensor in the arena; kAbsent if unused by the spec.
inline constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

/// One named tensor of the arena. Names and shapes ([out, in]) are a public interface.
struct TensorInfo {
    std::string name;
    std::vector<int> shape;  ///< empty for a scalar
    std::size_t offset = 0;  ///< in elements
    std::size_t count = 1;
    int layer = -1;       ///< from 0; −1 outside the layers
    int sublayer = -1;    ///< 0 attention, 1 feed-forward; −1 otherwise
    bool frozen = false;  ///< has a gradient, but is ignored by optimizer and clipping
    bool decays() const { return shape.size() >= 2; }
    bool is_gate() const { return name.ends_with(".gate"); }
};

struct NormOffsets {
    std::size_t weight = kAbsent, bias = kAbsent;
    NormKind kind = NormKind::LayerNorm;  ///< its own parameters (norm_kind.h) follow the weight
    bool present() const { return weight != kAbsent; }
};

struct SublayerOffsets {
    NormOffsets norm_in, norm_out, norm_post;
    std::size_t scale = kAbsent;  ///< λ of the branch: a scalar or [d]
    std::size_t gate = kAbsent;   ///< shared by the layer's two sub-layers
};

struct AttentionOffsets : SublayerOffsets {
    std::size_t wqkv = kAbsent;  ///< wq, wk, wv are consecutive: [d_q + 2·d_kv, d]
    std::size_t bqkv = kAbsent;
    std::size_t wo = kAbsent, bo = kAbsent;
    NormOffsets q_norm, k_norm;  ///< on q and k: no bias
    bool local = false;          ///< has the stack's window
    std::size_t angles = 0;      ///< where its rotary angles begin (rope_table.h)
};

struct FeedForwardOffsets : SublayerOffsets {
    /// SwiGLU: w1 is w_gate followed by w_up, [2·d_ff, d], b1 likewise; w2 is w_down.
    std::size_t w1 = kAbsent, b1 = kAbsent, w2 = kAbsent, b2 = kAbsent;
};

/// A weight matrix of the passes: [out, in], of one or several consecutive tensors.
struct LinearLayer {
    std::size_t offset;
    int out, in;
};

/// The table of named tensors of a stack: one arena, each tensor at a fixed offset.
class ParameterTable {
  public:
    explicit ParameterTable(const StackSpec& spec);

    std::size_t size() const { return size_; }  ///< elements
    const std::vector<TensorInfo>& tensors() const { return tensors_; }
    const TensorInfo* find(const std::string& name) const;
    bool has_frozen() const;
    const std::vector<LinearLayer>& linear_layers() const { return linear_layers_; }

    /// A tied head is tok_emb. In a stack of patches tok_emb is a table of two rows, the class token and the
    /// bias of the patches, which are adjacent: the two kinds of tokens.
    std::size_t tok_emb = kAbsent, pos_emb = kAbsent, head = kAbsent;
    std::size_t patch_emb = kAbsent;  ///< of a stack of patches
    std::size_t head_bias = kAbsent;
    int embedded_tokens = 0;  ///< rows of tok_emb
    NormOffsets embedding_norm, final_norm;
    std::vector<AttentionOffsets> attention;
    std::vector<FeedForwardOffsets> feed_forward;

  private:
    std::size_t add(std::string name, std::vector<int> shape, int layer = -1, int sublayer = -1);
    NormOffsets add_norm(const std::string& name, const std::optional<NormSpec>& norm, int width, bool bias,
                         int layer = -1, int sublayer = -1);

    std::vector<TensorInfo> tensors_;
    std::vector<LinearLayer> linear_layers_;
    std::size_t size_ = 0;
};

}  // namespace normscope
