// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/branch_bound.h"

#include "core/backend/cpu/linear_algebra/spectral_bound.h"

#include <algorithm>
#include <cmath>
#include <vector>

// The sums may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler vectorise them.

namespace normscope {

namespace {

/// ‖v‖₂; 0 for an absent tensor.
template <class T>
double length_of(const T* v, std::size_t count) {
    if (!v) return 0;
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::size_t i = 0; i < count; ++i) squares += static_cast<double>(v[i]) * static_cast<double>(v[i]);
    return std::sqrt(squares);
}

/// max_i(‖row i of W‖₂·input + |b_i|), a bound of every entry of W·u + b; NaN where one is.
template <class T>
double largest_entry(int rows, int columns, const T* W, const T* b, double input) {
    double largest = 0;
    for (int i = 0; i < rows; ++i, W += columns) {
        const double entry = length_of(W, static_cast<std::size_t>(columns)) * input +
                             (b ? std::abs(static_cast<double>(b[i])) : 0);
        if (!(entry <= largest)) largest = entry;
    }
    return largest;
}

template <class T>
class Parameters {
  public:
    explicit Parameters(const Transformer<T>& model) : parameters_(model.host_parameters()) {}
    const T* at(std::size_t offset, std::size_t further = 0) const {
        return offset == kAbsent ? nullptr : parameters_.data() + offset + further;
    }

  private:
    HostView<T> parameters_;
};

/// ‖W^O b^V + b^O‖₂, b^V of the value head that each head reads.
template <class T>
double attention_offset(const StackSpec& s, const T* wo, const T* bv, const T* bo) {
    if (!bv && !bo) return 0;
    const int d = s.d_model, d_q = s.d_q(), dh = s.d_head(), group = s.heads / s.kv_heads;
    std::vector<double> values(static_cast<std::size_t>(d_q));
    for (int h = 0; bv && h < s.heads; ++h) std::copy_n(bv + h / group * dh, dh, values.begin() + h * dh);
    double squares = 0;
    for (int i = 0; i < d; ++i, wo += d_q) {
        double sum = bo ? static_cast<double>(bo[i]) : 0;
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < d_q; ++c) sum += static_cast<double>(wo[c]) * values[static_cast<std::size_t>(c)];
        squares += sum * sum;
    }
    return std::sqrt(squares);
}

}  // namespace

template <class T>
double largest_magnitude(const Transformer<T>& model, std::size_t offset, std::size_t count) {
    if (offset == kAbsent) return 0;
    double largest = 0;
    for (T v : model.host_parameters(offset, count))
        if (const double size = std::abs(static_cast<double>(v)); !(size <= largest)) largest = size;
    return largest;
}
template double largest_magnitude(const Transformer<float>&, std::size_t, std::size_t);
template double largest_magnitude(const Transformer<double>&, std::size_t, std::size_t);

template <class T>
BranchBound branch_bound(const Transformer<T>& model, std::size_t sublayer, double factor) {
    const StackSpec& s = model.spec();
    const Parameters<T> p(model);
    const int d = s.d_model, ff = s.d_ff;
    const auto width = static_cast<std::size_t>(d), wide = static_cast<std::size_t>(ff);
    const auto no_bias = [&](std::size_t offset, std::size_t first, std::size_t count) {
        return offset == kAbsent || largest_magnitude(model, offset + first, count) == 0;
    };
    BranchBound bound;
    const auto normed = [&](const NormOffsets& at) {
        bound.gamma = largest_magnitude(model, at.weight, width);
        bound.unbiased = no_bias(at.bias, 0, width);
        return std::abs(factor) *
               (std::sqrt(static_cast<double>(d)) * bound.gamma + length_of(p.at(at.bias), width));
    };

    if (sublayer % 2 == 0) {
        const AttentionOffsets& at = model.table().attention[sublayer / 2];
        const double U = normed(at.norm_in);
        const int dh = s.d_head(), group = s.heads / s.kv_heads;
        const std::size_t values = static_cast<std::size_t>(s.d_q() + s.d_kv());  // rows of W^Q and W^K
        const T *wo = p.at(at.wo), *wv = p.at(at.wqkv, values * width);
        for (int h = 0; h < s.heads; ++h)
            bound.gain += product_norm_bound(d, dh, d, wo + h * dh, s.d_q(),
                                             wv + static_cast<std::size_t>(h / group * dh) * width, d);
        bound.unbiased = bound.unbiased && no_bias(at.bqkv, values, static_cast<std::size_t>(s.d_kv())) &&
                         no_bias(at.bo, 0, width);
        bound.token = bound.gain * U + attention_offset(s, wo, p.at(at.bqkv, values), p.at(at.bo));
        return bound;
    }

    const FeedForwardOffsets& at = model.table().feed_forward[sublayer / 2];
    const double U = normed(at.norm_in);
    const T *w1 = p.at(at.w1), *b1 = p.at(at.b1);
    const double first = spectral_norm_bound(ff, d, w1, d),
                 second = spectral_norm_bound(d, ff, p.at(at.w2), ff);
    const double inner = first * U + length_of(b1, wide), offset = length_of(p.at(at.b2), width);
    bound.unbiased = bound.unbiased && no_bias(at.b1, 0, static_cast<std::size_t>(feed_forward_width(s))) &&
                     no_bias(at.b2, 0, width);
    if (!is_gated(s.activation)) {
        bound.gain = second * first;
        bound.token = second * inner + offset;
        return bound;
    }
    const T *up = w1 + wide * width, *up_bias = b1 ? b1 + wide : nullptr;
    const double of_up = spectral_norm_bound(ff, d, up, d) * U + length_of(up_bias, wide);
    const double product =
        std::min(inner * largest_entry(ff, d, up, up_bias, U), of_up * largest_entry(ff, d, w1, b1, U));
    bound.token = second * product + offset;
    bound.gain = U > 0 ? second * product / U : 0;
    return bound;
}
template BranchBound branch_bound(const Transformer<float>&, std::size_t, double);
template BranchBound branch_bound(const Transformer<double>&, std::size_t, double);

}  // namespace normscope
