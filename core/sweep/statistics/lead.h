// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace normscope {

/// Whether one series runs ahead of another.
struct LeadLag {
    /// Samples by which x leads at the largest correlation, −largest … largest lag; below 0: y leads.
    std::ptrdiff_t lag = 0;
    double correlation = 0;  ///< there
    double p = 1;            ///< of a correlation as large at any of the lags, by chance

    /// x leads: the largest correlation is at a positive lag, and chance has one as large in 5 % at most.
    bool leads() const { return lag > 0 && p <= 0.05; }
};

/// The lag scan of [B] Exp-2 with a null that holds its level: both series without their line and their own
/// memory of one sample (residuals of a first-order autoregression: Box, Jenkins and Reinsel, Time Series
/// Analysis, ch. 12), correlated at lags −max_lag … max_lag as in the paper. p from the same scan against y
/// shifted in a circle, and against y reversed in time and shifted, by 2·max_lag + 1 samples more each time:
/// no two scans share an alignment. The level is that of lags of both signs, so that independent series have
/// a lead half as often.
///
/// At least 19 scans by chance, thus leads_need(max_lag) samples, so that p can be 0.05: NaN with less, with
/// a value that is not finite, or of a constant series. Reason for the correction: the paper's scan takes the
/// largest of 121 correlations of two series with trend and memory.
LeadLag lead_lag(const std::vector<double>& x, const std::vector<double>& y, std::size_t max_lag);

/// The whole scan, for a figure.
struct LeadScan {
    /// At lags −max_lag … max_lag, of x with the y that many samples later; empty where lead_lag has no p.
    std::vector<double> correlation;
    /// What the largest of all lags exceeds in one of 20 scans by chance.
    double level = std::numeric_limits<double>::quiet_NaN();
    LeadLag found;
};
LeadScan lead_scan(const std::vector<double>& x, const std::vector<double>& y, std::size_t max_lag);

constexpr std::size_t leads_need(std::size_t max_lag) {
    return 10 * (2 * max_lag + 1) + 1;
}

/// How well a score forecasts spikes of a series.
struct SpikeForecast {
    double precision = 0;  ///< share of the K highest scores that a spike follows
    double base_rate = 0;  ///< share of all samples that a spike follows: what a score without sense gets
    double lift = 0;       ///< precision ÷ base rate
};

/// Precision@K of [B] Exp-2 as its code has it, with its base rate. A spike follows sample i where
/// max(y_i … y_{i+H−1}) > max(y_i, mean + 1.5 s of the 20 values before i), H = 40; the score is x minus the
/// mean of the 20 values before, 0 before there are so many; K = max(10, n ÷ 10). NaN below 60 samples or
/// with a value that is not finite; the lift where nothing spikes.
SpikeForecast spike_forecast(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace normscope
