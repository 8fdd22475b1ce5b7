// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/token_spectrum.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/model/scratch_slots.h"
#include "core/probe/spectra/jacobian_map.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {
constexpr int kWidest = 128;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kDirections = 8;  // at a time
}  // namespace

bool token_by_token(const StackSpec& spec, int sublayer, int length) {
    const auto d = static_cast<std::size_t>(spec.d_model);
    return sublayer % 2 == 1 && spec.d_model <= kWidest &&
           static_cast<std::size_t>(length) * d * d * sizeof(double) <= kMaxBytes;
}

template <class T>
Spectrum token_spectrum(const Transformer<T>& model, const Tape<T>& tape, int sequence, int sublayer,
                        int count, ThreadPool& pool, const std::function<void()>& check) {
    const int n = tape.length, width = model.spec().d_model;
    const auto d = static_cast<std::size_t>(width), tokens = static_cast<std::size_t>(n), size = tokens * d;
    // blocks[t]: row i is the image of direction i at token t, the transposed block.
    std::vector<double> blocks(tokens * d * d), values(size);
    pool.run((width + kDirections - 1) / kDirections, [&](int piece) {
        if (check) check();
        const int first = piece * kDirections, some = std::min(kDirections, width - first);
        const std::size_t all = static_cast<std::size_t>(some) * size;
        T* const directions = model.device().template scratch_of<T>(kJacobianRows, all);
        HostEdit<T> given(model.device(), directions, all);
        std::fill_n(given.data(), all, T(0));
        for (std::size_t i = 0; i < static_cast<std::size_t>(some); ++i)
            for (std::size_t t = 0; t < tokens; ++t)
                given.data()[(i * tokens + t) * d + static_cast<std::size_t>(first) + i] = 1;
        given.commit();
        model.tangent(tape, sequence, sublayer, sublayer + 1, 0, some, Jacobian::Backprop, directions);
        const HostView<T> images = tape.view(directions, all);
        for (std::size_t i = 0; i < static_cast<std::size_t>(some); ++i)
            for (std::size_t t = 0; t < tokens; ++t)
                std::copy_n(images.begin() + (i * tokens + t) * d, d,
                            blocks.begin() + static_cast<std::ptrdiff_t>(
                                                 (t * d + static_cast<std::size_t>(first) + i) * d));
    });
    pool.run(n, [&](int t) {
        if (check) check();
        const auto token = static_cast<std::size_t>(t);
        singular_values(width, width, blocks.data() + token * d * d, values.data() + token * d);
    });

    const auto wanted = static_cast<std::size_t>(std::clamp(count, 1, n * width));
    const bool finite = std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
    if (finite)
        std::sort(values.rbegin(), values.rend());
    else
        std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
    Spectrum s;
    s.top.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(wanted));
    s.bottom.assign(values.rbegin(), values.rbegin() + static_cast<std::ptrdiff_t>(wanted));
    s.top_error.assign(wanted, dense_error(width, product_precision<T>(1)) * values.front());
    s.bottom_error = s.top_error;
    s.converged = s.complete = finite;
    s.dimension = n * width;
    return s;
}
template Spectrum token_spectrum(const Transformer<float>&, const Tape<float>&, int, int, int, ThreadPool&,
                                 const std::function<void()>&);
template Spectrum token_spectrum(const Transformer<double>&, const Tape<double>&, int, int, int, ThreadPool&,
                                 const std::function<void()>&);

}  // namespace normscope
