// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/feed_forward.h"


namespace normscope {

template <class T>
void feed_forward_forward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                          const SublayerTape<T>& tape) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, R = shard.sequences * n;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    T* pre = tape.pre + first * ff;
    T* activated = tape.activated + first * ff;
    pass.nt(R, ff, d, 1, u, d, pass.at(at.w1), d, 0, pre, ff);
    if (const T* bias = pass.at(at.b1)) pass.kernels.add_bias(R, ff, bias, pre);
    pass.kernels.activation(pass.spec.activation, static_cast<std::size_t>(R) * ff, pre, activated);
    pass.nt(R, d, ff, 1, activated, ff, pass.at(at.w2), ff, 0, tape.f + first * d, d);
    if (const T* bias = pass.at(at.b2)) pass.kernels.add_bias(R, d, bias, tape.f + first * d);
}

template <class T>
void feed_forward_backward(const Pass<T>& pass, const FeedForwardOffsets& at, Shard shard, int n, const T* u,
                           const SublayerTape<T>& tape, const T* df, T* du, T* gradients, std::vector<T>& scratch) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, R = shard.directions * shard.sequences * n;
    const std::size_t first = static_cast<std::size_t>(shard.first_sequence) * n;
    const std::size_t piece = static_cast<std::size_t>(shard.sequences) * n * ff;  // one direction
    scratch.resize(piece * shard.directions);
    T* dpre = scratch.data();
    pass.nn(R, ff, d, 1, df, d, pass.at(at.w2), ff, 0, dpre, ff);
    if (gradients) {
        pass.tn(d, ff, R, 1, df, d, tape.activated + first * ff, ff, 1, gradients + at.w2, ff);
        if (T* bias = gradient_at(gradients, at.b2)) pass.kernels.column_sums(R, d, df, bias);
    }
    for (int i = 0; i < shard.directions; ++i)
        pass.kernels.activation_derivative(pass.spec.activation, piece, tape.pre + first * ff, dpre + i * piece,
                                           dpre + i * piece);
    pass.nn(R, d, ff, 1, dpre, ff, pass.at(at.w1), d, 0, du, d);
    if (gradients) {
        pass.tn(ff, d, R, 1, dpre, ff, u, d, 1, gradients + at.w1, d);
        if (T* bias = gradient_at(gradients, at.b1)) pass.kernels.column_sums(R, ff, dpre, bias);
    }
}

template <class T>
void feed_forward_tangent(const Pass<T>& pass, const FeedForwardOffsets& at, int sequence, int n, int first_token,
                          int directions, const SublayerTape<T>& tape, const T* tu, T* tf, std::vector<T>& scratch) {
    const int d = pass.spec.d_model, ff = pass.spec.d_ff, m = n - first_token, R = directions * m;
    scratch.resize(static_cast<std::size_t>(R) * ff);
    T* tpre = scratch.data();
    const T* pre = tape.pre + (static_cast<std::size_t>(sequence) * n + first_token) * ff;
    const std::size_t piece = static_cast<std::size_t>(m) * ff;
    pass.nt(R, ff, d, 1, tu, d, pass.at(at.w1), d, 0, tpre, ff);
    for (int k = 0; k < directions; ++k)
        pass.kernels.activation_derivative(pass.spec.activation, piece, pre, tpre + k * piece, tpre + k * piece);
    pass.nt(R, d, ff, 1, tpre, ff, pass.at(at.w2), ff, 0, tf, d);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                                    \
    template void feed_forward_forward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*,          \
                                          const SublayerTape<T>&);                                                  \
    template void feed_forward_backward<T>(const Pass<T>&, const FeedForwardOffsets&, Shard, int, const T*,         \
                                           const SublayerTape<T>&, const T*, T*, T*, std::vector<T>&);              \
    template void feed_forward_tangent<T>(const Pass<T>&, const FeedForwardOffsets&, int, int, int, int,            \
                                          const SublayerTape<T>&, const T*, T*, std::vector<T>&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
