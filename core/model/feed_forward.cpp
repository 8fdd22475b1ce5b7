// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/feed_forward.h"

#include "core/model/scratch_slots.h"

namespace normscope {

namespace {

/// Buffers of a backward or tangent pass over R rows: [R, feed_forward_width] before the activation and [R,
/// d_ff] after it; the same buffer where the activation is not gated.
template <class T>
struct Buffers {
    Buffers(const Pass<T>& pass, int R) {
        const std::size_t wide = static_cast<std::size_t>(R) * feed_forward_width(pass.spec);
        const std::size_t narrow = static_cast<std::size_t>(R) * pass.spec.d_ff;
        pre = pass.device.template scratch_of<T>(kFeedForward, wide == narrow ? wide : wide + narrow);
        activated = wide == narrow ? pre : pre + wide;
    }
    T *pre, *activated;
};

}  // namespace

template <class T>
void feed_forward_forward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                          const SublayerTape<T>& tape) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec),
              R = shard.sequences * n;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    T* pre = tape.pre + first * wide;
    T* activated = tape.activated + first * ff;
    pass.layers.linear(R, wide, d, u, pass.linear(at.w1, at.b1), pre);
    if (is_gated(pass.spec.activation))
        pass.elementwise.gated(pass.spec.activation, R, ff, pre, activated);
    else
        pass.elementwise.activation(pass.spec.activation, static_cast<std::size_t>(R) * ff, pre, activated,
                                    tape.slope + first * ff);
    pass.layers.linear(R, d, ff, activated, pass.linear(at.w2, at.b2), tape.f + first * d);
}

template <class T>
void feed_forward_backward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                           const SublayerTape<T>& tape, const T* df, T* du, T* gradients, bool begun) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec),
              rows = shard.sequences * n, R = shard.directions * rows;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    const Buffers<T> gradient(pass, R);
    pass.layers.linear_input_gradient(R, d, ff, df, pass.at(at.w2), gradient.activated);
    if (gradients) {
        pass.layers.linear_weight_gradient(R, d, ff, df, tape.activated + first * ff, pass.fresh_gradients,
                                           gradients + at.w2);
        if (T* bias = gradient_at(gradients, at.b2); bias && !begun) pass.layers.column_sums(R, d, df, bias);
    }
    T* const bias = gradient_at(gradients, at.b1);
    const std::size_t piece = static_cast<std::size_t>(rows) * ff,
                      wide_piece = static_cast<std::size_t>(rows) * wide;
    for (int i = 0; i < shard.directions; ++i) {
        const T* after = gradient.activated + i * piece;
        T* before = gradient.pre + i * wide_piece;
        if (is_gated(pass.spec.activation))
            pass.elementwise.gated_vjp(pass.spec.activation, rows, ff, tape.pre + first * wide, after,
                                       before);
        else if (bias)
            pass.elementwise.multiply_rows(rows, ff, tape.slope + first * ff, after, before, bias);
        else
            pass.elementwise.multiply(piece, tape.slope + first * ff, after, before);
    }
    pass.layers.linear_input_gradient(R, wide, d, gradient.pre, pass.at(at.w1), du);
    if (gradients) {
        pass.layers.linear_weight_gradient(R, wide, d, gradient.pre, u, pass.fresh_gradients,
                                           gradients + at.w1);
        if (bias && is_gated(pass.spec.activation)) pass.layers.column_sums(R, wide, gradient.pre, bias);
    }
}

template <class T>
void feed_forward_tangent(const Pass<T>& pass, const FeedForwardOffsets& at, int sequence, int n,
                          int first_token, int directions, const SublayerTape<T>& tape, const T* tu, T* tf) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec);
    const int m = n - first_token, R = directions * m;
    const Buffers<T> tangent(pass, R);
    const std::size_t first = static_cast<std::size_t>(sequence) * n + first_token;
    pass.layers.linear(R, wide, d, tu, pass.linear(at.w1), tangent.pre);
    for (int k = 0; k < directions; ++k) {  // all directions use the same rows of the activation
        const std::size_t rows = static_cast<std::size_t>(k) * m;
        const T* in = tangent.pre + rows * wide;
        T* out = tangent.activated + rows * ff;
        if (is_gated(pass.spec.activation))
            pass.elementwise.gated_jvp(pass.spec.activation, m, ff, tape.pre + first * wide, in, out);
        else
            pass.elementwise.multiply(static_cast<std::size_t>(m) * ff, tape.slope + first * ff, in, out);
    }
    pass.layers.linear(R, d, ff, tangent.activated, pass.linear(at.w2), tf);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                            \
    template void feed_forward_forward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*,  \
                                          const SublayerTape<T>&);                                          \
    template void feed_forward_backward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*, \
                                           const SublayerTape<T>&, const T*, T*, T*, bool);                 \
    template void feed_forward_tangent<T>(const Pass<T>&, const FeedForwardOffsets&, int, int, int, int,    \
                                          const SublayerTape<T>&, const T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
