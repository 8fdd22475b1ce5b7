// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/mixed_norm_search.h"

#include "core/model/attention.h"
#include "core/model/feed_forward.h"
#include "core/model/scratch_slots.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace normscope {

namespace {

template <class T>
Pass<T> pass_of(const Transformer<T>& model, const Tape<T>& tape, const Buffer<T>& angles) {
    const PassOps<T> ops = model.device().template pass_ops<T>(model.rounding(), model.policy());
    return {model.spec(),
            model.table(),
            model.device(),
            ops.layers,
            ops.elementwise,
            model.parameters().data(),
            tape.transposed.data(),
            angles.data(),
            tape.coefficients.whole.data(),
            tape.coefficients.sublayers.data()};
}

template <class T>
double euclidean_length(const T* x, std::size_t width) {
    double squares = 0;
    for (std::size_t c = 0; c < width; ++c) squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
    return std::sqrt(squares);
}

struct Longest {
    std::size_t token = 0;
    double length = 0;  ///< NaN where an entry is not finite
};

template <class T>
Longest longest_token(const T* x, std::size_t tokens, std::size_t width) {
    Longest longest;
    for (std::size_t i = 0; i < tokens; ++i) {
        const double length = euclidean_length(x + i * width, width);
        if (!std::isfinite(length)) return {i, std::numeric_limits<double>::quiet_NaN()};
        if (length > longest.length) longest = {i, length};
    }
    return longest;
}

/// Each token to length 1; tokens of 0 remain.
template <class T>
void normalise_tokens(T* x, std::size_t tokens, std::size_t width) {
    for (std::size_t i = 0; i < tokens; ++i, x += width) {
        const double length = euclidean_length(x, width);
        if (!(length > 0)) continue;
        for (std::size_t c = 0; c < width; ++c) x[c] = static_cast<T>(static_cast<double>(x[c]) / length);
    }
}

}  // namespace

template <class T>
TokenMap<T> sublayer_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end) {
    return {[&model, &tape, sequence, begin, end](int directions, T* tangent) {
                model.tangent(tape, sequence, begin, end, 0, directions, Jacobian::Forward, tangent);
            },
            [&model, &tape, sequence, begin, end](int directions, T* gradient) {
                model.pull_back(tape, sequence, begin, end, directions, Jacobian::Forward, gradient);
            }};
}

template <class T>
TokenMap<T> branch_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int sublayer,
                       const Buffer<T>& angles) {
    const auto k = static_cast<std::size_t>(sublayer);
    const std::size_t piece =
        static_cast<std::size_t>(tape.length) * static_cast<std::size_t>(model.spec().d_model);
    const auto in_place = [&model, piece](int directions, T* vectors, const auto& product) {
        const std::size_t count = static_cast<std::size_t>(directions) * piece;
        T* const image = model.device().template scratch_of<T>(kResidualRows, count);
        product(image);
        model.device().copy(vectors, image, count * sizeof(T));
    };
    const SublayerTape<T>& t = tape.sublayers[k];
    const T* u = (t.u ? t.u : t.x) + static_cast<std::size_t>(sequence) * piece;
    return {[=, &model, &tape, &t, &angles](int directions, T* tangent) {
                const Pass<T> pass = pass_of(model, tape, angles);
                in_place(directions, tangent, [&](T* image) {
                    if (k % 2 == 0)
                        attention_tangent(pass, pass.table.attention[k / 2], sequence, tape.length, 0,
                                          directions, t, tangent, image);
                    else
                        feed_forward_tangent(pass, pass.table.feed_forward[k / 2], sequence, tape.length, 0,
                                             directions, t, tangent, image);
                });
            },
            [=, &model, &tape, &t, &angles](int directions, T* gradient) {
                const Pass<T> pass = pass_of(model, tape, angles);
                const Shard shard{sequence, 1, directions};
                in_place(directions, gradient, [&](T* image) {
                    if (k % 2 == 0)
                        attention_backward<T>(pass, pass.table.attention[k / 2], shard, tape.length, u, t,
                                              gradient, image, nullptr);
                    else
                        feed_forward_backward<T>(pass, pass.table.feed_forward[k / 2], shard, tape.length, u,
                                                 t, gradient, image, nullptr);
                });
            }};
}

template <class T>
double largest_token_gain(Device& device, int tokens, int width, const TokenMap<T>& map,
                          const SearchEffort& effort, NormalKey key) {
    const auto n = static_cast<std::size_t>(tokens), d = static_cast<std::size_t>(width), piece = n * d;
    const auto K = static_cast<std::size_t>(effort.starts);
    std::vector<T> directions(K * piece), images(K * piece);
    for (std::size_t k = 0; k < K; ++k) fill_normal_row(key, k, 0, piece, 1, directions.data() + k * piece);

    const auto product = [&](const auto& apply) {  // of `directions`, into `images`
        T* const vectors = device.scratch_of<T>(kJacobianRows, K * piece);
        device.upload(vectors, directions.data(), directions.size() * sizeof(T));
        apply(effort.starts, vectors);
        device.download(images.data(), vectors, images.size() * sizeof(T));
    };
    double best = 0;
    for (int sweep = 0;; ++sweep) {
        for (std::size_t k = 0; k < K; ++k) normalise_tokens(directions.data() + k * piece, n, d);
        std::vector<double> lengths(K);  // rounding leaves it near 1
        for (std::size_t k = 0; k < K; ++k)
            lengths[k] = longest_token(directions.data() + k * piece, n, d).length;
        product(map.apply);
        for (std::size_t k = 0; k < K; ++k) {
            T* const image = images.data() + k * piece;
            const Longest longest = longest_token(image, n, d);
            if (std::isnan(longest.length)) return longest.length;
            if (lengths[k] > 0) best = std::max(best, longest.length / lengths[k]);
            T* const gradient = directions.data() + k * piece;
            std::fill_n(gradient, piece, T(0));
            for (std::size_t c = 0; longest.length > 0 && c < d; ++c)
                gradient[longest.token * d + c] =
                    static_cast<T>(static_cast<double>(image[longest.token * d + c]) / longest.length);
        }
        if (sweep == effort.sweeps) return best;
        product(map.apply_transpose);
        directions.swap(images);
    }
}

#define NORMSCOPE_INSTANTIATE(T)                                                                        \
    template TokenMap<T> sublayer_map(const Transformer<T>&, const Tape<T>&, int, int, int);            \
    template TokenMap<T> branch_map(const Transformer<T>&, const Tape<T>&, int, int, const Buffer<T>&); \
    template double largest_token_gain(Device&, int, int, const TokenMap<T>&, const SearchEffort&, NormalKey);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
