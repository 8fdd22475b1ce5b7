// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/gradients.h"

#include <cmath>

namespace normscope {

template <class T>
ProbeResult probe_gradients(ProbeInput<T>& input) {
    const auto& record = input.backward();
    const auto& gradients = input.parameter_gradients();
    const auto depth = static_cast<std::size_t>(input.model.spec().depth);

    std::vector<double> hidden(record.hidden.size()), params(2 * depth);
    for (std::size_t k = 0; k < hidden.size(); ++k) {
        double squares = 0;
        for (T g : record.hidden[k]) squares += static_cast<double>(g) * static_cast<double>(g);
        hidden[k] = std::sqrt(squares);
    }
    double total = 0;
    for (const TensorInfo& tensor : input.model.table().tensors()) {
        double squares = 0;
        for (std::size_t i = 0; i < tensor.count; ++i) {
            const double g = static_cast<double>(gradients[tensor.offset + i]);
            squares += g * g;
        }
        total += squares;
        if (tensor.sublayer >= 0) params[static_cast<std::size_t>(2 * tensor.layer + tensor.sublayer)] += squares;
    }
    for (double& p : params) p = std::sqrt(p);

    ProbeResult result;
    result.arrays.push_back({"hidden", {hidden.size()}, std::move(hidden), {"hidden_state"}, "nat"});
    result.arrays.push_back({"params", {depth, 2}, std::move(params), {"layer", "sublayer"}, "nat"});
    result.arrays.push_back({"total", {}, {std::sqrt(total)}, {}, "nat"});
    return result;
}
template ProbeResult probe_gradients<float>(ProbeInput<float>&);
template ProbeResult probe_gradients<double>(ProbeInput<double>&);

}  // namespace normscope
