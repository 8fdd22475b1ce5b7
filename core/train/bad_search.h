// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/step_ops.h"

#include <cmath>
#include <cstdint>
#include <optional>

namespace normscope {

/// Searches arrays on a device for values that are not finite.
template <class T>
class BadSearch {
  public:
    struct Found {
        std::int64_t at;  ///< index in the array
        double value;
    };

    explicit BadSearch(Device& device) : device_(device), place_(device, 1) {}

    /// The first one of `count` values in the device's memory.
    std::optional<Found> first(const T* values, std::size_t count) {
        device_.step_ops<T>().find_first_non_finite(count, values, place_.data());
        const std::int64_t place = HostView<std::int64_t>(place_)[0];
        if (place < 0) return std::nullopt;
        return Found{place, static_cast<double>(HostView<T>(device_, values + place, 1)[0])};
    }

  private:
    Device& device_;
    Buffer<std::int64_t> place_;
};

/// "nan", "inf", "-inf".
inline const char* result_word(double value) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace normscope
