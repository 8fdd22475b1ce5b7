// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/overflow_event.h"

#include "core/base/number_text.h"

#include <string_view>

namespace normscope {

namespace {

constexpr std::string_view kBefore = "gradient of ", kAfter = " overflows FP16";

}  // namespace

std::string overflow_text(const std::string& place, double loss_scale) {
    const std::string what = place.empty() ? "gradient" : std::string(kBefore) + place;
    return what + std::string(kAfter) + " at loss scale " + plain_number(loss_scale) + ": update left out";
}

std::string overflow_place(const std::string& text) {
    const std::size_t end = text.find(kAfter);
    if (!text.starts_with(kBefore) || end == std::string::npos) return {};
    return text.substr(kBefore.size(), end - kBefore.size());
}

}  // namespace normscope
