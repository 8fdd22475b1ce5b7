// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/norm_step.h"

#include "core/model/sublayer_factors.h"

namespace normscope {

template <class T>
std::optional<NormStep<T>> first_norm(const Pass<T>& p, int index, const SublayerRule& rule, Shard shard,
                                      const Tape<T>& tape) {
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    if (!rule.in || t.x != tape.hidden[static_cast<std::size_t>(index)] ||
        SublayerGate(p.spec, rule, index).at(GateSite::Norm))
        return {};
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * tape.length,
                      first = row * p.spec.d_model;
    const CompactRows<T> to =
        t.compact.input ? CompactRows<T>{nullptr, t.compact.input} : CompactRows<T>{t.u + first, nullptr};
    return NormStep<T>{
        p.norm(offsets(p.table, index).norm_in, shard.sequences * tape.length, t.x + first, t.in.from(row)),
        p.eps_at(NormSite::Place::In, index), &p.sublayers[index].s_in, to};
}

template <class T>
std::optional<NormStep<T>> final_norm(const Pass<T>& p, Shard shard, const Tape<T>& tape) {
    if (!p.table.final_norm.present()) return {};
    const std::size_t row = static_cast<std::size_t>(shard.first_sequence) * tape.length,
                      first = row * p.spec.d_model;
    const CompactRows<T> to = tape.compact_head.input ? CompactRows<T>{nullptr, tape.compact_head.input}
                                                      : CompactRows<T>{tape.final_hidden + first, nullptr};
    return NormStep<T>{p.norm(p.table.final_norm, shard.sequences * tape.length, tape.hidden.back() + first,
                              tape.final_statistics.from(row)),
                       p.eps_at(NormSite::Place::Final), nullptr, to};
}

template <class T>
void apply_norm(const Pass<T>& p, const NormStep<T>& norm) {
    if (norm.to.shorts)
        p.compact->norm_forward(norm.rows, norm.eps, norm.scale, norm.to.shorts);
    else
        p.layers.norm_forward(norm.rows, norm.eps, norm.scale, norm.to.floats);
}

template <class T>
void residual_sum(const Pass<T>& p, int R, const T* a, const T* x, const T* b, const CompactRows<const T>& f,
                  T* z, const NormStep<T>* norm, double* squares) {
    const std::size_t count = static_cast<std::size_t>(R) * p.spec.d_model;
    if (norm && (f.shorts || norm->to.shorts))
        p.compact->residual_norm(norm->rows, norm->eps, norm->scale, a, x, b, f, z, norm->to, squares);
    else if (norm)
        p.layers.residual_norm(norm->rows, norm->eps, norm->scale, a, x, b, f.floats, z, norm->to.floats,
                               squares);
    else if (f.shorts)
        p.compact->axpby(count, a, x, b, f.shorts, z);
    else
        p.elementwise.axpby(count, a, x, b, f.floats, z);
    if (!norm && squares) p.elementwise.add_squares(1, count, 0, z, squares);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                    \
    template std::optional<NormStep<T>> first_norm(const Pass<T>&, int, const SublayerRule&, Shard, \
                                                   const Tape<T>&);                                 \
    template std::optional<NormStep<T>> final_norm(const Pass<T>&, Shard, const Tape<T>&);          \
    template void apply_norm(const Pass<T>&, const NormStep<T>&);                                   \
    template void residual_sum(const Pass<T>&, int, const T*, const T*, const T*,                   \
                               const CompactRows<const T>&, T*, const NormStep<T>*, double*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
