// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/sublayer.h"

#include <algorithm>

#include "core/model/gate.h"

namespace normscope {

namespace {

/// The gate's factors at this moment; all 1 without GPAS.
struct Gate {
    double forward = 1;    ///< 1 − act(g)
    double slope = 0;      ///< act'(g)
    bool stops_gradient = true;
    double factor(Jacobian kind) const { return kind == Jacobian::Backprop && stops_gradient ? 1.0 : forward; }
};

template <class T>
Gate gate_at(const Pass<T>& pass, const SublayerOffsets& at, const SublayerRule& rule, GateSite site) {
    Gate gate;
    if (!pass.spec.gpas.enabled || rule.gate != site) return gate;
    const double g = static_cast<double>(*pass.at(at.gate));
    gate.forward = 1 - gate_activation(pass.spec.gpas.activation, g);
    gate.slope = gate_derivative(pass.spec.gpas.activation, g);
    gate.stops_gradient = pass.spec.gpas.stop_gradient;
    return gate;
}

template <class T>
NormStatistics<T> from(NormStatistics<T> s, std::size_t row) {
    return {s.mean + row, s.rstd + row};
}

template <class T>
const SublayerOffsets& offsets(const Pass<T>& pass, int index) {
    if (index % 2 == 0) return pass.table.attention[static_cast<std::size_t>(index / 2)];
    return pass.table.feed_forward[static_cast<std::size_t>(index / 2)];
}

/// One norm applied backwards to every direction: notes the gradient at its output where wanted, adds parameter
/// gradients, and gives dx = (add ? dx : 0) + scale·Jᵀ dy.
template <class T>
void norm_backward(const Pass<T>& pass, const NormOffsets& at, int R, int directions, const T* x,
                   NormStatistics<T> statistics, const T* dy, double scale, bool add, T* dx, T* gradients, T* noted) {
    const std::size_t count = static_cast<std::size_t>(R) * pass.spec.d_model;
    if (noted) pass.kernels.scale(count, static_cast<T>(scale), dy, noted);
    for (int i = 0; i < directions; ++i)
        pass.kernels.norm_backward(pass.spec.norm.kind, R, pass.spec.d_model, x, statistics, pass.at(at.weight),
                                   dy + i * count, static_cast<T>(scale), add, dx + i * count,
                                   gradient_at(gradients, at.weight), gradient_at(gradients, at.bias));
}

}  // namespace

template <class T>
void sublayer_forward(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard, const Tape<T>& tape,
                      SublayerScratch<T>& scratch) {
    const int n = tape.length, d = pass.spec.d_model, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n, first = row * d;
    const std::size_t count = static_cast<std::size_t>(R) * d;
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const auto& k = pass.kernels;
    const NormKind kind = pass.spec.norm.kind;
    const T* x = tape.hidden[static_cast<std::size_t>(index)] + first;
    T* next = tape.hidden[static_cast<std::size_t>(index) + 1] + first;

    const T* u = x;
    if (rule.in) {
        k.norm_forward(kind, R, d, x, pass.eps(), pass.at(at.norm_in.weight), pass.at(at.norm_in.bias),
                       static_cast<T>(rule.s_in), from(t.in, row), t.u + first);
        u = t.u + first;
    } else if (t.u) {
        k.scale(count, static_cast<T>(rule.s_in), x, t.u + first);
        u = t.u + first;
    }

    if (index % 2 == 0)
        attention_forward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t);
    else
        feed_forward_forward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u, t);

    const T* y = t.f + first;
    if (rule.out) {
        scratch.a.resize(count);
        k.norm_forward(kind, R, d, y, pass.eps(), pass.at(at.norm_out.weight), pass.at(at.norm_out.bias), 1,
                       from(t.out, row), scratch.a.data());
        y = scratch.a.data();
    }

    const Gate shortcut = gate_at(pass, at, rule, GateSite::Shortcut);
    const Gate output = gate_at(pass, at, rule, GateSite::Output);
    T* before_gate = t.ungated ? t.ungated + first : next;
    T* z = rule.post ? t.z + first : before_gate;
    k.combine(count, static_cast<T>(rule.a * shortcut.forward), x,
              static_cast<T>(pass.numerics.residual_step * rule.b), y, z);
    if (rule.post)
        k.norm_forward(kind, R, d, z, pass.eps(), pass.at(at.norm_post.weight), pass.at(at.norm_post.bias), 1,
                       from(t.post, row), before_gate);
    if (t.ungated) k.scale(count, static_cast<T>(output.forward), before_gate, next);
}

