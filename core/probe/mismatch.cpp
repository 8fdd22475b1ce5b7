// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/mismatch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace normscope {

namespace {

/// The model in float32 without rounding.
template <class T>
Transformer<float> in_float32(const Transformer<T>& model) {
    if constexpr (std::is_same_v<T, float>) {
        Transformer<float> copy = model;
        copy.set_rounding(Rounding::None);
        return copy;
    } else {
        Transformer<float> copy(model.spec(), 0);
        std::copy(model.parameters().begin(), model.parameters().end(), copy.parameters().begin());
        copy.numerics = model.numerics;
        return copy;
    }
}

double relative_error(const float* low, const float* exact, std::size_t count) {
    double difference = 0, whole = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double y = static_cast<double>(exact[i]), error = static_cast<double>(low[i]) - y;
        difference += error * error;
        whole += y * y;
    }
    const double ratio = std::sqrt(difference / whole);
    return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

template <class T>
ProbeResult probe_mismatch(ProbeInput<T>& input) {
    Transformer<float> model = in_float32(input.model);
    const std::vector<float> weights(model.parameters().begin(), model.parameters().end());
    Tape<float> exact, low;
    model.forward(input.batch, exact, input.pool);

    const std::size_t rows = static_cast<std::size_t>(exact.rows()), states = exact.hidden.size();
    const std::size_t width = static_cast<std::size_t>(model.spec().d_model),
                      V = static_cast<std::size_t>(model.spec().vocab);
    ProbeResult result;
    for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16}) {
        const std::string name = rounding == Rounding::Bf16 ? "bf16" : "fp16";
        input.check_cancelled();
        model.set_rounding(rounding);
        model.set_parameters(weights);
        model.forward(input.batch, low, input.pool);
        std::vector<double> hidden(states);
        for (std::size_t k = 0; k < states; ++k)
            hidden[k] = relative_error(low.hidden[k], exact.hidden[k], rows * width);
        result.arrays.push_back({name + "_hidden", {states}, std::move(hidden), {"hidden_state"}, "1"});
        result.arrays.push_back(
            {name + "_logits", {}, {relative_error(low.logits, exact.logits, rows * V)}, {}, "1"});
    }
    return result;
}
template ProbeResult probe_mismatch<float>(ProbeInput<float>&);
template ProbeResult probe_mismatch<double>(ProbeInput<double>&);

}  // namespace normscope
