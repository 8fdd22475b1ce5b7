// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/backend/device_side.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

// An operation of the emulated CUDA device against the CPU in float64. Accesses are checked, and several
// schedules of the grid must give the same bits.

namespace normscope::device_side {

inline constexpr std::uint64_t kSeeds = 4;

/// The largest error of all outputs relative to each output's largest magnitude, in units of T's machine
/// epsilon.
template <class T>
double error_of(const Outputs& found, const Outputs& reference) {
    double worst = 0;
    for (std::size_t k = 0; k < reference.size(); ++k) {
        const auto& [name, expected] = reference[k];
        const std::vector<double>& actual = found[k].second;
        double scale = 0, most = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
            most = std::max(most, std::abs(actual[i] - expected[i]));
            if (!std::isfinite(most)) return std::numeric_limits<double>::infinity();
        }
        for (double v : expected)
            if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
        if (most > 0) worst = std::max(worst, most / (scale * std::numeric_limits<T>::epsilon()));
    }
    return worst;
}

inline bool same_bits(const Outputs& a, const Outputs& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (std::memcmp(a[k].second.data(), b[k].second.data(), a[k].second.size() * sizeof(double)) != 0)
            return false;
    return a.size() == b.size();
}

template <class T, class Call>
QString failure(const char* name, double multiple, Call&& call) {
    Side<double> cpu(cpu_device());
    const Outputs reference = call(cpu);
    Outputs first;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, seed, true});
        Side<T> side(device);
        const Outputs found = call(side);
        if (seed == 1) {
            first = found;
            const double error = error_of<T>(found, reference);
            if (qEnvironmentVariableIsSet("NORMSCOPE_PRINT_ERRORS"))
                qInfo("%s, %d bytes: %.2g epsilon", name, static_cast<int>(sizeof(T)), error);
            if (!(error <= multiple))
                return QString("%1: %2 times epsilon, allowed %3").arg(name).arg(error).arg(multiple);
        }
        if (!same_bits(found, first)) return QString("%1: other bits with seed %2").arg(name).arg(seed);
    }
    return {};
}

/// call(side) in both scalars: errors at most `multiple` times machine epsilon.
template <class Call>
void verify(const char* name, double multiple, Call&& call) {
    QCOMPARE(failure<float>(name, multiple, call), QString());
    QCOMPARE(failure<double>(name, multiple, call), QString());
}

inline std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

inline constexpr int R = 77, d = 37;  // R: more than one chunk of rows
inline const std::size_t n = area(R, d);

}  // namespace normscope::device_side
