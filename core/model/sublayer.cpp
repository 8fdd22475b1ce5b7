// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/sublayer.h"

#include "core/base/assert.h"
#include "core/model/compact_sublayer.h"
#include "core/model/scratch_slots.h"
#include "core/model/sublayer_factors.h"

namespace normscope {

namespace {

/// One norm applied backwards to every direction: records the gradient at its output if requested, adds
/// parameter gradients, and gives dx = (add ? dx : 0) + scale·Jᵀ dy, whose squares it adds to *squares
/// unless null (one direction).
template <class T>
void norm_backward(const Pass<T>& pass, const NormOffsets& at, int R, int directions, const T* x,
                   NormStatistics<T> statistics, const T* dy, const T* scale, bool add, T* dx, T* gradients,
                   T* noted, double* squares = nullptr, const BranchGradient<T>& before = {}) {
    const std::size_t count = static_cast<std::size_t>(R) * pass.spec.d_model;
    if (noted) pass.elementwise.scale(count, scale, dy, noted);
    for (int i = 0; i < directions; ++i)
        pass.layers.norm_vjp(pass.norm(at, R, x, statistics), dy + i * count, scale, add, dx + i * count,
                             gradient_at(gradients, at.weight), gradient_at(gradients, at.bias), squares,
                             before);
}

/// λ per channel, else null.
template <class T>
const T* channels(const Pass<T>& pass, const SublayerOffsets& at) {
    return pass.spec.branch_scale == BranchScale::Channel ? pass.at(at.scale) : nullptr;
}

}  // namespace

template <class T>
void sublayer_forward(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard,
                      const Tape<T>& tape, bool begun, const NormStep<T>* next_norm, double* squares) {
    const int n = tape.length, d = pass.spec.d_model, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n, first = row * d;
    const std::size_t count = static_cast<std::size_t>(R) * d;
    const bool second = second_of_parallel(pass.spec, index);
    const SublayerOffsets& at = offsets(pass.table, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass.spec, rule, index);
    const SublayerCoefficients<T>* c = pass.sublayers + index;
    const auto eps = [&](NormSite::Place place) { return pass.eps_at(place, index); };
    ElementwiseOps<T>& ops = pass.elementwise;
    const T* stream = tape.hidden[static_cast<std::size_t>(index)] + first;
    T* next = tape.hidden[static_cast<std::size_t>(index) + 1] + first;

    T* x = t.x + first;
    if (gate.at(GateSite::Input) && !second) {
        ops.scale(count, &c->gate, stream, x);
        stream = x;
    }

    const bool compact = t.compact.input != nullptr;
    const T* u = x;
    const bool normed = rule.in && !gate.at(GateSite::Norm);
    if (normed) {
        u = compact ? nullptr : t.u + first;
        if (!begun)
            apply_norm(pass, NormStep<T>{pass.norm(at.norm_in, R, x, t.in.from(row)),
                                         eps(NormSite::Place::In),
                                         &c->s_in,
                                         {t.u + first, t.compact.input}});
    } else if (t.u) {
        T* to = (gate.at(GateSite::Norm) ? t.ungated : t.u) + first;
        if (rule.in)
            pass.layers.norm_forward(pass.norm(at.norm_in, R, x, t.in.from(row)), eps(NormSite::Place::In),
                                     &c->s_in, to);
        else
            ops.scale(count, &c->s_in, x, to);
        if (gate.at(GateSite::Norm)) ops.scale(count, &c->gate, to, t.u + first);
        u = t.u + first;
    }

    // f in 16 bits where the residual sum alone reads it.
    std::uint16_t* const short_f =
        compact && !rule.out && !channels(pass, at) && !f_is_kept(pass.spec, rule)
            ? pass.device.template scratch_of<std::uint16_t>(kSublayerBranch, count)
            : nullptr;
    if (compact)
        compact_forward(pass, index, shard, n, u, t, {t.f + first, short_f});
    else if (index % 2 == 0)
        attention_forward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t);
    else
        feed_forward_forward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u,
                             t);

    const T* y = t.f + first;
    const T* scales = channels(pass, at);
    T* work = rule.out || scales ? pass.device.template scratch_of<T>(kSublayerNormed, count) : nullptr;
    if (rule.out) {
        T* to = t.y ? t.y + first : work;
        pass.layers.norm_forward(pass.norm(at.norm_out, R, y, t.out.from(row)), eps(NormSite::Place::Out),
                                 nullptr, to);
        y = to;
    }
    if (scales) {
        ops.scale_columns(R, d, scales, y, work);
        y = work;
    }

    // The norm of the sum, of this sub-layer or the next one, is computed with it.
    T* before_gate = gate.at(GateSite::Output) ? t.ungated + first : next;
    T* z = rule.post ? t.z + first : before_gate;
    std::optional<NormStep<T>> of_sum;
    if (rule.post)
        of_sum = {pass.norm(at.norm_post, R, z, t.post.from(row)), eps(NormSite::Place::Post), nullptr,
                  CompactRows<T>{before_gate, nullptr}};
    else if (next_norm && z == next)
        of_sum = *next_norm;
    residual_sum(pass, R, &c->shortcut, stream, &c->branch, {y, short_f}, z, of_sum ? &*of_sum : nullptr,
                 z == next ? squares : nullptr);
    if (gate.at(GateSite::Output)) ops.scale(count, &c->gate, before_gate, next);
    if (z == next) return;
    if (next_norm) apply_norm(pass, *next_norm);
    if (squares) ops.add_squares(1, count, 0, next, squares);
}

