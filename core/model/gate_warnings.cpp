// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gate_warnings.h"

#include "core/backend/row/gate.h"

#include <cstdio>

namespace normscope {

template <class T>
std::vector<std::string> gate_warnings(const Transformer<T>& model) {
    std::vector<std::string> lines;
    const auto& layers = model.table().attention;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (layers[l].gate == kAbsent) continue;
        const double g = static_cast<double>(model.host_parameters(layers[l].gate, 1)[0]);
        const double scale = 1 - gate_activation(model.spec().gpas.activation, g);
        if (scale > 0) continue;
        char text[160];
        std::snprintf(text, sizeof text,
                      "layer %zu: the gate is %.4g, its forward scale 1 − act(g) is %.4g, %s", l + 1, g,
                      scale, scale < 0 ? "which changes the sign" : "which erases what it is applied to");
        lines.push_back(text);
    }
    return lines;
}
template std::vector<std::string> gate_warnings(const Transformer<float>&);
template std::vector<std::string> gate_warnings(const Transformer<double>&);

}  // namespace normscope
