// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/adamw.h"

#include <algorithm>
#include <cmath>

#include "core/backend/cpu/row_kernels.h"

namespace normscope {

template <class T>
void AdamW<T>::step(const OptimizerSpec& spec, double lr, double gradient_scale, const T* gradients, T* parameters,
                    ThreadPool& pool) {
    ++steps;
    const double t = static_cast<double>(steps);
    const auto constants = [&](bool decays) {
        return row::AdamWStep<T>{static_cast<T>(lr),
                                 static_cast<T>(spec.betas[0]),
                                 static_cast<T>(spec.betas[1]),
                                 static_cast<T>(spec.eps),
                                 static_cast<T>(decays ? 1 - lr * spec.weight_decay : 1),
                                 static_cast<T>(gradient_scale),
                                 static_cast<T>(1 - std::pow(spec.betas[0], t)),
                                 static_cast<T>(std::sqrt(1 - std::pow(spec.betas[1], t)))};
    };
    const auto decaying = constants(true), plain = constants(false);
    const auto& kernels = row_kernels<T>();
    const auto& tensors = table_.tensors();
    pool.run(static_cast<int>(tensors.size()), [&](int i) {
        const TensorInfo& tensor = tensors[static_cast<std::size_t>(i)];
        if (tensor.frozen) return;
        kernels.adamw(tensor.count, tensor.decays() ? decaying : plain, parameters + tensor.offset,
                      gradients + tensor.offset, m_.data() + tensor.offset, v_.data() + tensor.offset);
    });
}

template <class T>
double gradient_norm(const ParameterTable& table, const T* gradients, ThreadPool& pool) {
    const auto& tensors = table.tensors();
    std::vector<double> squares(tensors.size());
    pool.run(static_cast<int>(tensors.size()), [&](int i) {
        const TensorInfo& tensor = tensors[static_cast<std::size_t>(i)];
        if (tensor.frozen) return;
        double sum = 0;
        for (std::size_t k = 0; k < tensor.count; ++k) {
            const double g = static_cast<double>(gradients[tensor.offset + k]);
            sum += g * g;
        }
        squares[static_cast<std::size_t>(i)] = sum;
    });
    double total = 0;
    for (double square : squares) total += square;
    return std::sqrt(total);
}

double clip_factor(double norm, double clip) { return clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0; }

template class AdamW<float>;
template class AdamW<double>;
template double gradient_norm<float>(const ParameterTable&, const float*, ThreadPool&);
template double gradient_norm<double>(const ParameterTable&, const double*, ThreadPool&);

}  // namespace normscope