template <class T>
BranchGradient<T> branch_gradient(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard,
                                  const Tape<T>& tape, T* gradients) {
    const SublayerOffsets& at = offsets(pass.table, index);
    if (!gradients || rule.out || rule.post || channels(pass, at) ||
        SublayerGate(pass.spec, rule, index).at(GateSite::Output))
        return {};
    const std::size_t count = static_cast<std::size_t>(shard.sequences) * tape.length * pass.spec.d_model;
    T* const df = pass.device.template scratch_of<T>(kSublayerBranch, count);
    const bool compact = tape.sublayers[static_cast<std::size_t>(index)].compact.input;
    const auto layer = static_cast<std::size_t>(index / 2);
    const std::size_t bias =
        index % 2 == 0 ? pass.table.attention[layer].bo : pass.table.feed_forward[layer].b2;
    return {
        &pass.sublayers[index].branch_of[static_cast<int>(Jacobian::Backprop)],
        compact ? CompactRows<T>{nullptr, reinterpret_cast<std::uint16_t*>(df)} : CompactRows<T>{df, nullptr},
        gradient_at(gradients, bias)};
}

template <class T>
bool sublayer_backward(const Pass<T>& pass, int index, const SublayerRule& rule, Shard shard,
                       const Tape<T>& tape, Jacobian kind, T* gradient, T* gradients,
                       const NormOutputGradients<T>& noted, T* side, const BackwardLinks<T>& links) {
    const int n = tape.length, d = pass.spec.d_model, R = shard.sequences * n;
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * n, first = row * d;
    const std::size_t count = static_cast<std::size_t>(R) * d * shard.directions;
    const bool second = second_of_parallel(pass.spec, index);
    const bool joined =
        second && side;  // else the sub-layer's own map: the shortcut starts where the branch does
    const SublayerOffsets& at = offsets(pass.table, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass.spec, rule, index);
    const SublayerCoefficients<T>* c = pass.sublayers + index;
    ElementwiseOps<T>& ops = pass.elementwise;
    const T* x = t.x + first;
    const auto work = [&](int slot) { return pass.device.template scratch_of<T>(slot, count); };
    const auto note = [&](T* whole) { return whole ? whole + first : nullptr; };
    // Through a gate at `site`: ∂/∂g of (1 − act(g))·`gated`, and the signal times the gate's factor.
    const auto gate_gradient = [&](GateSite site, const T* dy, const T* gated) {
        if (gradients && gate.at(site)) ops.add_dot(count, dy, gated, &c->gate_slope, gradients + at.gate);
    };
    const auto through_gate = [&](GateSite site, T* signal) {
        if (gate.scales(site, kind)) ops.scale(count, &c->gate, signal, signal);
    };

    if (gate.at(GateSite::Output)) gate_gradient(GateSite::Output, gradient, t.ungated + first);
    through_gate(GateSite::Output, gradient);

    T* dz = gradient;
    if (rule.post) {
        dz = work(kSublayerNormed);
        norm_backward<T>(pass, at.norm_post, R, shard.directions, t.z + first, t.post.from(row), gradient,
                         nullptr, false, dz, gradients, note(noted.post));
    }

    // The branch: dz is the gradient at Δt·b·λ∘y.
    const T* y = (t.y ? t.y : t.f) + first;
    const T* scales = channels(pass, at);
    if (gradients && at.scale != kAbsent) {
        if (scales)
            ops.column_products(R, d, &c->scale_step, dz, y, gradients + at.scale);
        else
            ops.add_dot(count, dz, y, &c->scale_slope, gradients + at.scale);
    }
    const T* dy = dz;
    if (scales) {
        T* scaled = work(kSublayerScaled);
        ops.scale_columns(shard.directions * R, d, scales, dz, scaled);
        dy = scaled;
    }
    gate_gradient(GateSite::Branch, dy, y);
    const T* branch = &c->branch_of[static_cast<int>(kind)];
    const bool compact = t.compact.input != nullptr;
    T* df = rule.out || !compact || links.begun ? work(kSublayerBranch) : nullptr;
    T* du = work(kSublayerInput);
    // du in 16 bits where a norm alone reads it.
    std::uint16_t* const short_du = compact && rule.in && !noted.in && !gate.at(GateSite::Norm)
                                        ? reinterpret_cast<std::uint16_t*>(du)
                                        : nullptr;
    if (rule.out)
        norm_backward(pass, at.norm_out, R, shard.directions, t.f + first, t.out.from(row), dy, branch, false,
                      df, gradients, note(noted.out));
    else if (!compact && !links.begun)
        ops.scale(count, branch, dy, df);

    const T* u = t.u ? t.u + first : x;
    if (compact)
        compact_backward(pass, index, shard, n, t, rule.out ? nullptr : branch, rule.out ? df : dy,
                         links.begun ? reinterpret_cast<const std::uint16_t*>(df) : nullptr,
                         CompactRows<T>{du, short_du}, gradients);
    else if (index % 2 == 0)
        attention_backward(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], shard, n, u, t,
                           df, du, gradients, links.begun);
    else
        feed_forward_backward(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], shard, n, u,
                              t, df, du, gradients, links.begun);
    if (gate.at(GateSite::Norm)) gate_gradient(GateSite::Norm, du, t.ungated + first);
    through_gate(GateSite::Norm, du);

    // The gradient of x: the shortcut's part first, then the branch's.
    T* dx = joined ? side : gradient;
    if (joined) {
        if (dz != gradient) ops.copy(count, dz, gradient);
    } else {
        gate_gradient(GateSite::Shortcut, dz, x);
    }
    const T* shortcut = &c->shortcut_of[static_cast<int>(kind)];
    const bool branches = first_of_parallel(pass.spec, index) && side;
    // The norm is the last to change the result.
    const bool norm_last = rule.in && !joined && !branches && !gate.at(GateSite::Input);
    double* const squares = norm_last ? links.squares : nullptr;
    const BranchGradient<T> before = norm_last ? links.before : BranchGradient<T>{};
    if (rule.in) {
        // A gradient that the head gave is not changed by a factor of 1.
        const bool passes = gradients && dz == dx && rule.a == 1 && !gate.scales(GateSite::Shortcut, kind);
        if (!joined && !passes) ops.scale(count, shortcut, dz, dx);
        if (short_du || before.rows.shorts) {
            pass.compact->norm_vjp(pass.norm(at.norm_in, R, x, t.in.from(row)), {du, short_du}, &c->s_in,
                                   !joined, dx, gradient_at(gradients, at.norm_in.weight),
                                   gradient_at(gradients, at.norm_in.bias), squares, before);
        } else {
            norm_backward(pass, at.norm_in, R, shard.directions, x, t.in.from(row), du, &c->s_in, !joined, dx,
                          gradients, note(noted.in), squares, before);
        }
    } else if (joined) {
        ops.scale(count, &c->s_in, du, dx);
    } else {
        ops.axpby(count, shortcut, dz, &c->s_in, du, dx);
    }
    if (!joined) {
        if (branches) ops.axpby(count, nullptr, dx, nullptr, side, dx);
        if (gate.at(GateSite::Input))
            gate_gradient(GateSite::Input, dx,
                          tape.hidden[static_cast<std::size_t>(second ? index - 1 : index)] + first);
        through_gate(GateSite::Input, dx);
    }
    if (links.squares && !norm_last) ops.add_squares(1, count, 0, gradient, links.squares);
    return norm_last && before.rows;
}

