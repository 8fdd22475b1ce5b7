// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/importance.h"

#include "core/base/nan.h"
#include "core/model/sequence_losses.h"
#include "core/model/sublayer_factors.h"
#include "core/probe/interface/jackknife.h"

namespace normscope {

namespace {

/// Sets the branch of one sub-layer to 0 by its parameters: the last linear map of f, so that f = 0, and an
/// output norm's γ and β, which would otherwise give β.
template <class T>
void remove_branch(Transformer<T>& model, int sublayer) {
    const ParameterTable& table = model.table();
    const auto d = static_cast<std::size_t>(model.spec().d_model),
               ff = static_cast<std::size_t>(model.spec().d_ff), l = static_cast<std::size_t>(sublayer / 2);
    const auto clear = [&](std::size_t offset, std::size_t count) {
        if (offset != kAbsent) model.device().zero(model.parameters().data() + offset, count * sizeof(T));
    };
    const bool attention = sublayer % 2 == 0;
    clear(attention ? table.attention[l].wo : table.feed_forward[l].w2, d * (attention ? d : ff));
    clear(attention ? table.attention[l].bo : table.feed_forward[l].b2, d);
    clear(offsets(table, sublayer).norm_out.weight, d);
    clear(offsets(table, sublayer).norm_out.bias, d);
}

}  // namespace

template <class T>
ProbeResult probe_importance(ProbeInput<T>& input) {
    const StackSpec& s = input.model.spec();
    const auto D = static_cast<std::size_t>(s.depth);
    std::vector<Averaged> sublayer(2 * D, {kNaN, kNaN}), layer(D, {kNaN, kNaN});
    double loss = kNaN;
    if (!input.batch.targets.empty()) {
        const Tape<T>& whole = input.tape();
        const std::vector<double> with = sequence_losses(whole);
        loss = whole.mean_loss();
        Transformer<T> model = input.model;
        Tape<T> tape;
        const auto without = [&](int first, int last) {
            input.check_cancelled();
            const std::span<const T> weights = input.model.parameters();
            model.device().copy(model.parameters().data(), weights.data(), weights.size_bytes());
            for (int k = first; k <= last; ++k) remove_branch(model, k);
            model.forward(input.batch, tape, input.pool, Probabilities::WhereNeeded);
            std::vector<double> differences = sequence_losses(tape);
            for (std::size_t b = 0; b < with.size(); ++b) differences[b] -= with[b];
            return jackknife(differences, 1, mean_of_total);
        };
        for (int k = 0; k < 2 * s.depth; ++k)
            if (input.selects_sublayer(k)) sublayer[static_cast<std::size_t>(k)] = without(k, k);
        for (int l = 0; l < s.depth; ++l)
            if (input.selects_layer(l)) layer[static_cast<std::size_t>(l)] = without(2 * l, 2 * l + 1);
    }
    ProbeResult result;
    add_averaged(result, "sublayer", {2 * D}, sublayer, {"sublayer"}, "nat");
    add_averaged(result, "layer", {D}, layer, {"layer"}, "nat");
    result.arrays.push_back({"loss", {}, {loss}, {}, "nat"});
    return result;
}
template ProbeResult probe_importance<float>(ProbeInput<float>&);
template ProbeResult probe_importance<double>(ProbeInput<double>&);

namespace {

double importance_operations(const ProbeShape& s) {
    return (2 * s.part.sublayers + s.part.layers) * s.depth * forward_pass_operations(s);
}

}  // namespace

ProbeInfo importance_probe() {
    constexpr unsigned flags = kAveraged | kMayBeNan;
    return {"importance",
            "Layer importance",
            "L with branches set to zero − L",
            "[G] Figure 7",
            ProbeNeeds::Forward,
            ProbeCost::Expensive,
            importance_operations,
            probe_importance<float>,
            probe_importance<double>,
            {{"sublayer", {axis::sublayer}, "loss without the branch of a sub-layer − loss", flags, "nat"},
             {"layer", {axis::layer}, "loss without both branches of a layer − loss", flags, "nat"},
             {"loss", {}, "mean loss over the probe batch", kMayBeNan, "nat"}},
            {},
            false};
}

}  // namespace normscope
