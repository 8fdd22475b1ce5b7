// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/spike.h"

#include "core/base/error.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace normscope {

namespace {

double robust_deviation(std::vector<double> values, double centre) {
    for (double& v : values) v = std::abs(v - centre);
    return 1.4826 * upper_median(std::move(values));
}

void keep(std::vector<double>& window, double value) {
    if (window.size() == SpikeDetector::kWindow) window.erase(window.begin());
    window.push_back(value);
}

}  // namespace

std::optional<std::string> SpikeDetector::add(double loss, double grad_norm) {
    if (!std::isfinite(loss) || !std::isfinite(grad_norm)) return std::nullopt;
    std::optional<std::string> report;
    if (losses_.size() >= kMin) {
        const double median_loss = upper_median(losses_), median_norm = upper_median(norms_);
        const bool steep = grad_norm > kGradientFactor * median_norm;
        const bool high =
            loss - median_loss > std::max(kLossRise, kDeviations * robust_deviation(losses_, median_loss));
        char text[160];
        if (steep && !inside_)
            std::snprintf(text, sizeof text,
                          "gradient norm %.4g, %.3g times the median %.4g of the last %zu steps; loss %.4g",
                          grad_norm, grad_norm / median_norm, median_norm, norms_.size(), loss);
        else if (high && !inside_)
            std::snprintf(text, sizeof text,
                          "loss %.4g nat, %.3g above the median %.4g of the last %zu steps", loss,
                          loss - median_loss, median_loss, losses_.size());
        if ((steep || high) && !inside_) report = text;
        inside_ = steep || high;
    }
    keep(losses_, loss);
    keep(norms_, grad_norm);
    return report;
}

std::vector<double> SpikeDetector::state() const {
    std::vector<double> state{inside_ ? 1.0 : 0.0};
    state.insert(state.end(), losses_.begin(), losses_.end());
    state.insert(state.end(), norms_.begin(), norms_.end());
    return state;
}

void SpikeDetector::restore(const std::vector<double>& state) {
    if (state.size() % 2 == 0 || state.size() > 1 + 2 * kWindow ||
        !std::all_of(state.begin(), state.end(), [](double value) { return std::isfinite(value); }))
        throw InputError(
            "checkpoint: spikes", "is not the state of a detector of this version",
            "finite numbers, one and a pair for each of at most " + std::to_string(kWindow) + " steps");
    inside_ = state[0] != 0;
    const auto half = state.begin() + 1 + static_cast<std::ptrdiff_t>((state.size() - 1) / 2);
    losses_.assign(state.begin() + 1, half);
    norms_.assign(half, state.end());
}

}  // namespace normscope
