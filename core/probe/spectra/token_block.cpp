// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/token_block.h"

#include "core/backend/cpu/linear_algebra/block_lanczos.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/linear_algebra/svd.h"
#include "core/model/scratch_slots.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace normscope {

template <class T>
BlockMatrix token_block(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end) {
    const StackSpec& s = model.spec();
    const auto d = static_cast<std::size_t>(s.d_model);
    const int n = tape.length, first = s.causal ? n - 1 : 0;
    const std::size_t piece = static_cast<std::size_t>(n - first) * d;
    T* const directions = model.device().template scratch_of<T>(kJacobianRows, piece * d);
    HostEdit<T> given(model.device(), directions, piece * d);
    std::fill_n(given.data(), piece * d, T(0));
    for (std::size_t i = 0; i < d; ++i) given.data()[i * piece + piece - d + i] = 1;
    given.commit();
    model.tangent(tape, sequence, begin, end, first, s.d_model, Jacobian::Backprop, directions);
    const HostView<T> tangent = tape.view(directions, piece * d);
    BlockMatrix block(d * d);
    for (std::size_t in = 0; in < d; ++in)
        for (std::size_t out = 0; out < d; ++out)
            block[out * d + in] = static_cast<double>(tangent[in * piece + piece - d + out]);
    return block;
}
template BlockMatrix token_block(const Transformer<float>&, const Tape<float>&, int, int, int);
template BlockMatrix token_block(const Transformer<double>&, const Tape<double>&, int, int, int);

RequestedBlocks RequestedBlocks::layers_from(int first, int count) const {
    if (all()) return {};
    RequestedBlocks part;
    part.sublayers.assign(sublayers.begin() + 2 * first, sublayers.begin() + 2 * (first + count));
    return part;
}

std::vector<BlockMatrix> sublayer_blocks(const Transformer<double>& model, const Tape<double>& tape,
                                         const RequestedBlocks& wanted, ThreadPool& pool,
                                         const std::function<void()>& check) {
    const int count = 2 * model.spec().depth;
    std::vector<BlockMatrix> blocks(static_cast<std::size_t>(count));
    pool.run(count, [&](int k) {
        if (!wanted.sublayer(static_cast<std::size_t>(k))) return;
        check();
        blocks[static_cast<std::size_t>(k)] = token_block(model, tape, 0, k, k + 1);
    });
    return blocks;
}

std::vector<BlockMatrix> layer_blocks(const Transformer<double>& model, const Tape<double>& tape,
                                      const RequestedBlocks& wanted,
                                      const std::vector<BlockMatrix>& sublayers, ThreadPool& pool) {
    const StackSpec& s = model.spec();
    std::vector<BlockMatrix> layers(static_cast<std::size_t>(s.depth));
    pool.run(s.depth, [&](int l) {
        const auto at = static_cast<std::size_t>(l);
        if (!wanted.layer(at)) return;
        layers[at] = blocks_multiply(s) ? block_product(sublayers[2 * at + 1], sublayers[2 * at], s.d_model)
                                        : token_block(model, tape, 0, 2 * l, 2 * l + 2);
    });
    return layers;
}

BlockMatrix stack_block(const Transformer<double>& model, const Tape<double>& tape,
                        const std::vector<BlockMatrix>& layers) {
    const StackSpec& s = model.spec();
    if (!s.causal) return token_block(model, tape, 0, 0, 2 * s.depth);
    BlockMatrix whole = layers.front();
    for (std::size_t l = 1; l < layers.size(); ++l) whole = block_product(layers[l], whole, s.d_model);
    return whole;
}

BlockMatrix block_product(const BlockMatrix& later, const BlockMatrix& earlier, int d) {
    BlockMatrix result(later.size());
    matmul_nn<double>(d, d, d, 1, later.data(), d, earlier.data(), d, 0, result.data(), d);
    return result;
}

std::vector<double> block_spectra(const std::vector<BlockMatrix>& blocks, int d, ThreadPool& pool,
                                  const std::function<void()>& check) {
    std::vector<double> values(blocks.size() * static_cast<std::size_t>(d), std::nan(""));
    pool.run(static_cast<int>(blocks.size()), [&](int i) {
        const auto at = static_cast<std::size_t>(i);
        if (blocks[at].empty()) return;
        check();
        singular_values(d, d, blocks[at].data(), values.data() + at * static_cast<std::size_t>(d));
    });
    return values;
}

namespace {

/// √λ_max(AᵀA): squaring loses digits of the small values, not of the largest, and it takes half of a
/// decomposition's time.
double largest_singular_value(const BlockMatrix& matrix, int d) {
    const auto largest = [](double a, double b) { return std::max(a, std::abs(b)); };
    const double scale = std::accumulate(matrix.begin(), matrix.end(), 0.0, largest);
    if (!(scale > 0) || !std::isfinite(std::accumulate(matrix.begin(), matrix.end(), 0.0)))
        return scale == 0 ? 0 : std::nan("");
    BlockMatrix scaled(matrix), gram(matrix.size());
    for (double& entry : scaled) entry /= scale;  // squares neither overflow nor vanish
    matmul_tn<double>(d, d, d, 1, scaled.data(), d, scaled.data(), d, 0, gram.data(), d);
    std::vector<double> eigenvalues(static_cast<std::size_t>(d));
    symmetric_eigenvalues(d, gram.data(), eigenvalues.data());
    return scale * std::sqrt(std::max(0.0, eigenvalues.back()));
}

}  // namespace

std::vector<double> branch_norms(const std::vector<BlockMatrix>& blocks, const std::vector<double>& shortcuts,
                                 int d, ThreadPool& pool, const std::function<void()>& check) {
    constexpr int kDenseBlock = 128;  // above it a search is cheaper
    const auto width = static_cast<std::size_t>(d);
    std::vector<BlockMatrix> branches = blocks;
    for (std::size_t k = 0; k < blocks.size(); ++k)
        for (std::size_t i = 0; i < width; ++i) branches[k][i * width + i] -= shortcuts[k];
    std::vector<double> norms;
    if (d <= kDenseBlock) {
        norms.resize(blocks.size());
        pool.run(static_cast<int>(blocks.size()), [&](int k) {
            check();
            norms[static_cast<std::size_t>(k)] =
                largest_singular_value(branches[static_cast<std::size_t>(k)], d);
        });
        return norms;
    }
    for (const BlockMatrix& branch : branches) {
        const LinearMap map{d,
                            [&](int count, const double* in, double* out) {
                                matmul_nt<double>(count, d, d, 1, in, d, branch.data(), d, 0, out, d);
                            },
                            [&](int count, const double* in, double* out) {
                                matmul_nn<double>(count, d, d, 1, in, d, branch.data(), d, 0, out, d);
                            }};
        norms.push_back(
            block_lanczos(map, {.count = 4, .tolerance = 1e-9, .max_dimension = d, .check = check}, pool)
                .top.front());
    }
    return norms;
}

}  // namespace normscope
