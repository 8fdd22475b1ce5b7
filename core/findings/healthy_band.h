// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// A value outside a band.
struct OutsideBand {
    std::int64_t step = 0;
    std::string series;  ///< "probes/growth/rms", "steps/loss"
    std::string place;   ///< "layer 3, attention"; empty where the series has one value a step
    double value = 0;
    double low = 0, middle = 0, high = 0;  ///< 10 %, median and 90 % of the healthy runs there
    double score = 0;  ///< distance from the median over high − low; infinite: not finite
};

/// What a group of runs that learned have in common, by step: of every recorded number the median over the
/// runs and their spread, in logarithms where these and the run's own are positive. A run is outside from the
/// first step at which one of its numbers is further from the median, in spreads (90 % less 10 %), than is
/// usual for a healthy run.
///
/// What is usual is measured: each healthy run has a score, the largest such distance of all its numbers from
/// the band of the *other* runs. The limit is the k-th largest of the n scores.
/// Were a further healthy run exchangeable with these, it would be above the limit with a probability of
/// about k/(n + 1) (conformal prediction: Vovk, Gammerman and Shafer 2005, §2.2; with the leave-one-out
/// scores of cross-conformal prediction, which is exact only up to the difference between n and n − 1 runs).
/// All steps and places count as one test.
///
/// The loss has a band of its own, so that the first to leave its band is known. Compared are the gradient's
/// norm and ratio, and the arrays that are means over the probe batch (those with a standard error), except
/// those of θ, of at most kMaxArray numbers; not numbers that were not recorded by all runs at a step, that
/// are not defined (NaN) in one of them or equal in two. Pure; any thread.
class HealthyBand {
  public:
    static constexpr std::size_t kMinRuns = 8;  ///< runs
    static constexpr std::size_t kMaxArray = 1024;

    /// `rate`: the share of healthy runs that may be called outside, in (0, 1); it becomes k/(n + 1), k at
    /// least 1. InputError for fewer runs than kMinRuns, and where they have no step in common.
    HealthyBand(const std::vector<RunData>& healthy, double rate);

    std::size_t runs() const { return runs_; }
    std::size_t numbers() const { return probes_.numbers; }  ///< compared, over all steps
    std::size_t steps() const { return probes_.steps; }
    /// k/(n + 1).
    double false_alarm_rate() const { return rate_; }

    /// The first number outside, of all but the loss; the furthest of that step. nullopt where there is none
    /// up to the run's end.
    std::optional<OutsideBand> outside(const RunData& run) const { return first_outside(probes_, run); }
    /// The same of the loss.
    std::optional<OutsideBand> loss_outside(const RunData& run) const { return first_outside(loss_, run); }
    /// Of one series at a step, entry by entry; NaN where an entry is not compared.
    struct Range {
        std::vector<double> low, high;  ///< 10 % and 90 % of the healthy runs
    };
    /// `series` as in OutsideBand; nullopt where the healthy runs have none of it at that step.
    std::optional<Range> range(std::int64_t step, const std::string& series) const;
    /// The steps that all healthy runs have.
    std::vector<std::int64_t> common_steps() const;
    /// Steps of a run that were compared.
    std::size_t compared(const RunData& run) const;

  private:
    struct Quantiles {
        double low = 0, middle = 0, high = 0;
    };
    /// One number of one step.
    struct Number {
        bool usable = false, positive = false;  ///< finite, positive in all healthy runs
        Quantiles plain, logarithms;            ///< logarithms: where positive
        double score(double value) const;
    };
    /// Of the values of one number in all healthy runs; raises each run's score against the others.
    static Number number_of(const std::vector<double>& values, std::vector<double>& scores);
    static Quantiles quantiles(const std::vector<double>& ascending, std::size_t without);
    using AtStep = std::vector<Number>;                         ///< the entries of a series
    using Series = std::map<std::string, AtStep>;               ///< by its name
    using Values = std::map<std::string, std::vector<double>>;  ///< of one run at one step
    struct Band {
        std::map<std::int64_t, Series> at;
        double limit = std::numeric_limits<double>::infinity();
        std::size_t numbers = 0, steps = 0;
    };

    static Values values_of(const RunData& run, std::int64_t step, std::size_t row, bool loss);
    static Band band_of(const std::vector<RunData>& healthy, bool loss, std::size_t k);
    static std::optional<OutsideBand> first_outside(const Band& band, const RunData& run);

    std::size_t runs_;
    double rate_ = 0;
    Band probes_, loss_;
};

/// "layer 3, attention", "layer 2, head 4", "blocks.1.attn.norm_in": entry `at` of an array, by its axes and
/// the sample's labels.
std::string place_of_entry(const ProbeResult& sample, const NamedArray& array, std::size_t at);

}  // namespace normscope
