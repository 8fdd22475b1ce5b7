// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/gate_clip.h"

#include "core/backend/step_ops.h"

namespace normscope {

template <class T>
GateClip<T>::GateClip(const ParameterTable& table, Device& device) : device_(device) {
    std::vector<std::size_t> gates;
    for (const AttentionOffsets& layer : table.attention)  // a layer's two sub-layers share one gate
        if (layer.gate != kAbsent) gates.push_back(layer.gate);
    gates_.upload(device, gates);
}

template <class T>
void GateClip<T>::apply(double clip, const double* global, T* gradients) {
    if (clip > 0 && !gates_.empty())
        device_.step_ops<T>().clip_gates(static_cast<int>(gates_.size()), gates_.data(), clip, global,
                                         gradients);
}

template <class T>
void clip_gates(const ParameterTable& table, double clip, double global, T* gradients, Device& device) {
    Buffer<double> factor;
    factor.upload(device, &global, 1);
    GateClip<T>(table, device).apply(clip, factor.data(), gradients);
}

#define NORMSCOPE_INSTANTIATE(T) \
    template class GateClip<T>;  \
    template void clip_gates<T>(const ParameterTable&, double, double, T*, Device&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
