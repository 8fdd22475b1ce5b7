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

namespace {

/// Directions at a time where every token of a sequence has to be computed; fixed, so that the number of
/// threads changes no product.
constexpr int kDirectionsAtOnce = 16;

/// From this width on a feed-forward block without a mask is measured at the last token alone. A narrower one
/// takes microseconds either way, and GEMM of another shape may round otherwise there.
constexpr int kWide = 64;

/// The first token that a change of the last one affects.
int first_affected(const StackSpec& s, int begin, int end, int length) {
    const bool feed_forward_alone = begin % 2 == 1 && end == begin + 1 && s.d_model >= kWide;
    return s.causal || feed_forward_alone ? length - 1 : 0;
}

/// Images of `count` directions at the last token, the columns of `in` from `from` on, or the unit vectors
/// where there is no `in`; written into the same columns of `out`.
template <class T>
void map_columns(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end, int from,
                 int count, const BlockMatrix* in, BlockMatrix& out) {
    const auto d = static_cast<std::size_t>(model.spec().d_model);
    const int n = tape.length, first = first_affected(model.spec(), begin, end, n);
    const std::size_t piece = static_cast<std::size_t>(n - first) * d;
    const std::size_t all = piece * static_cast<std::size_t>(count);
    T* const directions = model.device().template scratch_of<T>(kJacobianRows, all);
    HostEdit<T> given(model.device(), directions, all);
    std::fill_n(given.data(), all, T(0));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const std::size_t column = static_cast<std::size_t>(from) + i;
        T* const last = given.data() + (i + 1) * piece - d;
        if (!in)
            last[column] = 1;
        else
            for (std::size_t row = 0; row < d; ++row) last[row] = static_cast<T>((*in)[row * d + column]);
    }
    given.commit();
    model.tangent(tape, sequence, begin, end, first, count, Jacobian::Backprop, directions);
    const HostView<T> tangent = tape.view(directions, all);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        for (std::size_t row = 0; row < d; ++row)
            out[row * d + static_cast<std::size_t>(from) + i] =
                static_cast<double>(tangent[(i + 1) * piece - d + row]);
}

}  // namespace

template <class T>
BlockMatrix token_block(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end) {
    const int d = model.spec().d_model;
    BlockMatrix block(static_cast<std::size_t>(d) * static_cast<std::size_t>(d));
    map_columns(model, tape, sequence, begin, end, 0, d, nullptr, block);
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
        const BlockMatrix& attention = sublayers[2 * at];
        if (blocks_multiply(s)) {
            layers[at] = block_product(sublayers[2 * at + 1], attention, s.d_model);
        } else if (s.layout == Layout::Serial && s.d_model >= kWide) {
            // The feed-forward map of the last token depends on that token alone.
            layers[at].resize(attention.size());
            map_columns(model, tape, 0, 2 * l + 1, 2 * l + 2, 0, s.d_model, &attention, layers[at]);
        } else {
            layers[at] = token_block(model, tape, 0, 2 * l, 2 * l + 2);
        }
    });
    return layers;
}

BlockMatrix stack_block(const Transformer<double>& model, const Tape<double>& tape,
                        const std::vector<BlockMatrix>& layers, ThreadPool& pool) {
    const StackSpec& s = model.spec();
    if (!s.causal) {
        const auto d = static_cast<std::size_t>(s.d_model);
        BlockMatrix whole(d * d);
        pool.run((s.d_model + kDirectionsAtOnce - 1) / kDirectionsAtOnce, [&](int piece) {
            const int from = piece * kDirectionsAtOnce;
            map_columns(model, tape, 0, 0, 2 * s.depth, from, std::min(kDirectionsAtOnce, s.d_model - from),
                        nullptr, whole);
        });
        return whole;
    }
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
