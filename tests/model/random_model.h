// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

#include <random>
#include <vector>

namespace normscope {

inline std::vector<double> normals(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(count);
    for (double& v : values) v = normal(generator);
    return values;
}

/// Initial weights, with gains, biases, scales and gates away from where they start.
inline Transformer<double> model_of(const StackSpec& spec) {
    Transformer<double> model(spec, 5);
    const std::vector<double> noise = normals(model.table().size(), 6);
    for (const TensorInfo& t : model.table().tensors())
        if (t.shape.size() < 2)
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                model.parameters()[i] += 0.3 * noise[i];
    return model;
}

}  // namespace normscope
