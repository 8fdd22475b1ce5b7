// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "tests/backend/operations.h"

#include <QtTest>

// Attention on the emulated CUDA device against outputs that are known. Accesses are checked, and several
// schedules of the grid must give the same bits.

namespace normscope::device_side {

inline constexpr std::uint64_t kSeeds = 4;

/// How one kind of arithmetic is verified. The error is in units of `unit`, and attention over more than
/// stored_tokens is tiled.
struct Verification {
    Rounding rounding = Rounding::None;
    PrecisionPolicy policy = PrecisionPolicy::Pure;
    double unit = 0;  ///< 0: T's machine epsilon
    int stored_tokens = EmulatedCudaDevice::kStoredTokens;
    std::uint64_t seeds = kSeeds;
};

/// call(side) on the emulated device against `reference`: its fault, or an empty text. `all`: what it wrote.
template <class T, class Call>
QString failure_against(const Outputs& reference, const char* name, double multiple, Call&& call,
                        const Verification& how = {}, Outputs* all = nullptr) {
    const double unit = how.unit > 0 ? how.unit / double(std::numeric_limits<T>::epsilon()) : 1;
    Outputs first;
    for (std::uint64_t seed = 1; seed <= how.seeds; ++seed) {
        EmulatedCudaDevice device({grid::Schedule::Order::Drawn, seed, true}, how.stored_tokens);
        Side<T> side(device, how.rounding, how.policy);
        const Outputs found = call(side);
        if (seed == 1) {
            first = found;
            if (all) *all = found;
            const double error = error_of<T>(found, reference) / unit;
            if (qEnvironmentVariableIsSet("NORMSCOPE_PRINT_ERRORS"))
                qInfo("%s, %d bytes: %.2g units", name, static_cast<int>(sizeof(T)), error);
            if (!(error <= multiple))
                return QString("%1: %2 units, allowed %3").arg(name).arg(error).arg(multiple);
        }
        if (!same_bits(found, first)) return QString("%1: other bits with seed %2").arg(name).arg(seed);
    }
    return {};
}

}  // namespace normscope::device_side
