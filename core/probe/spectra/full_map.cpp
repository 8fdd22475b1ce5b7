// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/spectra/full_map.h"

#include "core/backend/cpu/linear_algebra/block_lanczos.h"
#include "core/probe/spectra/jacobian_map.h"
#include "core/probe/spectra/token_spectrum.h"

#include <cmath>

namespace normscope {

namespace {
constexpr int kBlock = 2;            // one direction can miss a value whose vector is orthogonal to it
constexpr double kTolerance = 0.02;  // of the residual; the error of the value is about its square
}  // namespace

MapEnds full_map_ends(const Transformer<double>& model, const Tape<double>& tape, int begin, int end,
                      bool dense, bool exact_nulls, double last_block_smallest, ThreadPool& pool,
                      const std::function<void()>& check) {
    Spectrum s;
    const LinearMap map = jacobian_map(model, tape, 0, begin, end, Jacobian::Backprop, pool);
    if (end == begin + 1 && tape.length >= kMinTokenBlocks &&
        token_by_token(model.spec(), begin, tape.length))
        s = token_spectrum(model, tape, 0, begin, 1, pool, check);
    else if (dense)
        s = dense_spectrum(map, {.count = 1, .check = check});
    else
        s = block_lanczos(map,
                          {.count = kBlock,
                           .tolerance = kTolerance,
                           .sharpen = false,
                           .max_dimension = kFullMapProducts,
                           .check = check},
                          pool);
    MapEnds ends{s.top[0], s.top_error[0], s.bottom[0], s.bottom_error[0]};
    if (!std::isfinite(ends.top)) return ends;
    if (exact_nulls) {
        ends.bottom = ends.bottom_error = 0;
    } else if (!s.complete && last_block_smallest < ends.bottom) {
        ends.bottom = last_block_smallest;
        ends.bottom_error = last_block_smallest + dense_error(model.spec().d_model, map.precision) * ends.top;
    }
    return ends;
}

}  // namespace normscope
