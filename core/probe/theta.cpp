// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/theta.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/theory/softmax_sensitivity.h"

namespace normscope {

template <class T>
ProbeResult probe_theta(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const StackSpec& s = input.model.spec();
    const auto D = static_cast<std::size_t>(s.depth), H = static_cast<std::size_t>(s.heads);
    const auto n = static_cast<std::size_t>(tape.length);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> largest(D * H, nan), mean(D * H, nan), below(D * H, nan), width(D * H, 0);

    input.pool.run(static_cast<int>(D * H), [&](int piece) {
        input.check_cancelled();
        const std::size_t layer = static_cast<std::size_t>(piece) / H, head = static_cast<std::size_t>(piece) % H;
        SensitivityOptions options = std::is_same_v<T, float> ? SensitivityOptions::single_precision() : SensitivityOptions{};
        // Probabilities that were each rounded to BF16 or FP16 sum to 1 only so far.
        if (input.model.rounding() != Rounding::None) options.sum_tolerance = 1e-2;
        SoftmaxSensitivity solver(options);
        double sum = 0, most = 0, widest = 0;
        std::size_t rows = 0, low = 0;
        for (int b = 0; b < tape.sequences; ++b) {
            const T* p = tape.sublayers[2 * layer].probabilities + (static_cast<std::size_t>(b) * H + head) * n * n;
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t length = s.causal ? i + 1 : n;
                if (length < 2) continue;
                const std::span<const T> row(p + i * n, length);
                // A diverged stack attends to nothing: the head stays NaN, the trainer names the first bad value.
                if (!std::all_of(row.begin(), row.end(), [](T v) { return std::isfinite(v); })) return;
                const Sensitivity theta = solver.solve(row);
                sum += theta.value;
                most = std::max(most, theta.value);
                widest = std::max(widest, theta.upper - theta.lower);
                low += theta.value < 0.99;
                ++rows;
            }
        }
        if (rows == 0) return;
        const auto at = static_cast<std::size_t>(piece);
        largest[at] = most;
        mean[at] = sum / static_cast<double>(rows);
        below[at] = static_cast<double>(low) / static_cast<double>(rows);
        width[at] = widest;
    });

    ProbeResult result;
    const std::vector<std::string> axes{"layer", "head"};
    result.arrays.push_back({"max", {D, H}, std::move(largest), axes, "1"});
    result.arrays.push_back({"mean", {D, H}, std::move(mean), axes, "1"});
    result.arrays.push_back({"below_099", {D, H}, std::move(below), axes, "1"});
    result.arrays.push_back({"width", {}, {*std::max_element(width.begin(), width.end())}, {}, "1"});
    return result;
}
template ProbeResult probe_theta<float>(ProbeInput<float>&);
template ProbeResult probe_theta<double>(ProbeInput<double>&);

}  // namespace normscope
