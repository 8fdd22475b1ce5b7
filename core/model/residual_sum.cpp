// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/residual_sum.h"

#include "core/model/scratch_slots.h"
#include "core/model/sublayer_factors.h"

namespace normscope {

namespace {

/// The operations of the model's passes, so that an emulated precision gives the same results.
template <class T>
PassOps<T> ops_of(const Transformer<T>& model) {
    return model.device().template pass_ops<T>(model.rounding());
}

template <class T>
NormRows<T> norm_of(const Transformer<T>& model, const NormOffsets& at, int rows, const T* x,
                    NormStatistics<T> statistics) {
    const T* parameters = model.parameters().data();
    return {at.kind,
            rows,
            model.spec().d_model,
            x,
            statistics,
            parameters + at.weight,
            at.bias == kAbsent ? nullptr : parameters + at.bias};
}

template <class T>
const SublayerCoefficients<T>* coefficients_of(const Tape<T>& tape, int sublayer) {
    return tape.coefficients.sublayers.data() + sublayer;
}

}  // namespace

template <class T>
void branch_rows(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows,
                 T* out) {
    const PassOps<T> ops = ops_of(model);
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerOffsets& at = offsets(model.table(), sublayer);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(sublayer)];
    const int d = model.spec().d_model;
    const std::size_t first = static_cast<std::size_t>(first_row) * d,
                      count = static_cast<std::size_t>(rows) * d;

    const T* y = (t.y ? t.y : t.f) + first;
    if (rule.out && !t.y) {
        // The tape keeps the norm's input; recomputed statistics are identical.
        const auto size = static_cast<std::size_t>(rows);
        T* again = model.device().template scratch_of<T>(kResidualStatistics, 2 * size);
        ops.layers.norm_forward(
            norm_of(model, at.norm_out, rows, t.f + first, {again, again + size}),
            tape.coefficients.eps.data() + eps_index(NormSite::Place::Out, sublayer, 2 * model.spec().depth),
            nullptr, out);
        y = out;
    }
    if (model.spec().branch_scale == BranchScale::Channel) {
        ops.elementwise.scale_columns(rows, d, model.parameters().data() + at.scale, y, out);
        y = out;
    }
    // The pass multiplies inside the sum: nothing is rounded here.
    model.device().template pass_ops<T>().elementwise.scale(count, &coefficients_of(tape, sublayer)->branch,
                                                            y, out);
}

namespace {

template <class T>
double gate_value(const Transformer<T>& model, int sublayer) {
    const auto g = static_cast<double>(model.host_parameters(offsets(model.table(), sublayer).gate, 1)[0]);
    return 1 - gate_activation(model.spec().gpas.activation, g);
}

}  // namespace

template <class T>
double backward_output_factor(const Transformer<T>& model, int sublayer) {
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerGate gate(model.spec(), rule, sublayer);
    return gate.scales(GateSite::Output, Jacobian::Backprop) ? gate_value(model, sublayer) : 1;
}

template <class T>
double backward_shortcut_factor(const Transformer<T>& model, int sublayer) {
    const StackSpec& spec = model.spec();
    if (second_of_parallel(spec, sublayer)) return 1;
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerGate gate(spec, rule, sublayer);
    const bool gated = gate.scales(GateSite::Shortcut, Jacobian::Backprop) ||
                       gate.scales(GateSite::Input, Jacobian::Backprop);
    return gated ? rule.a * gate_value(model, sublayer) : rule.a;
}

template <class T>
void gradient_at_sum(const Transformer<T>& model, const Tape<T>& tape, int sublayer, int first_row, int rows,
                     const T* gradient, T* out) {
    const PassOps<T> ops = ops_of(model);
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(sublayer)];
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(sublayer)];
    const int d = model.spec().d_model;
    const std::size_t first = static_cast<std::size_t>(first_row) * d,
                      count = static_cast<std::size_t>(rows) * d;
    const bool gated =
        SublayerGate(model.spec(), rule, sublayer).scales(GateSite::Output, Jacobian::Backprop);
    const T* gate = gated ? &coefficients_of(tape, sublayer)->gate : nullptr;
    if (rule.post)
        ops.layers.norm_vjp(norm_of(model, offsets(model.table(), sublayer).norm_post, rows, t.z + first,
                                    t.post.from(static_cast<std::size_t>(first_row))),
                            gradient, gate, false, out, nullptr, nullptr, nullptr, {});
    else
        ops.elementwise.scale(count, gate, gradient, out);
}

#define NORMSCOPE_INSTANTIATE(T)                                                            \
    template void branch_rows<T>(const Transformer<T>&, const Tape<T>&, int, int, int, T*); \
    template double backward_shortcut_factor<T>(const Transformer<T>&, int);                \
    template double backward_output_factor<T>(const Transformer<T>&, int);                  \
    template void gradient_at_sum<T>(const Transformer<T>&, const Tape<T>&, int, int, int, const T*, T*);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
