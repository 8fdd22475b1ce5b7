// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/number_text.h"
#include "core/findings/findings.h"

#include <cstdint>
#include <string>

namespace normscope {

/// What a finding is made of; without text where there is nothing to state.
struct Sentence {
    std::string text{};
    Evidence evidence{};
};

inline std::string step_text(std::int64_t step) {
    return "step " + std::to_string(step);
}

/// "37 %" of 0.37.
inline std::string percent(double share) {
    return number_text(100 * share, share > 0.99 ? 3 : 2) + " %";
}

/// An array that has values; null otherwise.
inline const NamedArray* full(const ProbeResult& sample, const char* name) {
    const NamedArray* array = sample.find(name);
    return array && !array->data.empty() ? array : nullptr;
}

}  // namespace normscope
