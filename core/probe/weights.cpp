// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/weights.h"

#include "core/probe/bounds/matrix_norms.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope {

namespace {

/// The matrices of the layers, [layer][column], with the columns' names: "wq" of "blocks.3.attn.wq".
struct LayerMatrices {
    std::vector<std::vector<const TensorInfo*>> layers;
    std::vector<std::string> names;
};

LayerMatrices layer_matrices(const ParameterTable& table, int depth) {
    LayerMatrices all;
    all.layers.resize(static_cast<std::size_t>(depth));
    for (const TensorInfo& tensor : table.tensors()) {
        if (tensor.sublayer < 0 || tensor.shape.size() != 2) continue;
        all.layers[static_cast<std::size_t>(tensor.layer)].push_back(&tensor);
        if (tensor.layer == 0) all.names.push_back(tensor.name.substr(tensor.name.rfind('.') + 1));
    }
    return all;
}

}  // namespace

template <class T>
ProbeResult probe_weights(ProbeInput<T>& input) {
    const Transformer<T>& model = input.model;
    const HostView<T> parameters = model.host_parameters();
    const LayerMatrices matrices = layer_matrices(model.table(), model.spec().depth);
    const std::size_t D = matrices.layers.size(), M = matrices.names.size();
    std::vector<double> frobenius(D * M), spectral(D * M), rank(D * M), sublayer(2 * D, 0.0);
    input.pool.run(static_cast<int>(D * M), [&](int piece) {
        const auto at = static_cast<std::size_t>(piece);
        const TensorInfo& tensor = *matrices.layers[at / M][at % M];
        if (!input.selects(tensor.name)) return;
        input.check_cancelled();
        const MatrixNorms norms =
            matrix_norms(tensor.shape[0], tensor.shape[1], parameters.data() + tensor.offset, tensor.shape[1],
                         [&input] { input.check_cancelled(); });
        frobenius[at] = norms.frobenius;
        spectral[at] = norms.spectral;
        rank[at] = norms.stable_rank();
    });
    for (const TensorInfo& tensor : model.table().tensors()) {
        if (tensor.sublayer < 0) continue;  // a gate belongs to the whole layer
        if (!input.selects_sublayer(2 * tensor.layer + tensor.sublayer)) continue;
        double squares = 0;
        for (std::size_t i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
            const auto w = static_cast<double>(parameters[i]);
            squares += w * w;
        }
        sublayer[static_cast<std::size_t>(2 * tensor.layer + tensor.sublayer)] += squares;
    }
    for (double& v : sublayer) v = std::sqrt(v);

    ProbeResult result;
    const auto add = [&](const char* name, std::vector<double> values) {
        result.arrays.push_back({name, {D, M}, std::move(values), {"layer", "matrix"}, "1"});
    };
    add("frobenius", std::move(frobenius));
    add("spectral", std::move(spectral));
    add("stable_rank", std::move(rank));
    result.arrays.push_back({"sublayer_norm", {D, 2}, std::move(sublayer), {"layer", "sublayer"}, "1"});
    result.labels["matrices"] = matrices.names;
    return result;
}
template ProbeResult probe_weights<float>(ProbeInput<float>&);
template ProbeResult probe_weights<double>(ProbeInput<double>&);

namespace {

/// Gram matrices of all weights and their eigenvalues; measured, an eigenvalue problem takes the time of 4m³
/// + 2500m² multiply-adds (tokens.cpp), m at most kDenseNormWidth; a search reads a larger matrix about 100
/// times.
double weights_operations(const ProbeShape& s) {
    const double d = s.d_model, dense = std::min<double>(kDenseNormWidth, d);
    const double weights = s.depth * s.layer_weights();
    const double problems = s.depth * (4.0 + s.feed_forward_maps);
    return scalar_operations((s.part.matrices + s.part.sublayers) * weights) +
           s.part.matrices * (problems * (4 * dense + 2500) * dense * dense +
                              2 * weights * (d <= kDenseNormWidth ? d : 400));
}

}  // namespace

ProbeInfo weights_probe() {
    static constexpr Axis matrix{"matrix"};
    const std::vector<Axis> each{axis::layer, matrix};
    return {"weights",
            "Weight norms",
            "‖W‖_F, ‖W‖₂, ‖W‖_F²/‖W‖₂²",
            "[G] Figure 6; [E] §6",
            ProbeNeeds::Nothing,
            ProbeCost::Medium,
            weights_operations,
            probe_weights<float>,
            probe_weights<double>,
            {{"frobenius", each, "‖W‖_F", kMayBeNan},
             {"spectral", each, "‖W‖₂", kMayBeNan},
             {"stable_rank", each, "‖W‖_F²/‖W‖₂²", kMayBeNan},
             {"sublayer_norm",
              {axis::layer, axis::half},
              "L2 norm over the tensors of the attention, of the FFN",
              kMayBeNan}},
            {{"matrices", "names of the matrices: wq, wk, wv, wo and those of the feed-forward map"}},
            false};
}

}  // namespace normscope
