// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/residual_sum.h"

#include <vector>

#include "core/backend/cpu/rounded_kernels.h"
#include "core/model/sublayer_factors.h"

namespace normscope {

namespace {

/// Those of the model's own passes, so that an emulated precision shows what these computed.
template <class T>
const RowKernels<T>& kernels_of(const Transformer<T>& model) {
    if constexpr (std::is_same_v<T, float>)
        if (model.rounding() != Rounding::None) return rounded_kernels(model.rounding());
    return row_kernels<T>();
}

template <class T>
Pass<T> pass_of(const Transformer<T>& model) {
    return {model.spec(),       model.numerics, model.table(), model.parameters().data(),
            kernels_of(model), nullptr,         nullptr,       model.rounding()};
}

template <class T>
SublayerGate gate_of(const Pass<T>& pass, const SublayerRule& rule, int sublayer) {
    return {pass, offsets(pass, sublayer), rule, first_of_parallel(pass, sublayer)};
}

}  // namespace

template <class T>
void branch_rows(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows, T* out) {
    const Pass<T> pass = pass_of(model);
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerOffsets& at = offsets(pass, sublayer);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(sublayer)];
    const BranchFactor<T> factor(pass, at, rule);
    const int d = pass.spec.d_model;
    const std::size_t first = static_cast<std::size_t>(first_row) * d, count = static_cast<std::size_t>(rows) * d;

    const T* y = (t.y ? t.y : t.f) + first;
    if (rule.out && !t.y) {
        thread_local std::vector<T> again;  // the tape keeps the norm's input; its statistics come out as they were
        again.resize(2 * static_cast<std::size_t>(rows));
        pass.kernels.norm_forward(pass.spec.norm.kind, rows, d, t.f + first, pass.eps(), pass.at(at.norm_out.weight),
                                  pass.at(at.norm_out.bias), 1, {again.data(), again.data() + rows}, out);
        y = out;
    }
    if (factor.channels) {
        pass.kernels.scale_columns(rows, d, 1, factor.channels, y, out);
        y = out;
    }
    // The pass multiplies inside the sum: nothing is rounded here.
    const double times = factor.number * gate_of(pass, rule, sublayer).value(GateSite::Branch);
    row_kernels<T>().scale(count, static_cast<T>(times), y, out);
}

template <class T>
double backward_shortcut_factor(const Transformer<T>& model, int sublayer) {
    const Pass<T> pass = pass_of(model);
    if (second_of_parallel(pass, sublayer)) return 1;
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerGate gate = gate_of(pass, rule, sublayer);
    return rule.a * gate.factor(GateSite::Shortcut, Jacobian::Backprop) *
           gate.factor(GateSite::Input, Jacobian::Backprop);
}

template <class T>
void gradient_at_sum(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows,
                     const T* gradient, T* out) {
    const Pass<T> pass = pass_of(model);
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(sublayer)];
    const int d = pass.spec.d_model;
    const std::size_t first = static_cast<std::size_t>(first_row) * d, count = static_cast<std::size_t>(rows) * d;
    const T gate = static_cast<T>(gate_of(pass, rule, sublayer).factor(GateSite::Output, Jacobian::Backprop));
    if (rule.post)
        pass.kernels.norm_backward(pass.spec.norm.kind, rows, d, t.z + first,
                                   t.post.from(static_cast<std::size_t>(first_row)),
                                   pass.at(offsets(pass, sublayer).norm_post.weight), gradient, gate, false, out,
                                   nullptr, nullptr);
    else
        pass.kernels.scale(count, gate, gradient, out);
}

#define NORMSCOPE_INSTANTIATE(T)                                                                                    \
    template void branch_rows<T>(const Transformer<T>&, const Tape<T>&, int, int, int, T*);                         \
    template double backward_shortcut_factor<T>(const Transformer<T>&, int);                                        \
    template void gradient_at_sum<T>(const Transformer<T>&, const Tape<T>&, int, int, int, const T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
