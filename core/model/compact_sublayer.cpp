// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/compact_sublayer.h"

#include "core/base/assert.h"
#include "core/model/attention.h"

namespace normscope {

namespace {

template <class T>
CompactAttention<T> attention_of(const Pass<T>& p, const AttentionOffsets& at, Shard shard, int n,
                                 const SublayerTape<T>& tape) {
    const StackSpec& s = p.spec;
    return {{s.d_model, s.heads, s.kv_heads, s.d_head(), n, s.causal, s.qk_norm, at.q_norm.kind},
            shard.sequences,
            p.short_linear(at.wqkv, at.bqkv),
            p.short_linear(at.wo, at.bo),
            p.angles_of(at),
            &p.whole->attention_scale,
            tape.row_softmax};
}

template <class T>
CompactFeedForward feed_forward_of(const Pass<T>& p, const FeedForwardOffsets& at, Shard shard, int n) {
    return {p.spec.activation, shard.sequences * n,          p.spec.d_model,
            p.spec.d_ff,       p.short_linear(at.w1, at.b1), p.short_linear(at.w2, at.b2)};
}

}  // namespace

template <class T>
CompactParts compact_parts(const StackSpec& spec, const ParameterTable& table, const CompactOps<T>* compact,
                           int length) {
    const AttentionShape shape{spec.d_model, spec.heads,  spec.kv_heads, spec.d_head(),
                               length,       spec.causal, spec.qk_norm,  NormKind::RmsNorm};
    const auto whole = [](std::size_t count) { return count % CompactOps<T>::kRow == 0; };
    const auto aligned = [&](std::size_t offset) { return offset == kAbsent || whole(offset); };
    if (!compact || spec.attention_soft_cap > 0 || hides(spec, length) || !compact->takes(shape) ||
        !whole(table.size()))
        return {};
    for (const int columns : {spec.d_model, shape.d_q(), shape.width(), spec.d_ff})
        if (!whole(static_cast<std::size_t>(columns))) return {};
    for (std::size_t l = 0; l < table.attention.size(); ++l) {
        const AttentionOffsets& a = table.attention[l];
        const FeedForwardOffsets& f = table.feed_forward[l];
        for (const std::size_t at : {a.wqkv, a.bqkv, a.wo, a.bo, f.w1, f.b1, f.w2, f.b2})
            if (!aligned(at)) return {};
    }
    return {true, aligned(table.head) && table.head_bias == kAbsent && spec.logit_soft_cap <= 0};
}

template <class T>
void compact_forward(const Pass<T>& p, int index, Shard shard, int n, const T* u, const SublayerTape<T>& tape,
                     const CompactRows<T>& f) {
    NORMSCOPE_ASSERT(shard.first_sequence == 0, "a tape in 16 bits is of one shard");
    const auto layer = static_cast<std::size_t>(index / 2);
    if (index % 2 == 0)
        p.compact->attention_forward(attention_of(p, p.table.attention[layer], shard, n, tape), u,
                                     tape.compact, f);
    else
        p.compact->feed_forward_forward(feed_forward_of(p, p.table.feed_forward[layer], shard, n), u,
                                        tape.compact, f);
}

template <class T>
void compact_backward(const Pass<T>& p, int index, Shard shard, int n, const SublayerTape<T>& tape,
                      const T* factor, const T* dy, const std::uint16_t* df, const CompactRows<T>& du,
                      T* gradients) {
    NORMSCOPE_ASSERT(gradients && shard.directions == 1, "a tape in 16 bits is of a training step");
    const auto layer = static_cast<std::size_t>(index / 2);
    const auto into = [&](std::size_t weight, std::size_t bias) {
        return CompactLinearGradients<T>{p.short_gradients + weight, gradient_at(gradients, bias)};
    };
    const auto last_bias = [&](std::size_t bias) { return df ? kAbsent : bias; };
    if (index % 2 == 0) {
        const AttentionOffsets& at = p.table.attention[layer];
        p.compact->attention_vjp(attention_of(p, at, shard, n, tape), tape.compact, factor, dy, df, du,
                                 into(at.wqkv, at.bqkv), into(at.wo, last_bias(at.bo)));
    } else {
        const FeedForwardOffsets& at = p.table.feed_forward[layer];
        p.compact->feed_forward_vjp(feed_forward_of(p, at, shard, n), tape.compact, factor, dy, df, du,
                                    into(at.w1, at.b1), into(at.w2, last_bias(at.b2)));
    }
}

#define NORMSCOPE_INSTANTIATE(T)                                                                          \
    template CompactParts compact_parts<T>(const StackSpec&, const ParameterTable&, const CompactOps<T>*, \
                                           int);                                                          \
    template void compact_forward<T>(const Pass<T>&, int, Shard, int, const T*, const SublayerTape<T>&,   \
                                     const CompactRows<T>&);                                              \
    template void compact_backward<T>(const Pass<T>&, int, Shard, int, const SublayerTape<T>&, const T*,  \
                                      const T*, const std::uint16_t*, const CompactRows<T>&, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
