// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/train_spec.h"

#include <cstdint>

namespace normscope {

/// Learning rate of step s (from 0) of `steps`, for a peak rate: linear warm-up peak·(s+1)/(warmup+1) as in
/// nanoGPT, or from zero, peak·s/warmup, as in the training script of [G]; then cosine, linear or constant
/// down to min_ratio·peak at the last step, where it stays (the script's cosine is periodic and would rise
/// again).
double learning_rate(const ScheduleSpec& schedule, double peak, std::int64_t step, std::int64_t steps);

/// τ of step s: linear from temperature_from to the stack's τ over temperature_warmup steps ([E] §7), then τ.
double temperature(const ScheduleSpec& schedule, double target, std::int64_t step);

}  // namespace normscope
