// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/jacobian_map.h"

#include "core/model/scratch_slots.h"

#include <algorithm>
#include <vector>

namespace normscope {

namespace {

constexpr int kTokensInPiece = 64;

/// out = pass(in), piece by piece; `pass` works in place on [directions, n, d].
template <class T, class Pass>
void in_pieces(Device& device, int count, int length, std::size_t size, const double* in, double* out,
               ThreadPool& pool, const Pass& pass) {
    const int piece = std::max(1, kTokensInPiece / length);
    pool.run((count + piece - 1) / piece, [&](int i) {
        const int first = i * piece, directions = std::min(piece, count - first);
        const std::size_t begin = static_cast<std::size_t>(first) * size,
                          all = static_cast<std::size_t>(directions) * size;
        T* const vectors = device.scratch_of<T>(kJacobianRows, all);
        HostEdit<T> given(device, vectors, all);
        std::transform(in + begin, in + begin + all, given.data(),
                       [](double x) { return static_cast<T>(x); });
        given.commit();
        pass(directions, vectors);
        const HostView<T> images(device, vectors, all);
        std::transform(images.begin(), images.end(), out + begin, [](T x) { return static_cast<double>(x); });
    });
}

}  // namespace

template <class T>
LinearMap jacobian_map(const Transformer<T>& model, const Tape<T>& tape, int sequence, int begin, int end,
                       Jacobian kind, ThreadPool& pool) {
    const int n = tape.length;
    const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(model.spec().d_model);
    const auto product = [&device = model.device(), &pool, n, size](const auto& pass) {
        return [=, &device, &pool](int count, const double* in, double* out) {
            in_pieces<T>(device, count, n, size, in, out, pool, pass);
        };
    };
    return {static_cast<int>(size),
            product([&model, &tape, sequence, begin, end, kind](int directions, T* vectors) {
                model.tangent(tape, sequence, begin, end, 0, directions, kind, vectors);
            }),
            product([&model, &tape, sequence, begin, end, kind](int directions, T* vectors) {
                model.pull_back(tape, sequence, begin, end, directions, kind, vectors);
            }),
            product_precision<T>(end - begin)};
}
template LinearMap jacobian_map(const Transformer<float>&, const Tape<float>&, int, int, int, Jacobian,
                                ThreadPool&);
template LinearMap jacobian_map(const Transformer<double>&, const Tape<double>&, int, int, int, Jacobian,
                                ThreadPool&);

}  // namespace normscope
