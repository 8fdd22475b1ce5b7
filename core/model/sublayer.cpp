// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/sublayer.h"

#include <algorithm>

#include "core/model/sublayer_factors.h"

namespace normscope {

namespace {

template <class T>
NormStatistics<T> from(NormStatistics<T> s, std::size_t row) {
    return {s.mean + row, s.rstd + row};
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
    const bool second = second_of_parallel(pass, index);
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass, at, rule, first_of_parallel(pass, index));
    const BranchFactor<T> factor(pass, at, rule);
    const auto& k = pass.kernels;
    const NormKind kind = pass.spec.norm.kind;
    const T* stream = tape.hidden[static_cast<std::size_t>(index)] + first;
    T* next = tape.hidden[static_cast<std::size_t>(index) + 1] + first;

    T* x = t.x + first;
    if (gate.at(GateSite::Input) && !second) {
        k.scale(count, static_cast<T>(gate.value(GateSite::Input)), stream, x);
        stream = x;
    }

    const T* u = x;
    if (t.u) {
        T* to = (gate.at(GateSite::Norm) ? t.ungated : t.u) + first;
        if (rule.in)
            k.norm_forward(kind, R, d, x, pass.eps(), pass.at(at.norm_in.weight), pass.at(at.norm_in.bias),
                           static_cast<T>(rule.s_in), from(t.in, row), to);
        else
            k.scale(count, static_cast<T>(rule.s_in), x, to);
        if (gate.at(GateSite::Norm)) k.scale(count, static_cast<T>(gate.value(GateSite::Norm)), to, t.u + first);
        u = t.u + first;
    }

    if (index % 2 == 0)
        attention_forward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t,
                          scratch.attention);
    else
        feed_forward_forward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u, t);

    const T* y = t.f + first;
    if (rule.out || factor.channels) scratch.a.resize(count);
    if (rule.out) {
        T* to = t.y ? t.y + first : scratch.a.data();
        k.norm_forward(kind, R, d, y, pass.eps(), pass.at(at.norm_out.weight), pass.at(at.norm_out.bias), 1,
                       from(t.out, row), to);
        y = to;
    }
    if (factor.channels) {
        k.scale_columns(R, d, 1, factor.channels, y, scratch.a.data());
        y = scratch.a.data();
    }

    T* before_gate = gate.at(GateSite::Output) ? t.ungated + first : next;
    T* z = rule.post ? t.z + first : before_gate;
    const double shortcut = second ? 1 : rule.a * gate.value(GateSite::Shortcut);
    k.combine(count, static_cast<T>(shortcut), stream, static_cast<T>(factor.number * gate.value(GateSite::Branch)), y,
              z);
    if (rule.post)
        k.norm_forward(kind, R, d, z, pass.eps(), pass.at(at.norm_post.weight), pass.at(at.norm_post.bias), 1,
                       from(t.post, row), before_gate);
    if (gate.at(GateSite::Output)) k.scale(count, static_cast<T>(gate.value(GateSite::Output)), before_gate, next);
}

template <class T>
void sublayer_backward(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard, const Tape<T>& tape,
                       Jacobian kind, T* gradient, T* gradients, const NormOutputGradients<T>& noted,
                       SublayerScratch<T>& scratch, T* side) {
    const int n = tape.length, d = pass.spec.d_model, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n, first = row * d;
    const std::size_t count = static_cast<std::size_t>(R) * d * shard.directions;
    const bool second = second_of_parallel(pass, index);
    const bool joined = second && side;  // else the sub-layer's own map: the shortcut starts where the branch does
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass, at, rule, first_of_parallel(pass, index));
    const BranchFactor<T> factor(pass, at, rule);
    const auto& k = pass.kernels;
    const T* x = t.x + first;
    const auto note = [&](T* whole) { return whole ? whole + first : nullptr; };
    // Past a gate at `site`: ∂/∂g of (1 − act(g))·`gated`, and the signal times the gate's factor.
    const auto gate_gradient = [&](GateSite site, double times, const T* dy, const T* gated) {
        if (gradients && gate.at(site))
            gradients[at.gate] -= static_cast<T>(gate.slope() * times * k.dot(count, dy, gated));
    };
    const auto through_gate = [&](GateSite site, T* signal) {
        const double passed = gate.factor(site, kind);
        if (passed != 1) k.scale(count, static_cast<T>(passed), signal, signal);
    };

    if (gate.at(GateSite::Output)) gate_gradient(GateSite::Output, 1, gradient, t.ungated + first);
    through_gate(GateSite::Output, gradient);

    T* dz = gradient;
    if (rule.post) {
        scratch.a.resize(count);
        dz = scratch.a.data();
        norm_backward(pass, at.norm_post, R, shard.directions, t.z + first, from(t.post, row), gradient, 1, false, dz, gradients,
                      note(noted.post));
    }

    // The branch: dz is the gradient at Δt·b·λ∘y.
    const T* y = (t.y ? t.y : t.f) + first;
    if (gradients && at.scale != kAbsent) {
        const double times = factor.step * gate.value(GateSite::Branch);
        if (factor.channels)
            k.column_products(R, d, static_cast<T>(times), dz, y, gradients + at.scale);
        else
            gradients[at.scale] += static_cast<T>(times * k.dot(count, dz, y));
    }
    const T* dy = dz;
    if (factor.channels) {
        scratch.d.resize(count);
        k.scale_columns(shard.directions * R, d, 1, factor.channels, dz, scratch.d.data());
        dy = scratch.d.data();
    }
    gate_gradient(GateSite::Branch, factor.number, dy, y);
    const double branch = factor.number * gate.factor(GateSite::Branch, kind);
    scratch.b.resize(count);
    scratch.c.resize(count);
    T* df = scratch.b.data();
    T* du = scratch.c.data();
    if (rule.out)
        norm_backward(pass, at.norm_out, R, shard.directions, t.f + first, from(t.out, row), dy, branch, false, df, gradients,
                      note(noted.out));
    else
        k.scale(count, static_cast<T>(branch), dy, df);

    const T* u = t.u ? t.u + first : x;
    if (index % 2 == 0)
        attention_backward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t, df, du,
                           gradients, scratch.attention);
    else
        feed_forward_backward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u, t, df,
                              du, gradients, scratch.wide);
    if (gate.at(GateSite::Norm)) gate_gradient(GateSite::Norm, 1, du, t.ungated + first);
    through_gate(GateSite::Norm, du);

    // The way back to x: the shortcut's part first, then the branch's.
    T* dx = joined ? side : gradient;
    if (joined) {
        if (dz != gradient) std::copy(dz, dz + count, gradient);
    } else {
        gate_gradient(GateSite::Shortcut, rule.a, dz, x);
    }
    const T shortcut = static_cast<T>(rule.a * gate.factor(GateSite::Shortcut, kind)), s_in = static_cast<T>(rule.s_in);
    if (rule.in) {
        if (!joined) k.scale(count, shortcut, dz, dx);
        norm_backward(pass, at.norm_in, R, shard.directions, x, from(t.in, row), du, rule.s_in, !joined, dx, gradients, note(noted.in));
    } else if (joined) {
        k.scale(count, s_in, du, dx);
    } else {
        k.combine(count, shortcut, dz, s_in, du, dx);
    }
    if (joined) return;
    if (first_of_parallel(pass, index) && side) k.combine(count, 1, dx, 1, side, dx);
    if (gate.at(GateSite::Input))
        gate_gradient(GateSite::Input, 1, dx, tape.hidden[static_cast<std::size_t>(second ? index - 1 : index)] + first);
    through_gate(GateSite::Input, dx);
}

