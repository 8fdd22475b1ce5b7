// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/attention.h"

#include "core/base/assert.h"

namespace normscope {

namespace {

AttentionShape shape_of(const StackSpec& s, const AttentionOffsets& at, int n) {
    return {s.d_model,
            s.heads,
            s.kv_heads,
            s.d_head(),
            n,
            s.causal,
            s.qk_norm,
            at.q_norm.kind,
            at.local ? s.window : 0,
            s.attention_soft_cap};
}

template <class T>
AttentionWeights<T> weights_of(const Pass<T>& pass, const AttentionOffsets& at) {
    return {pass.linear(at.wqkv, at.bqkv), pass.linear(at.wo, at.bo), pass.at(at.q_norm.weight),
            pass.at(at.k_norm.weight),     pass.angles_of(at),        &pass.whole->eps,
            &pass.whole->attention_scale};
}

/// The tape from one sequence on.
template <class T>
AttentionTape<T> tape_from(const SublayerTape<T>& tape, const AttentionShape& s, int sequence) {
    const std::size_t maps = static_cast<std::size_t>(sequence) * static_cast<std::size_t>(s.heads);
    const std::size_t n = static_cast<std::size_t>(s.n), row = static_cast<std::size_t>(sequence) * n;
    const bool head = s.qk_norm == QkNorm::Head;
    AttentionTape<T> from{};
    from.qkv = tape.qkv + row * static_cast<std::size_t>(s.width());
    if (tape.qk) {
        from.qk = tape.qk + row * static_cast<std::size_t>(s.d_q() + s.d_kv());
        from.q_norm = tape.q_norm.from(head ? row * static_cast<std::size_t>(s.heads) : row);
        from.k_norm = tape.k_norm.from(head ? row * static_cast<std::size_t>(s.kv_heads) : row);
    }
    if (tape.probabilities) from.probabilities = tape.probabilities + maps * n * n;
    if (tape.capped) from.capped = tape.capped + maps * n * n;
    if (tape.row_softmax) from.row_softmax = tape.row_softmax + 2 * maps * n;
    from.mixed = tape.mixed + row * static_cast<std::size_t>(s.d_q());
    return from;
}

}  // namespace

bool hides(const StackSpec& spec, int length) {
    return spec.window > 0 && spec.window < length;
}

template <class T>
bool needs_probabilities(const LayerOps<T>& layers, const StackSpec& spec, int length) {
    return spec.attention_soft_cap > 0 || hides(spec, length) ||
           layers.needs_probabilities(length, spec.d_head());
}

template <class T>
void attention_forward(const Pass<T>& pass, const AttentionOffsets& at, Shard shard, int n, const T* u,
                       const SublayerTape<T>& tape) {
    const AttentionShape shape = shape_of(pass.spec, at, n);
    const std::size_t first =
        static_cast<std::size_t>(shard.first_sequence) * static_cast<std::size_t>(n) * shape.d;
    pass.layers.attention_forward(shape, shard.sequences, weights_of(pass, at), u,
                                  tape_from(tape, shape, shard.first_sequence), tape.f + first);
}

template <class T>
void attention_backward(const Pass<T>& pass, const AttentionOffsets& at, Shard shard, int n, const T* u,
                        const SublayerTape<T>& tape, const T* df, T* du, T* gradients, bool begun) {
    NORMSCOPE_ASSERT(!gradients || shard.directions == 1, "gradients are those of one direction");
    const AttentionShape shape = shape_of(pass.spec, at, n);
    AttentionGradients<T> into{};
    if (gradients)
        into = {gradients + at.wqkv,
                gradient_at(gradients, at.bqkv),
                gradients + at.wo,
                begun ? nullptr : gradient_at(gradients, at.bo),
                gradient_at(gradients, at.q_norm.weight),
                gradient_at(gradients, at.k_norm.weight),
                pass.fresh_gradients};
    pass.layers.attention_vjp(shape, shard.sequences, shard.directions, weights_of(pass, at),
                              tape_from(tape, shape, shard.first_sequence), u, df, du,
                              gradients ? &into : nullptr);
}

template <class T>
void attention_tangent(const Pass<T>& pass, const AttentionOffsets& at, int sequence, int n, int first_token,
                       int directions, const SublayerTape<T>& tape, const T* tu, T* tf) {
    NORMSCOPE_ASSERT(pass.spec.causal || first_token == 0,
                     "without a causal mask every token depends on all");
    const AttentionShape shape = shape_of(pass.spec, at, n);
    pass.layers.attention_jvp(shape, first_token, directions, weights_of(pass, at),
                              tape_from(tape, shape, sequence), tu, tf);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                       \
    template bool needs_probabilities<T>(const LayerOps<T>&, const StackSpec&, int);                   \
    template void attention_forward<T>(const Pass<T>&, const AttentionOffsets&, Shard, int, const T*,  \
                                       const SublayerTape<T>&);                                        \
    template void attention_backward<T>(const Pass<T>&, const AttentionOffsets&, Shard, int, const T*, \
                                        const SublayerTape<T>&, const T*, T*, T*, bool);               \
    template void attention_tangent<T>(const Pass<T>&, const AttentionOffsets&, int, int, int, int,    \
                                       const SublayerTape<T>&, const T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
