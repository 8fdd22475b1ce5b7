// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/number_text.h"
#include "core/preflight/preflight.h"
#include "core/stack/scheme.h"

#include <cmath>
#include <span>
#include <string>

// Helpers of the sections' rows.

namespace normscope::preflight_rows {

using Theory = PreflightRow::Theory;

inline std::string text(double value) {
    return number_text(value, 3);
}

/// The values of an array of a probe's sample at step 0; empty where there is none.
inline std::span<const double> values(const RunData& run, const std::string& probe,
                                      const std::string& array) {
    const ProbeResult* sample = run.sample_of(probe, 0);
    const NamedArray* found = sample ? sample->find(array) : nullptr;
    return found ? std::span<const double>(found->data) : std::span<const double>();
}
inline double last(std::span<const double> values) {
    return values.empty() ? PreflightRow::kNone : values.back();
}
/// The first text of a label; empty where there is none.
inline std::string label(const RunData& run, const std::string& probe, const std::string& name) {
    const ProbeResult* sample = run.sample_of(probe, 0);
    if (!sample) return {};
    const auto found = sample->labels.find(name);
    return found == sample->labels.end() || found->second.empty() ? "" : found->second.front();
}

/// "layer 3 attn" of sub-layer k, from 0.
inline std::string sublayer_text(std::size_t k) {
    return "layer " + std::to_string(k / 2 + 1) + (k % 2 == 0 ? " attn" : " ffn");
}

/// What keeps a bound of the growth, NaN at the last hidden state, from reaching it.
std::string why_no_growth_bound(const StackSpec& stack);

}  // namespace normscope::preflight_rows
