// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/cadence.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr double kEarlyFill = 0.9;  ///< of a budget that a plan takes
/// Counts are not times: on an AMD processor with AVX-512, plans of nine tenths took 5.2 to 7.6 % of the
/// time.
constexpr double kLateFill = 0.7;
constexpr double kDenseCost = 2, kCheapCost = 0.3;  ///< training steps a sample
constexpr int kSparsest = 5;
/// The share of the cheap probes in the late budget if there are expensive ones.
constexpr double kCheapShare = 0.6;

/// The sampling level of a probe in the dense steps: 0 every step, 1 kGeometricSteps, then sparser.
std::vector<std::int64_t> early_steps(int level) {
    switch (level) {
        case 1:
            return {std::begin(kGeometricSteps), std::end(kGeometricSteps)};
        case 2:
            return {0, 1, 2, 4, 8, 16, 32};
        case 3:
            return {0, 2, 8, 32};
        case 4:
            return {0, 8};
        default:
            return {0};
    }
}

/// The smallest of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5, 8 times a power of ten, in whole numbers, that is
/// not below x.
std::int64_t on_ladder(double x) {
    if (x <= 10) return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(x)));
    double power = 10;
    while (10 * power < x) power *= 10;
    for (const double rung : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 10.0})
        if (rung * power >= x) return static_cast<std::int64_t>(rung * power);
    return static_cast<std::int64_t>(10 * power);
}

/// Multiples of k in kDenseSteps … last − 1.
std::int64_t late_samples(std::int64_t k, std::int64_t last) {
    return (last - 1) / k - (kDenseSteps - 1) / k;
}

/// The smallest stride of the ladder, a multiple of `unit`, with no more than `most` samples; 0: none fits.
std::int64_t late_stride(double most, std::int64_t unit, std::int64_t last) {
    if (most < 1) return 0;
    const double about = static_cast<double>(last - kDenseSteps) / (most + 1) / static_cast<double>(unit);
    for (std::int64_t m = on_ladder(std::max(1.0, about)); m * unit < last;
         m = on_ladder(static_cast<double>(m) + 0.5))
        if (static_cast<double>(late_samples(m * unit, last)) <= most) return m * unit;
    return 0;
}

/// Builds a plan of the automatic probes that fit a common budget.
class Planner {
  public:
    Planner(const ProbeShape& shape, std::span<const PlannedProbe> probes, std::int64_t steps)
        : shape_(shape),
          probes_(probes),
          steps_(steps),
          step_(step_operations(shape)),
          level_(probes.size(), 0),
          stride_(probes.size(), 0) {
        for (std::size_t i = 0; i < probes.size(); ++i) {
            if (probes[i].every > 0) continue;
            if (probes[i].operations > static_cast<double>(kDenseSteps) * step_) {
                level_[i] = kSparsest;
                continue;
            }
            level_[i] = probes[i].operations <= kDenseCost * step_ ? 0 : 1;
            (probes[i].operations <= kCheapCost * step_ ? cheap_ : expensive_).push_back(i);
        }
        std::stable_sort(expensive_.begin(), expensive_.end(), [&](std::size_t a, std::size_t b) {
            return probes[a].operations > probes[b].operations;
        });
    }

    std::vector<StepList> plan() {
        thin_early();
        if (steps_ > kDenseSteps) stride_late();
        return lists();
    }

  private:
    std::int64_t dense() const { return std::min(steps_, kDenseSteps); }

    double common_operations(std::int64_t from, std::int64_t to) const {
        std::vector<PlannedProbe> probes;
        std::vector<StepList> all = lists(), taken;
        for (const auto* part : {&cheap_, &expensive_})
            for (std::size_t i : *part) {
                probes.push_back(probes_[i]);
                taken.push_back(all[i]);
            }
        return planned_operations(shape_, probes, taken, from, to);
    }

    void thin_early() {
        const bool slow = long_steps(shape_);
        // Where steps are short, a larger budget covers the beginning of runs that end early.
        const double budget =
            kEarlyFill * step_ *
            (slow ? static_cast<double>(dense()) : kEarlyBudget * static_cast<double>(kDenseSteps));
        const auto over = [&] { return common_operations(0, dense() - 1) > budget; };
        const auto thin_expensive = [&](int level) {
            for (std::size_t i : expensive_)
                if (level_[i] < level && over()) level_[i] = level;
        };
        // The cheap ones share their passes: thinning one alone saves nothing.
        const auto thin_cheap = [&](int level) {
            if (over())
                for (std::size_t i : cheap_) level_[i] = level;
        };
        thin_expensive(1);
        thin_cheap(1);
        for (int level = 2; level <= kSparsest; ++level) thin_expensive(level);
        for (int level = 2; level <= kSparsest; ++level) thin_cheap(level);
    }

