// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace normscope {

Verdict::Verdict(double ln_vocab, double unigram_entropy, std::int64_t warmup)
    : ln_vocab_(ln_vocab), unigram_entropy_(unigram_entropy), warmup_(warmup),
      best_(std::numeric_limits<double>::infinity()) {}

double Verdict::window_median() const {
    std::vector<double> sorted = window_;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
}

double Verdict::window_mean() const {
    double sum = 0;
    for (double loss : window_) sum += loss;
    return sum / static_cast<double>(window_.size());
}

std::optional<Outcome> Verdict::add(std::int64_t step, double loss, double gradient_ratio) {
    if (seen_ == 0) initial_ = loss;
    ++seen_;
    if (std::isfinite(gradient_ratio)) last_ratio_ = gradient_ratio;  // not after an overflow in FP16
    if (window_.size() == kWindow) window_.erase(window_.begin());
    window_.push_back(loss);
    if (window_.size() < kWindow) return std::nullopt;

    const double median = window_median();
    const double ceiling = std::min(std::max(initial_, ln_vocab_) + 1, best_ + 2);
    above_ = median > ceiling ? above_ + 1 : 0;
    best_ = std::min(best_, median);
    if (seen_ <= kPatience || above_ < kPatience) return std::nullopt;

    char text[120];
    std::snprintf(text, sizeof text, "step %lld · median loss %.4g nat above %.4g for %lld steps",
                  static_cast<long long>(step), median, ceiling, static_cast<long long>(kPatience));
    return Outcome{RunState::Diverged, step, text, -1};
}

Outcome Verdict::at_end(std::int64_t last_step) const {
    if (window_.size() == kWindow && seen_ > warmup_ + static_cast<std::int64_t>(kWindow) &&
        std::abs(window_mean() - unigram_entropy_) <= 0.03 * unigram_entropy_ && last_ratio_ < 1e-3) {
        char text[160];
        std::snprintf(text, sizeof text, "loss %.4g nat at the unigram entropy %.4g, gradient ratio first/last %.2g",
                      window_mean(), unigram_entropy_, last_ratio_);
        return {RunState::Stalled, last_step, text, -1};
    }
    return {RunState::Finished, last_step, "", -1};
}

std::vector<double> Verdict::state() const {
    std::vector<double> state{initial_, best_, last_ratio_, static_cast<double>(seen_), static_cast<double>(above_)};
    state.insert(state.end(), window_.begin(), window_.end());
    return state;
}

void Verdict::restore(const std::vector<double>& state) {
    initial_ = state.at(0);
    best_ = state.at(1);
    last_ratio_ = state.at(2);
    seen_ = static_cast<std::int64_t>(state.at(3));
    above_ = static_cast<std::int64_t>(state.at(4));
    window_.assign(state.begin() + 5, state.end());
}

}  // namespace normscope
