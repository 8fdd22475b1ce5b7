// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace normscope {

double learning_rate(const ScheduleSpec& s, double peak, std::int64_t step, std::int64_t steps) {
    if (step < s.warmup)
        return s.warmup_from_zero ? peak * static_cast<double>(step) / s.warmup
                                  : peak * static_cast<double>(step + 1) / (s.warmup + 1.0);
    if (s.lr == LearningRateSchedule::Constant) return peak;
    // The last step (steps − 1) gets exactly min_ratio·peak; later ones, after a run was prolonged, stay
    // there.
    const double span = static_cast<double>(std::max<std::int64_t>(1, steps - 1 - s.warmup));
    const double progress = std::clamp(static_cast<double>(step - s.warmup) / span, 0.0, 1.0);
    const double share = s.lr == LearningRateSchedule::Cosine
                             ? 0.5 * (1 + std::cos(std::numbers::pi * progress))
                             : 1 - progress;
    return peak * (s.min_ratio + (1 - s.min_ratio) * share);
}

double temperature(const ScheduleSpec& s, double target, std::int64_t step) {
    if (step >= s.temperature_warmup) return target;
    const double progress = static_cast<double>(step) / s.temperature_warmup;
    return s.temperature_from + (target - s.temperature_from) * progress;
}

}  // namespace normscope
