// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/statistics/lead.h"

#include "core/base/assert.h"
#include "core/base/nan.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace normscope {

namespace {

constexpr std::size_t kHorizon = 40, kWindow = 20, kMinSamples = 60;
constexpr double kSpike = 1.5;  // standard deviations

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Without its least-squares line and its correlation with the sample before; one sample shorter.
std::vector<double> whitened(const std::vector<double>& values) {
    std::vector<double> time(values.size());
    std::iota(time.begin(), time.end(), 0.0);
    const double slope = least_squares_slope(time, values), centre = mean(values), middle = mean(time);
    std::vector<double> flat;
    for (std::size_t i = 0; i < values.size(); ++i)
        flat.push_back(values[i] - centre - slope * (time[i] - middle));
    double product = 0, square = 0;
    for (std::size_t i = 1; i < flat.size(); ++i) {
        product += flat[i] * flat[i - 1];
        square += flat[i - 1] * flat[i - 1];
    }
    const double memory = square > 0 ? product / square : 0;
    std::vector<double> rest;
    for (std::size_t i = 1; i < flat.size(); ++i) rest.push_back(flat[i] - memory * flat[i - 1]);
    return rest;
}

/// Pearson's correlation of x_i with y_{i + lag}.
double lagged(const std::vector<double>& x, const std::vector<double>& y, std::size_t lag) {
    const std::size_t n = x.size() - lag;
    const auto count = static_cast<double>(n);
    double x_sum = 0, y_sum = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = x[i], b = y[i + lag];
        x_sum += a;
        y_sum += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return (xy - x_sum * y_sum / count) /
           std::sqrt((xx - x_sum * x_sum / count) * (yy - y_sum * y_sum / count));
}

/// The correlations at lags −max_lag … max_lag.
std::vector<double> scan(const std::vector<double>& x, const std::vector<double>& y, std::size_t max_lag) {
    std::vector<double> correlation;
    for (std::size_t lag = max_lag; lag > 0; --lag) correlation.push_back(lagged(y, x, lag));
    for (std::size_t lag = 0; lag <= max_lag; ++lag) correlation.push_back(lagged(x, y, lag));
    return correlation;
}

}  // namespace

LeadScan lead_scan(const std::vector<double>& x, const std::vector<double>& y, std::size_t max_lag) {
    NORMSCOPE_ASSERT(x.size() == y.size() && max_lag > 0, "pairs, and a lag");
    LeadScan result;
    result.found = {0, kNaN, kNaN};
    if (x.size() < leads_need(max_lag) || !all_finite(x) || !all_finite(y)) return result;
    const std::vector<double> a = whitened(x), b = whitened(y);
    std::vector<double> correlation = scan(a, b, max_lag);
    const auto largest = std::max_element(correlation.begin(), correlation.end());
    if (std::isnan(correlation.front())) return result;  // constant
    std::vector<double> by_chance;
    std::size_t as_large = 0;
    const auto compare_with = [&](std::vector<double> other, std::size_t shift) {
        std::rotate(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(shift), other.end());
        const std::vector<double> of_other = scan(a, other, max_lag);
        by_chance.push_back(*std::max_element(of_other.begin(), of_other.end()));
        as_large += by_chance.back() >= *largest;
    };
    const std::size_t alignments = 2 * max_lag + 1;
    const std::vector<double> reversed(b.rbegin(), b.rend());
    for (std::size_t shift = 0; shift + alignments <= b.size(); shift += alignments) {
        if (shift + 2 * alignments <= b.size()) compare_with(b, shift + alignments);
        compare_with(reversed, shift);
    }
    result.found.lag = largest - correlation.begin() - static_cast<std::ptrdiff_t>(max_lag);
    result.found.correlation = *largest;
    result.found.p = static_cast<double>(as_large + 1) / static_cast<double>(by_chance.size() + 1);
    std::sort(by_chance.begin(), by_chance.end());
    result.level = quantile(by_chance, 0.95);
    result.correlation = std::move(correlation);
    return result;
}

LeadLag lead_lag(const std::vector<double>& x, const std::vector<double>& y, std::size_t max_lag) {
    return lead_scan(x, y, max_lag).found;
}

SpikeForecast spike_forecast(const std::vector<double>& x, const std::vector<double>& y) {
    NORMSCOPE_ASSERT(x.size() == y.size(), "pairs");
    const std::size_t n = x.size();
    if (n < kMinSamples || !all_finite(x) || !all_finite(y)) return {kNaN, kNaN, kNaN};
    const auto window = [](const std::vector<double>& values, std::size_t i) {
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(i);
        return std::vector<double>(end - kWindow, end);
    };
    std::vector<double> score(n, 0.0);
    std::vector<bool> follows(n, false);
    for (std::size_t i = 0; i < n; ++i) {
        const auto first = y.begin() + static_cast<std::ptrdiff_t>(i);
        const double largest =
            *std::max_element(first, y.begin() + static_cast<std::ptrdiff_t>(std::min(n, i + kHorizon)));
        double threshold = y[i];
        if (i >= kWindow) {
            const std::vector<double> before = window(y, i);
            const double centre = mean(before);
            double squares = 0;
            for (const double v : before) squares += (v - centre) * (v - centre);
            threshold = std::max(threshold, centre + kSpike * std::sqrt(squares / kWindow));
            score[i] = x[i] - mean(window(x, i));
        }
        follows[i] = largest > threshold;
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score[a] > score[b]; });
    const std::size_t k = std::max<std::size_t>(10, n / 10);
    const auto hits = std::count_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k),
                                    [&](std::size_t i) { return follows[i]; });
    SpikeForecast forecast;
    forecast.precision = static_cast<double>(hits) / static_cast<double>(k);
    forecast.base_rate =
        static_cast<double>(std::count(follows.begin(), follows.end(), true)) / static_cast<double>(n);
    forecast.lift = forecast.base_rate > 0 ? forecast.precision / forecast.base_rate : kNaN;
    return forecast;
}

}  // namespace normscope