template <class T>
void sublayer_backward(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard, const Tape<T>& tape,
                       Jacobian kind, T* gradient, T* gradients, const NormOutputGradients<T>& noted,
                       SublayerScratch<T>& scratch) {
    const int n = tape.length, d = pass.spec.d_model, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n, first = row * d;
    const std::size_t count = static_cast<std::size_t>(R) * d * shard.directions;
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const auto& k = pass.kernels;
    const T* x = tape.hidden[static_cast<std::size_t>(index)] + first;
    const bool train_gate = gradients && pass.spec.gpas.enabled && pass.spec.gpas.learnable;
    const auto note = [&](T* whole) { return whole ? whole + first : nullptr; };
    // ∂/∂g of 1 − act(g), times what the gate multiplied.
    const auto gate_gradient = [&](const Gate& gate, double factor, const T* dy, const T* gated) {
        gradients[at.gate] -= static_cast<T>(gate.slope * factor * static_cast<double>(k.dot(count, dy, gated)));
    };

    const Gate output = gate_at(pass, at, rule, GateSite::Output);
    if (t.ungated) {
        if (train_gate) gate_gradient(output, 1, gradient, t.ungated + first);
        if (output.factor(kind) != 1) k.scale(count, static_cast<T>(output.factor(kind)), gradient, gradient);
    }

    scratch.a.resize(count);
    T* dz = gradient;
    if (rule.post) {
        dz = scratch.a.data();
        norm_backward(pass, at.norm_post, R, shard.directions, t.z + first, from(t.post, row), gradient, 1, false, dz, gradients,
                      note(noted.post));
    }

    const Gate shortcut = gate_at(pass, at, rule, GateSite::Shortcut);
    if (train_gate && rule.gate == GateSite::Shortcut) gate_gradient(shortcut, rule.a, dz, x);

    const double branch = pass.numerics.residual_step * rule.b;
    scratch.b.resize(count);
    scratch.c.resize(count);
    T* df = scratch.b.data();
    T* du = scratch.c.data();
    if (rule.out)
        norm_backward(pass, at.norm_out, R, shard.directions, t.f + first, from(t.out, row), dz, branch, false, df, gradients,
                      note(noted.out));
    else
        k.scale(count, static_cast<T>(branch), dz, df);

    const T* u = t.u ? t.u + first : x;
    if (index % 2 == 0)
        attention_backward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t, df, du,
                           gradients, scratch.attention);
    else
        feed_forward_backward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u, t, df,
                              du, gradients, scratch.wide);

    const double through = rule.a * shortcut.factor(kind);
    if (rule.in) {
        k.scale(count, static_cast<T>(through), dz, gradient);
        norm_backward(pass, at.norm_in, R, shard.directions, x, from(t.in, row), du, rule.s_in, true, gradient, gradients,
                      note(noted.in));
    } else {
        k.combine(count, static_cast<T>(through), dz, static_cast<T>(rule.s_in), du, gradient);
    }
}

template <class T>
void sublayer_tangent(const Pass<T>& pass, int index, const SublayerRule& rule, int sequence, int first_token,
                      int directions, const Tape<T>& tape, Jacobian kind, T* tangent, SublayerScratch<T>& scratch) {
    const int n = tape.length, d = pass.spec.d_model, m = n - first_token;
    const std::size_t row = static_cast<std::size_t>(sequence) * n + first_token, first = row * d;
    const std::size_t piece = static_cast<std::size_t>(m) * d, count = piece * directions;
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const auto& k = pass.kernels;
    // All directions pass the same rows of the norm.
    const auto norm_tangent = [&](const NormOffsets& norm, const T* x, NormStatistics<T> statistics, double scale,
                                  const T* in, T* out) {
        for (int i = 0; i < directions; ++i)
            k.norm_tangent(pass.spec.norm.kind, m, d, x + first, from(statistics, row), pass.at(norm.weight),
                           in + i * piece, static_cast<T>(scale), out + i * piece);
    };

    scratch.a.resize(count);
    scratch.b.resize(count);
    T* tu = scratch.a.data();
    T* tf = scratch.b.data();
    if (rule.in)
        norm_tangent(at.norm_in, tape.hidden[static_cast<std::size_t>(index)], t.in, rule.s_in, tangent, tu);
    else
        k.scale(count, static_cast<T>(rule.s_in), tangent, tu);

    if (index % 2 == 0)
        attention_tangent(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], sequence, n, first_token,
                          directions, t, tu, tf, scratch.attention);
    else
        feed_forward_tangent(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], sequence, n,
                             first_token, directions, t, tu, tf, scratch.wide);

    const T* ty = tf;
    if (rule.out) {
        norm_tangent(at.norm_out, t.f, t.out, 1, tf, tu);
        ty = tu;
    }
    const Gate shortcut = gate_at(pass, at, rule, GateSite::Shortcut);
    const Gate output = gate_at(pass, at, rule, GateSite::Output);
    k.combine(count, static_cast<T>(rule.a * shortcut.factor(kind)), tangent,
              static_cast<T>(pass.numerics.residual_step * rule.b), ty, tangent);
    if (rule.post) {
        norm_tangent(at.norm_post, t.z, t.post, 1, tangent, tu);
        std::copy(tu, tu + count, tangent);
    }
    if (output.factor(kind) != 1) k.scale(count, static_cast<T>(output.factor(kind)), tangent, tangent);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                                  \
    template void sublayer_forward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&,            \
                                      SublayerScratch<T>&);                                                       \
    template void sublayer_backward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&, Jacobian, \
                                       T*, T*, const NormOutputGradients<T>&, SublayerScratch<T>&);               \
    template void sublayer_tangent<T>(const Pass<T>&, int, const SublayerRule&, int, int, int, const Tape<T>&,    \
                                      Jacobian, T*, SublayerScratch<T>&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
