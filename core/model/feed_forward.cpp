// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/feed_forward.h"

namespace normscope {

namespace {

/// Buffers of a backward or tangent pass over R rows: [R, feed_forward_width] before the activation and [R,
/// d_ff] behind it; one and the same where the activation is not gated.
template <class T>
struct Buffers {
    Buffers(const StackSpec& spec, int R, std::vector<T>& scratch) {
        const std::size_t wide = static_cast<std::size_t>(R) * feed_forward_width(spec);
        const std::size_t narrow = static_cast<std::size_t>(R) * spec.d_ff;
        scratch.resize(wide == narrow ? wide : wide + narrow);
        pre = scratch.data();
        activated = wide == narrow ? pre : pre + wide;
    }
    T *pre, *activated;
};

bool gated(const StackSpec& spec) {
    return spec.activation == Activation::SwiGlu;
}

}  // namespace

template <class T>
void feed_forward_forward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                          const SublayerTape<T>& tape) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec),
              R = shard.sequences * n;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    T* pre = tape.pre + first * wide;
    T* activated = tape.activated + first * ff;
    pass.linear(R, wide, d, u, at.w1, at.b1, pre);
    if (gated(pass.spec))
        pass.kernels.swiglu(R, ff, pre, activated);
    else
        pass.kernels.activation(pass.spec.activation, static_cast<std::size_t>(R) * ff, pre, activated,
                                tape.slope + first * ff);
    pass.linear(R, d, ff, activated, at.w2, at.b2, tape.f + first * d);
}

template <class T>
void feed_forward_backward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                           const SublayerTape<T>& tape, const T* df, T* du, T* gradients,
                           std::vector<T>& scratch) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec),
              rows = shard.sequences * n, R = shard.directions * rows;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    const Buffers<T> gradient(pass.spec, R, scratch);
    pass.nn(R, ff, d, 1, df, d, pass.at(at.w2), ff, 0, gradient.activated, ff);
    if (gradients) {
        pass.weight_gradient(d, ff, R, df, d, tape.activated + first * ff, ff, gradients + at.w2);
        if (T* bias = gradient_at(gradients, at.b2)) pass.kernels.column_sums(R, d, df, bias);
    }
    const std::size_t piece = static_cast<std::size_t>(rows) * ff, wide_piece = static_cast<std::size_t>(rows) * wide;
    for (int i = 0; i < shard.directions; ++i) {
        const T* behind = gradient.activated + i * piece;
        T* before = gradient.pre + i * wide_piece;
        if (gated(pass.spec))
            pass.kernels.swiglu_backward(rows, ff, tape.pre + first * wide, behind, before);
        else
            pass.kernels.multiply(piece, tape.slope + first * ff, behind, before);
    }
    pass.nn(R, d, wide, 1, gradient.pre, wide, pass.at(at.w1), d, 0, du, d);
    if (gradients) {
        pass.weight_gradient(wide, d, R, gradient.pre, wide, u, d, gradients + at.w1);
        if (T* bias = gradient_at(gradients, at.b1)) pass.kernels.column_sums(R, wide, gradient.pre, bias);
    }
}

template <class T>
void feed_forward_tangent(const Pass<T>& pass, const FeedForwardOffsets& at, int sequence, int n,
                          int first_token, int directions, const SublayerTape<T>& tape, const T* tu, T* tf,
                          std::vector<T>& scratch) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, wide = feed_forward_width(pass.spec);
    const int m = n - first_token, R = directions * m;
    const Buffers<T> tangent(pass.spec, R, scratch);
    const std::size_t first = static_cast<std::size_t>(sequence) * n + first_token;
    pass.linear(R, wide, d, tu, at.w1, kAbsent, tangent.pre);
    for (int k = 0; k < directions; ++k) {  // all directions pass the same rows of the activation
        const std::size_t rows = static_cast<std::size_t>(k) * m;
        const T* in = tangent.pre + rows * wide;
        T* out = tangent.activated + rows * ff;
        if (gated(pass.spec))
            pass.kernels.swiglu_tangent(m, ff, tape.pre + first * wide, in, out);
        else
            pass.kernels.multiply(static_cast<std::size_t>(m) * ff, tape.slope + first * ff, in, out);
    }
    pass.linear(R, d, ff, tangent.activated, at.w2, kAbsent, tf);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                            \
    template void feed_forward_forward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*,  \
                                          const SublayerTape<T>&);                                          \
    template void feed_forward_backward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*, \
                                           const SublayerTape<T>&, const T*, T*, T*, std::vector<T>&);      \
    template void feed_forward_tangent<T>(const Pass<T>&, const FeedForwardOffsets&, int, int, int, int,    \
                                          const SublayerTape<T>&, const T*, T*, std::vector<T>&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
