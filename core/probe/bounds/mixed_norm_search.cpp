// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/mixed_norm_search.h"

#include "core/model/attention.h"
#include "core/model/feed_forward.h"
#include "core/model/scratch_slots.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
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
            tape.coefficients.sublayers.data(),
            tape.coefficients.eps.data()};
}

template <class T>
double euclidean_length(const T* x, std::size_t width) {
    double squares = 0;
    for (std::size_t c = 0; c < width; ++c) squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
    return std::sqrt(squares);
}

/// Of the longest token; NaN where an entry is not finite.
template <class T>
double longest_token(const T* x, std::size_t tokens, std::size_t width) {
    double longest = 0;
    for (std::size_t i = 0; i < tokens; ++i) {
        const double length = euclidean_length(x + i * width, width);
        if (!std::isfinite(length)) return std::numeric_limits<double>::quiet_NaN();
        longest = std::max(longest, length);
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
    const bool feed_forward = begin % 2 == 1 && end == begin + 1;
    return {[&model, &tape, sequence, begin, end](int directions, T* tangent) {
                model.tangent(tape, sequence, begin, end, 0, directions, Jacobian::Forward, tangent);
            },
            [&model, &tape, sequence, begin, end](int directions, T* gradient) {
                model.pull_back(tape, sequence, begin, end, directions, Jacobian::Forward, gradient);
            },
            feed_forward};
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
            },
            k % 2 == 1};
}

namespace {

/// Ascents towards one output token each.
template <class T>
class Ascents {
  public:
    Ascents(Device& device, std::size_t tokens, std::size_t width, const TokenMap<T>& map)
        : device_(device), n_(tokens), d_(width), map_(map) {}

    /// From a random direction at that output token.
    void start(std::size_t token, NormalKey key, std::size_t number) {
        tokens_.push_back(token);
        cotangents_.resize(tokens_.size() * piece(), T(0));
        fill_normal_row(key, number, 0, d_, 1,
                        cotangents_.data() + cotangents_.size() - piece() + token * d_);
        gains_.push_back(0);
    }
    std::size_t count() const { return tokens_.size(); }

    /// The largest ratio found in one sweep; NaN where a product is not finite.
    double sweep() {
        product(map_.apply_transpose, cotangents_);
        double best = 0;
        std::vector<double> lengths;  // rounding leaves them near 1
        for (std::size_t k = 0; k < count(); ++k) {
            T* const direction = cotangents_.data() + k * piece();
            normalise_tokens(direction, n_, d_);
            lengths.push_back(longest_token(direction, n_, d_));
        }
        product(map_.apply, cotangents_);
        for (std::size_t k = 0; k < count(); ++k) {
            T* const image = cotangents_.data() + k * piece();
            const double longest = longest_token(image, n_, d_);
            if (std::isnan(longest) || std::isnan(lengths[k])) return std::nan("");
            if (lengths[k] > 0) best = std::max(best, longest / lengths[k]);
            gains_[k] = euclidean_length(image + tokens_[k] * d_, d_);
            for (std::size_t i = 0; i < n_ && !map_.token_by_token; ++i)
                if (i != tokens_[k]) std::fill_n(image + i * d_, d_, T(0));
            normalise_tokens(image, n_, d_);
        }
        return best;
    }

    /// Adds the ascents of another search of the same map.
    void append(const Ascents& other) {
        tokens_.insert(tokens_.end(), other.tokens_.begin(), other.tokens_.end());
        gains_.insert(gains_.end(), other.gains_.begin(), other.gains_.end());
        cotangents_.insert(cotangents_.end(), other.cotangents_.begin(), other.cotangents_.end());
    }
    /// Keeps the `most` whose token's image is longest.
    void keep(std::size_t most) {
        if (count() <= most) return;
        std::vector<std::size_t> order(count());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return gains_[a] > gains_[b]; });
        order.resize(most);
        Ascents kept(device_, n_, d_, map_);
        for (const std::size_t k : order) {
            kept.tokens_.push_back(tokens_[k]);
            kept.gains_.push_back(gains_[k]);
            const auto from = cotangents_.begin() + static_cast<std::ptrdiff_t>(k * piece());
            kept.cotangents_.insert(kept.cotangents_.end(), from,
                                    from + static_cast<std::ptrdiff_t>(piece()));
        }
        tokens_ = std::move(kept.tokens_);
        gains_ = std::move(kept.gains_);
        cotangents_ = std::move(kept.cotangents_);
    }

  private:
    std::size_t piece() const { return n_ * d_; }
    void product(const std::function<void(int, T*)>& apply, std::vector<T>& vectors) {
        T* const rows = device_.scratch_of<T>(kJacobianRows, vectors.size());
        device_.upload(rows, vectors.data(), vectors.size() * sizeof(T));
        apply(static_cast<int>(count()), rows);
        device_.download(vectors.data(), rows, vectors.size() * sizeof(T));
    }

    Device& device_;
    std::size_t n_, d_;
    const TokenMap<T>& map_;
    std::vector<std::size_t> tokens_;  ///< of each ascent
    std::vector<double> gains_;        ///< ‖(Jv)_i‖₂ at that token
    std::vector<T> cotangents_;        ///< [ascents, n, d], 0 but at that token
};

}  // namespace

template <class T>
double largest_token_gain(Device& device, int tokens, int width, const TokenMap<T>& map,
                          const SearchEffort& effort, NormalKey key) {
    constexpr std::size_t kAtOnce = 64;  // bounds the memory
    const auto n = static_cast<std::size_t>(tokens), d = static_cast<std::size_t>(width),
               starts = static_cast<std::size_t>(effort.starts),
               tried = map.token_by_token ? 1 : std::min(n, static_cast<std::size_t>(effort.tokens)),
               first = std::max(starts, tried);  // of few tokens several directions each
    const int sweeps = map.token_by_token ? 4 * effort.sweeps : effort.sweeps;
    double gain = 0;
    // The first sweeps halve them, in groups that bound the memory.
    std::vector<Ascents<T>> groups;
    std::size_t left = first;
    for (std::size_t begin = 0; begin < first; begin += kAtOnce) {
        groups.emplace_back(device, n, d, map);
        for (std::size_t k = begin; k < std::min(first, begin + kAtOnce); ++k)
            groups.back().start(n - 1 - k % tried * n / tried, key, k);
    }
    const auto sweep = [&](Ascents<T>& ascents) {
        const double found = ascents.sweep();
        gain = std::isnan(found) || std::isnan(gain) ? std::nan("") : std::max(gain, found);
    };
    while (left > starts) {
        const std::size_t next = std::max(starts, left / 2);
        Ascents<T> kept(device, n, d, map);
        for (Ascents<T>& group : groups) {
            sweep(group);
            sweep(group);  // the first is mostly of the random start
            kept.append(group);
        }
        kept.keep(next);
        groups.clear();
        groups.push_back(std::move(kept));
        left = next;
    }
    for (int i = 0; i <= sweeps && !std::isnan(gain); ++i) sweep(groups.front());
    return gain;
}

#define NORMSCOPE_INSTANTIATE(T)                                                                        \
    template TokenMap<T> sublayer_map(const Transformer<T>&, const Tape<T>&, int, int, int);            \
    template TokenMap<T> branch_map(const Transformer<T>&, const Tape<T>&, int, int, const Buffer<T>&); \
    template double largest_token_gain(Device&, int, int, const TokenMap<T>&, const SearchEffort&, NormalKey);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
