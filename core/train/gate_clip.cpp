// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/gate_clip.h"

#include "core/train/optimizers.h"

#include <cmath>

namespace normscope {

template <class T>
void clip_gates(const ParameterTable& table, double clip, double global_factor, T* gradients) {
    double squares = 0;
    // A layer's two sub-layers share one gate, and either all layers have one or none.
    if (table.attention.front().gate == kAbsent) return;
    for (const AttentionOffsets& layer : table.attention) {
        const double g = global_factor * static_cast<double>(gradients[layer.gate]);
        squares += g * g;
    }
    const T factor = static_cast<T>(clip_factor(std::sqrt(squares), clip));
    for (const AttentionOffsets& layer : table.attention) gradients[layer.gate] *= factor;
}
template void clip_gates<float>(const ParameterTable&, double, double, float*);
template void clip_gates<double>(const ParameterTable&, double, double, double*);

}  // namespace normscope