    void stride_late() {
        const std::int64_t last = steps_ - 1;
        const double late = static_cast<double>(steps_ - kDenseSteps) * step_;
        double left = kLateFill * kLateBudget * late - common_operations(last, last);
        double cheap = 0;
        ProbeNeeds needs = ProbeNeeds::Nothing;
        for (std::size_t i : cheap_) {
            cheap += probes_[i].operations;
            if (shared_operations(shape_, probes_[i].needs) > shared_operations(shape_, needs))
                needs = probes_[i].needs;
        }
        cheap += shared_operations(shape_, needs);
        std::int64_t unit = 1;
        if (!cheap_.empty()) {
            // One intermediate sample of the cheap ones takes precedence over the others.
            const double share =
                expensive_.empty() ? left : std::max(kCheapShare * left, std::min(left, 1.01 * cheap));
            unit = late_stride(share / cheap, 1, last);
            if (unit == 0) return;
            for (std::size_t i : cheap_) stride_[i] = unit;
            left -= cheap * static_cast<double>(late_samples(unit, last));
        }
        // From the cheapest on, so that an unused share goes to the next.
        for (std::size_t n = expensive_.size(); n-- > 0;) {
            const PlannedProbe& probe = probes_[expensive_[n]];
            const double own =
                probe.operations + (cheap_.empty() ? shared_operations(shape_, probe.needs) : 0);
            const std::int64_t stride = late_stride(left / static_cast<double>(n + 1) / own, unit, last);
            stride_[expensive_[n]] = stride;
            if (stride > 0) left -= own * static_cast<double>(late_samples(stride, last));
        }
    }

    std::vector<StepList> lists() const {
        std::vector<StepList> lists;
        for (std::size_t i = 0; i < probes_.size(); ++i) lists.push_back(list(i));
        return lists;
    }

    StepList list(std::size_t i) const {
        StepList list;
        const std::int64_t last = std::max<std::int64_t>(0, steps_ - 1);
        if (probes_[i].every > 0) {
            list.add({0, last - 1, probes_[i].every});
        } else {
            if (level_[i] == 0)
                list.add({0, std::min(last, kDenseSteps) - 1, 1});
            else
                for (std::int64_t step : early_steps(level_[i]))
                    if (step < last) list.add({step, step, 1});
            if (stride_[i] > 0) {
                const std::int64_t k = stride_[i];
                list.add({(kDenseSteps + k - 1) / k * k, last - 1, k});
            }
        }
        list.add({last, last, 1});
        return list;
    }

    const ProbeShape& shape_;
    std::span<const PlannedProbe> probes_;
    std::int64_t steps_;
    double step_;
    std::vector<int> level_;
    std::vector<std::int64_t> stride_;
    std::vector<std::size_t> cheap_, expensive_;  ///< the second by descending cost
};

}  // namespace

std::vector<StepList> plan_cadence(const ProbeShape& shape, std::span<const PlannedProbe> probes,
                                   std::int64_t steps) {
    return Planner(shape, probes, steps).plan();
}

double planned_operations(const ProbeShape& shape, std::span<const PlannedProbe> probes,
                          std::span<const StepList> lists, std::int64_t from, std::int64_t to) {
    double sum = 0;
    for (std::size_t i = 0; i < probes.size(); ++i)
        sum += probes[i].operations * static_cast<double>(lists[i].count(from, to));
    // Steps with a pass: those of the longest list with these needs and of what it does not contain, step by
    // step where the interval is short; over a long one late strides are multiples of the smallest, so the
    // longest list has all.
    const auto passes = [&](const auto& wanted) {
        std::int64_t most = 0;
        for (std::size_t i = 0; i < probes.size(); ++i)
            if (wanted(probes[i].needs)) most = std::max(most, lists[i].count(from, to));
        if (to - from > 4 * kDenseSteps) return most;
        std::int64_t steps = 0;
        for (std::int64_t step = from; step <= to; ++step)
            for (std::size_t i = 0; i < probes.size(); ++i)
                if (wanted(probes[i].needs) && lists[i].contains(step)) {
                    ++steps;
                    break;
                }
        return steps;
    };
    const auto forward = passes(needs_forward);
    const auto backward = passes(needs_backward);
    return sum + forward_pass_operations(shape) * static_cast<double>(forward) +
           backward_pass_operations(shape) * static_cast<double>(backward);
}

}  // namespace normscope
