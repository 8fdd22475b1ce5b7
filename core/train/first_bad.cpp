// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include <cmath>
#include <string>

namespace normscope {

namespace {

template <class T>
const T* first_not_finite(const T* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (!std::isfinite(values[i])) return values + i;
    return nullptr;
}

Outcome diverged(std::int64_t step, int layer, const std::string& operation, double value) {
    std::string where;
    if (layer >= 0) where.append("L").append(std::to_string(layer + 1)).append(" ");
    where.append(operation);
    const std::string what = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return {RunState::Diverged, step, "step " + std::to_string(step) + " · " + where + " · " + what, layer};
}

}  // namespace

template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>& model, const Tape<T>& tape,
                                       const std::vector<T>* gradients, std::int64_t step) {
    const StackSpec& s = model.spec();
    for (const TensorInfo& t : model.table().tensors())
        if (const T* bad = first_not_finite(model.parameters().data() + t.offset, t.count))
            return diverged(step, t.layer, "parameter " + t.name, static_cast<double>(*bad));

    const auto R = static_cast<std::size_t>(tape.rows()), d = static_cast<std::size_t>(s.d_model);
    const auto n = static_cast<std::size_t>(tape.length), H = static_cast<std::size_t>(s.heads);
    const bool gated = s.activation == Activation::SwiGlu;
    const char *first = gated ? "ffn.w_gate/w_up" : "ffn.w1", *last = gated ? "ffn.w_down" : "ffn.w2";
    struct Stage {
        const char* operation;
        const T* values;
        std::size_t count;
    };
    if (const T* bad = first_not_finite(tape.embedded, R * d))
        return diverged(step, -1, "embedding", static_cast<double>(*bad));
    if (const T* bad = first_not_finite(tape.hidden.front(), R * d))
        return diverged(step, -1, "emb_norm", static_cast<double>(*bad));
    for (std::size_t k = 0; k < tape.sublayers.size(); ++k) {
        const SublayerTape<T>& t = tape.sublayers[k];
        const bool attention = k % 2 == 0;
        const Stage stages[] = {
            {attention ? "attn.norm_in" : "ffn.norm_in", t.u, R * d},
            {"attn.qkv", t.qk, R * (d + static_cast<std::size_t>(s.d_kv()))},
            {"attn.qkv", t.qkv, R * (d + 2 * static_cast<std::size_t>(s.d_kv()))},
            {"attn.softmax", t.probabilities, R * H * n},
            {"attn.mixed", t.mixed, R * d},
            {first, t.pre, R * static_cast<std::size_t>(feed_forward_width(s))},
            {"ffn.activation", t.activated, R * static_cast<std::size_t>(s.d_ff)},
            {attention ? "attn.wo" : last, t.f, R * d},
            {attention ? "attn.sum" : "ffn.sum", t.z, R * d},
            {attention ? "attn.output" : "ffn.output", tape.hidden[k + 1], R * d},
        };
        for (const Stage& stage : stages)
            if (stage.values)
                if (const T* bad = first_not_finite(stage.values, stage.count))
                    return diverged(step, static_cast<int>(k / 2), stage.operation, static_cast<double>(*bad));
    }
    if (const T* bad = first_not_finite(tape.final_hidden, R * d))
        return diverged(step, -1, "final_norm", static_cast<double>(*bad));
    if (const T* bad = first_not_finite(tape.logits, R * static_cast<std::size_t>(s.vocab)))
        return diverged(step, -1, "head", static_cast<double>(*bad));
    if (const T* bad = first_not_finite(tape.losses, R)) return diverged(step, -1, "loss", static_cast<double>(*bad));
    if (gradients)
        for (std::size_t i = model.table().tensors().size(); i-- > 0;) {
            const TensorInfo& t = model.table().tensors()[i];
            if (const T* bad = first_not_finite(gradients->data() + t.offset, t.count))
                return diverged(step, t.layer, "gradient of " + t.name, static_cast<double>(*bad));
        }
    return std::nullopt;
}
template std::optional<Outcome> first_bad_value(const Transformer<float>&, const Tape<float>&,
                                                const std::vector<float>*, std::int64_t);
template std::optional<Outcome> first_bad_value(const Transformer<double>&, const Tape<double>&,
                                                const std::vector<double>*, std::int64_t);

}  // namespace normscope