template <class T>
void sublayer_tangent(const Pass<T>& pass, int index, const SublayerRule& rule, int sequence, int first_token,
                      int directions, const Tape<T>& tape, Jacobian kind, T* tangent, SublayerScratch<T>& scratch,
                      T* side) {
    const int n = tape.length, d = pass.spec.d_model, m = n - first_token;
    const std::size_t row = static_cast<std::size_t>(sequence) * n + first_token, first = row * d;
    const std::size_t piece = static_cast<std::size_t>(m) * d, count = piece * directions;
    const bool joined = second_of_parallel(pass, index) && side;
    const SublayerOffsets& at = offsets(pass, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass, at, rule, first_of_parallel(pass, index));
    const BranchFactor<T> factor(pass, at, rule);
    const auto& k = pass.kernels;
    // All directions pass the same rows of the norm.
    const auto norm_tangent = [&](const NormOffsets& norm, const T* x, NormStatistics<T> statistics, double scale,
                                  const T* in, T* out) {
        for (int i = 0; i < directions; ++i)
            k.norm_tangent(pass.spec.norm.kind, m, d, x + first, from(statistics, row), pass.at(norm.weight),
                           in + i * piece, static_cast<T>(scale), out + i * piece);
    };
    const auto through_gate = [&](GateSite site, T* signal) {
        const double passed = gate.factor(site, kind);
        if (passed != 1) k.scale(count, static_cast<T>(passed), signal, signal);
    };

    if (!joined) through_gate(GateSite::Input, tangent);
    if (first_of_parallel(pass, index) && side) std::copy(tangent, tangent + count, side);
    const T* tx = joined ? side : tangent;

    scratch.a.resize(count);
    scratch.b.resize(count);
    T* tu = scratch.a.data();
    T* tf = scratch.b.data();
    if (rule.in)
        norm_tangent(at.norm_in, t.x, t.in, rule.s_in, tx, tu);
    else
        k.scale(count, static_cast<T>(rule.s_in), tx, tu);
    through_gate(GateSite::Norm, tu);

    if (index % 2 == 0)
        attention_tangent(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], sequence, n, first_token,
                          directions, t, tu, tf, scratch.attention);
    else
        feed_forward_tangent(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], sequence, n,
                             first_token, directions, t, tu, tf, scratch.wide);

    T* ty = tf;
    if (rule.out) {
        norm_tangent(at.norm_out, t.f, t.out, 1, tf, tu);
        ty = tu;
    }
    if (factor.channels) k.scale_columns(m * directions, d, 1, factor.channels, ty, ty);
    k.combine(count, static_cast<T>(joined ? 1 : rule.a * gate.factor(GateSite::Shortcut, kind)), tangent,
              static_cast<T>(factor.number * gate.factor(GateSite::Branch, kind)), ty, tangent);
    if (rule.post) {
        norm_tangent(at.norm_post, t.z, t.post, 1, tangent, tu);
        std::copy(tu, tu + count, tangent);
    }
    through_gate(GateSite::Output, tangent);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                                  \
    template void sublayer_forward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&,            \
                                      SublayerScratch<T>&);                                                       \
    template void sublayer_backward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&, Jacobian, \
                                       T*, T*, const NormOutputGradients<T>&, SublayerScratch<T>&, T*);               \
    template void sublayer_tangent<T>(const Pass<T>&, int, const SublayerRule&, int, int, int, const Tape<T>&,    \
                                      Jacobian, T*, SublayerScratch<T>&, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