template <class T>
void sublayer_tangent(const Pass<T>& pass, int index, const SublayerRule& rule, int sequence, int first_token,
                      int directions, const Tape<T>& tape, Jacobian kind, T* tangent, T* side) {
    NORMSCOPE_ASSERT(pass.spec.causal || index % 2 == 1 || first_token == 0,
                     "attention without a causal mask makes every token depend on all");
    const int n = tape.length, d = pass.spec.d_model, m = n - first_token;
    const std::size_t row = static_cast<std::size_t>(sequence) * n + first_token, first = row * d;
    const std::size_t piece = static_cast<std::size_t>(m) * d, count = piece * directions;
    const bool joined = second_of_parallel(pass.spec, index) && side;
    const SublayerOffsets& at = offsets(pass.table, index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    const SublayerGate gate(pass.spec, rule, index);
    const SublayerCoefficients<T>* c = pass.sublayers + index;
    ElementwiseOps<T>& ops = pass.elementwise;
    // All directions use the same rows of the norm.
    const auto norm_tangent = [&](const NormOffsets& norm, const T* x, NormStatistics<T> statistics,
                                  const T* scale, const T* in, T* out) {
        for (int i = 0; i < directions; ++i)
            pass.layers.norm_jvp(pass.norm(norm, m, x + first, statistics.from(row)), in + i * piece, scale,
                                 out + i * piece);
    };
    const auto through_gate = [&](GateSite site, T* signal) {
        if (gate.scales(site, kind)) ops.scale(count, &c->gate, signal, signal);
    };

    if (!joined) through_gate(GateSite::Input, tangent);
    if (first_of_parallel(pass.spec, index) && side) ops.copy(count, tangent, side);
    const T* tx = joined ? side : tangent;

    T* tu = pass.device.template scratch_of<T>(kSublayerInput, count);
    T* tf = pass.device.template scratch_of<T>(kSublayerBranch, count);
    if (rule.in)
        norm_tangent(at.norm_in, t.x, t.in, &c->s_in, tx, tu);
    else
        ops.scale(count, &c->s_in, tx, tu);
    through_gate(GateSite::Norm, tu);

    if (index % 2 == 0)
        attention_tangent(pass, pass.table.attention[static_cast<std::size_t>(index / 2)], sequence, n,
                          first_token, directions, t, tu, tf);
    else
        feed_forward_tangent(pass, pass.table.feed_forward[static_cast<std::size_t>(index / 2)], sequence, n,
                             first_token, directions, t, tu, tf);

    T* ty = tf;
    if (rule.out) {
        norm_tangent(at.norm_out, t.f, t.out, nullptr, tf, tu);
        ty = tu;
    }
    if (const T* scales = channels(pass, at)) ops.scale_columns(m * directions, d, scales, ty, ty);
    ops.axpby(count, joined ? nullptr : &c->shortcut_of[static_cast<int>(kind)], tangent,
              &c->branch_of[static_cast<int>(kind)], ty, tangent);
    if (rule.post) {
        norm_tangent(at.norm_post, t.z, t.post, nullptr, tangent, tu);
        ops.copy(count, tu, tangent);
    }
    through_gate(GateSite::Output, tangent);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                             \
    template void sublayer_forward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&, bool, \
                                      const NormStep<T>*, double*);                                          \
    template BranchGradient<T> branch_gradient<T>(const Pass<T>&, int, const SublayerRule&, Shard,           \
                                                  const Tape<T>&, T*);                                       \
    template bool sublayer_backward<T>(const Pass<T>&, int, const SublayerRule&, Shard, const Tape<T>&,      \
                                       Jacobian, T*, T*, const NormOutputGradients<T>&, T*,                  \
                                       const BackwardLinks<T>&);                                             \
    template void sublayer_tangent<T>(const Pass<T>&, int, const SublayerRule&, int, int, int,               \
                                      const Tape<T>&, Jacobian, T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
