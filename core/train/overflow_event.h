// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// The kind of a run's event for a step whose update was skipped because its scaled gradient overflowed FP16.
inline constexpr const char* kOverflowEvent = "overflow";

/// The event's text. `place` is the tensor whose gradient overflowed first in the backward pass, "layer 3
/// ffn.w2"; empty where it is not known.
std::string overflow_text(const std::string& place, double loss_scale);

/// The place in such a text; empty where it names none, as in recordings of earlier versions.
std::string overflow_place(const std::string& text);

}  // namespace normscope
