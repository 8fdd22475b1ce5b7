// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/jacobian.h"

#include <limits>

#include "core/backend/cpu/matmul.h"

namespace normscope {

namespace {

using Matrix = std::vector<double>;  // [d, d] row-major, rows are outputs

/// The block of the sub-layers begin … end − 1 at the last token of sequence 0. In a causal stack the last token is the
/// only one that it moves; otherwise the whole sequence is carried along.
template <class T>
Matrix token_block(ProbeInput<T>& input, int begin, int end) {
    const StackSpec& s = input.model.spec();
    const Tape<T>& tape = input.tape();
    const auto d = static_cast<std::size_t>(s.d_model);
    const int n = tape.length, first = s.causal ? n - 1 : 0;
    const std::size_t piece = static_cast<std::size_t>(n - first) * d;
    std::vector<T> tangent(piece * d, T(0));
    for (std::size_t i = 0; i < d; ++i) tangent[i * piece + piece - d + i] = 1;
    input.model.tangent(tape, 0, begin, end, first, s.d_model, Jacobian::Backprop, tangent.data());
    Matrix block(d * d);
    for (std::size_t in = 0; in < d; ++in)
        for (std::size_t out = 0; out < d; ++out)
            block[out * d + in] = static_cast<double>(tangent[in * piece + piece - d + out]);
    return block;
}

Matrix product(const Matrix& later, const Matrix& earlier, int d) {
    Matrix result(later.size());
    matmul_nn<double>(d, d, d, 1, later.data(), d, earlier.data(), d, 0, result.data(), d);
    return result;
}

}  // namespace

template <class T>
ProbeResult probe_jacobian(ProbeInput<T>& input) {
    const StackSpec& s = input.model.spec();
    const int d = s.d_model, depth = s.depth;
    const auto width = static_cast<std::size_t>(d), layers = static_cast<std::size_t>(depth);
    std::vector<double> sublayer_sv(2 * layers * width), layer_sv(layers * width), end_sv(width);
    std::vector<double> branch_norm(2 * layers, std::numeric_limits<double>::quiet_NaN());
    std::vector<Matrix> layer_blocks(layers);
    input.tape();  // before the pool's threads ask for it

    input.pool.run(depth, [&](int layer) {
        Matrix blocks[2];
        for (int sub = 0; sub < 2; ++sub) {
            input.check_cancelled();
            const int k = 2 * layer + sub;
            const auto at = static_cast<std::size_t>(k);
            blocks[sub] = token_block(input, k, k + 1);
            singular_values(d, d, blocks[sub].data(), sublayer_sv.data() + at * width);
            const SublayerRule& rule = input.model.rules()[at];
            if (rule.post) continue;
            Matrix branch = blocks[sub];
            for (std::size_t i = 0; i < width; ++i) branch[i * width + i] -= rule.a;
            std::vector<double> values(width);
            singular_values(d, d, branch.data(), values.data());
            branch_norm[at] = values.front();
        }
        const auto l = static_cast<std::size_t>(layer);
        // A parallel layer is not the product of its sub-layers' own maps.
        const bool serial = s.layout == Layout::Serial;
        layer_blocks[l] = s.causal && serial ? product(blocks[1], blocks[0], d) : token_block(input, 2 * layer, 2 * layer + 2);
        singular_values(d, d, layer_blocks[l].data(), layer_sv.data() + l * width);
    });
    Matrix whole = s.causal ? layer_blocks[0] : token_block(input, 0, 2 * depth);
    if (s.causal)
        for (std::size_t l = 1; l < layers; ++l) whole = product(layer_blocks[l], whole, d);
    singular_values(d, d, whole.data(), end_sv.data());

    ProbeResult result;
    result.arrays.push_back({"sublayer_sv", {2 * layers, width}, std::move(sublayer_sv), {"sublayer", "index"}, "1"});
    result.arrays.push_back({"layer_sv", {layers, width}, std::move(layer_sv), {"layer", "index"}, "1"});
    result.arrays.push_back({"end_to_end_sv", {width}, std::move(end_sv), {"index"}, "1"});
    result.arrays.push_back({"branch_norm", {2 * layers}, std::move(branch_norm), {"sublayer"}, "1"});
    return result;
}
template ProbeResult probe_jacobian<float>(ProbeInput<float>&);
template ProbeResult probe_jacobian<double>(ProbeInput<double>&);

}  // namespace normscope
