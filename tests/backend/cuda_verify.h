// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/backend/operations.h"

#include <QtTest>

// An operation of the emulated CUDA device against the CPU in float64. Accesses are checked, and several
// schedules of the grid must give the same bits.

namespace normscope::device_side {

inline constexpr std::uint64_t kSeeds = 4;

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
inline constexpr auto verify = [](const char* name, double multiple, auto&& call) {
    QCOMPARE(failure<float>(name, multiple, call), QString());
    QCOMPARE(failure<double>(name, multiple, call), QString());
};

}  // namespace normscope::device_side
