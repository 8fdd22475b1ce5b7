// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/verdict.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

namespace normscope {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What leads a state; the first layout led with a loss, which is never negative.
constexpr double kLayout = -3, kSecondLayout = -2;
constexpr std::size_t kScalars = 11, kSecondScalars = 10;

void push(std::vector<double>& values, double value, std::size_t limit) {
    if (values.size() == limit) values.erase(values.begin());
    values.push_back(value);
}

[[gnu::format(printf, 1, 2)]] std::string line(const char* format, ...) {
    char text[240];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

long long number(std::int64_t step) {
    return static_cast<long long>(step);
}

}  // namespace

Verdict::Verdict(double ln_vocab, double unigram_entropy, std::int64_t warmup, double bigram_entropy)
    : ln_vocab_(ln_vocab),
      unigram_entropy_(unigram_entropy),
      bigram_entropy_(bigram_entropy),
      warmup_(warmup),
      best_mean_(kInfinity) {}

Verdict::Window Verdict::window(std::size_t skip) const {
    const auto last = losses_.end() - static_cast<std::ptrdiff_t>(skip);
    const std::vector<double> losses(last - kWindow, last);
    double sum = 0, squares = 0;
    for (double loss : losses) sum += loss;
    const double mean = sum / kWindow;
    for (double loss : losses) squares += (loss - mean) * (loss - mean);
    return {mean, upper_median(losses), std::sqrt(squares / (kWindow * (kWindow - 1)))};
}

std::optional<Outcome> Verdict::add(std::int64_t step, double loss, double gradient_ratio, bool skipped) {
    skipped_ += skipped;
    if (!std::isfinite(loss))
        return Outcome{RunState::Diverged, step, line("step %lld · loss · %g", number(step), loss), -1};
    const bool diverged = watch_.add(loss, ln_vocab_);
    if (std::isfinite(gradient_ratio)) push(ratios_, gradient_ratio, kWindow);
    push(losses_, loss, 2 * kWindow);
    if (losses_.size() < kWindow) return std::nullopt;

    const Window now = window();
    if (now.mean < best_mean_) {
        best_mean_ = now.mean;
        best_error_ = now.error;
        best_step_ = step;
    }
    if (now.mean <= collapse_level()) held_step_ = step;
    if (!diverged) return std::nullopt;

    const double by_start = watch_.by_start(ln_vocab_), by_best = watch_.by_best();
    const std::string ceiling = by_best < by_start         ? line("the best median %.4g + 2", by_best - 2)
                                : watch_.first > ln_vocab_ ? line("the first loss %.4g + 1", watch_.first)
                                                           : line("ln V %.4g + 1", ln_vocab_);
    return Outcome{RunState::Diverged, step,
                   line("step %lld · median of 20 losses %.4g nat, above %s for %lld steps", number(step),
                        now.median, ceiling.c_str(), number(kPatience)),
                   -1};
}

bool Verdict::collapsed(const Window& now) const {
    const double lost = now.mean - best_mean_;
    return best_mean_ < kUnigramShare * unigram_entropy_ &&
           std::min(now.mean, now.median) > collapse_level() &&
           lost > (1 - kUnigramShare) * unigram_entropy_ && lost > 6 * std::hypot(now.error, best_error_);
}

namespace {

/// "0.009", "9 × 10¹⁷".
std::string ratio_text(double ratio) {
    const std::string text = line("%.2g", ratio);
    const std::size_t e = text.find('e');
    if (e == std::string::npos) return text;
    return text.substr(0, e) + " × 10" + superscript(std::stoi(text.substr(e + 1)));
}

}  // namespace

std::string Verdict::gradient_words() const {
    if (ratios_.empty()) return "gradient ratio unknown";
    const double ratio = upper_median(ratios_);
    const char* word = ratio < kVanishing   ? "vanishing"
                       : ratio > kExploding ? "exploding"
                                            : "neither vanishing nor exploding";
    return line("gradients %s, layer 1 ÷ last layer: %s", word, ratio_text(ratio).c_str());
}

std::string Verdict::skipped_words() const {
    if (skipped_ == 0) return {};
    return line(" · %lld of %lld updates skipped: the scaled gradient overflowed", number(skipped_),
                number(watch_.seen));
}

std::string Verdict::stalled_text(const Window& now) const {
    const char* more = now.mean < unigram_entropy_ ? "hardly more" : "no more";
    std::string text = line("learned %s than the unigram: last 20 at %.4g nat, unigram entropy %.4g", more,
                            now.mean, unigram_entropy_) +
                       skipped_words();
    if (!many_skipped()) text += " · " + gradient_words();
    if (losses_.size() == 2 * kWindow) {
        const Window before = window(kWindow);
        if (before.mean - now.mean > 4 * std::hypot(now.error, before.error)) text += " · still falling";
    }
    if (watch_.seen <= warmup_) text += " · warm-up not over";
    return text;
}

Outcome Verdict::at_end(std::int64_t last_step) const {
    if (losses_.size() < kWindow)
        return {RunState::Finished, last_step,
                losses_.empty() ? std::string("no step made")
                                : line("too short for a verdict, %lld of 20 steps: last loss %.4g nat",
                                       number(watch_.seen), losses_.back()),
                -1};
    const Window now = window();
    const double low = std::min(now.mean, now.median);
    if (low > ln_vocab_ + 1)
        return {RunState::Diverged, last_step,
                line("step %lld · last 20 at %.4g nat, above ln V %.4g + 1 (first loss %.4g)",
                     number(last_step), now.mean, ln_vocab_, watch_.first),
                -1};
    if (!has_unigram_entropy())
        return {RunState::Finished, last_step, line("last 20 at %.4g nat", now.mean) + skipped_words(), -1};
    if (collapsed(now)) {
        const std::int64_t began = std::min(held_step_ + 1, last_step);
        const std::string at = best_step_ < 0 ? "" : line(" at step %lld", number(best_step_));
        return {RunState::Collapsed, began,
                line("step %lld · lost %.2g of the %.2g nat gained: best %.4g%s, last 20 at %.4g, unigram "
                     "entropy %.4g",
                     number(began), now.mean - best_mean_, unigram_entropy_ - best_mean_, best_mean_,
                     at.c_str(), now.mean, unigram_entropy_),
                -1};
    }
    if (low >= kUnigramShare * unigram_entropy_) return {RunState::Stalled, last_step, stalled_text(now), -1};
    return {RunState::Finished, last_step,
            line("last 20 at %.4g nat, %.2g below the unigram entropy %.4g", now.mean,
                 unigram_entropy_ - now.mean, unigram_entropy_) +
                (low < bigram_entropy_ || std::isnan(bigram_entropy_)
                     ? ""
                     : line(" · token pairs at most: their entropy is %.4g", bigram_entropy_)) +
                skipped_words(),
            -1};
}

std::vector<double> Verdict::state() const {
    std::vector<double> state{kLayout,
                              watch_.first,
                              watch_.best_median,
                              best_mean_,
                              best_error_,
                              static_cast<double>(best_step_),
                              static_cast<double>(held_step_),
                              static_cast<double>(watch_.seen),
                              static_cast<double>(watch_.above),
                              static_cast<double>(skipped_),
                              static_cast<double>(losses_.size())};
    state.insert(state.end(), losses_.begin(), losses_.end());
    state.insert(state.end(), ratios_.begin(), ratios_.end());
    return state;
}

namespace {

[[noreturn]] void reject_state() {
    throw InputError("checkpoint: verdict", "is not of a layout that this version reads",
                     "a checkpoint of this version");
}

/// A step or a count that a state holds as float64.
std::int64_t whole_number(double value, double least) {
    constexpr double most = 9007199254740992.0;                            // 2^53: exact up to here
    if (!(value >= least && value <= most && std::trunc(value) == value))  // NaN too
        reject_state();
    return static_cast<std::int64_t>(value);
}

}  // namespace

void Verdict::restore(const std::vector<double>& state) {
    if (!state.empty() && state[0] >= 0) return restore_first_layout(state);
    const bool second = !state.empty() && state[0] == kSecondLayout;
    const std::size_t scalars = second ? kSecondScalars : kScalars;
    if (state.size() < scalars || (!second && state[0] != kLayout)) reject_state();
    const auto kept = static_cast<double>(whole_number(state[scalars - 1], 0));
    const auto size = static_cast<double>(state.size()), least = static_cast<double>(scalars) + kept;
    if (!(kept <= 2 * kWindow && least <= size && size <= least + kWindow)) reject_state();
    watch_ = {};
    watch_.first = state[1];
    watch_.best_median = state[2];
    best_mean_ = state[3];
    best_error_ = state[4];
    best_step_ = whole_number(state[5], -1);
    held_step_ = whole_number(state[6], -1);
    watch_.seen = whole_number(state[7], 0);
    watch_.above = whole_number(state[8], 0);
    skipped_ = second ? 0 : whole_number(state[9], 0);
    const auto losses = state.begin() + static_cast<std::ptrdiff_t>(scalars),
               ratios = losses + static_cast<std::ptrdiff_t>(kept);
    losses_.assign(losses, ratios);
    ratios_.assign(ratios, state.end());
    fill_watch();
}

/// {first loss, best median, last ratio, steps seen, steps above, the last ≤ 20 losses}
void Verdict::restore_first_layout(const std::vector<double>& state) {
    constexpr std::size_t kFirstScalars = 5;
    if (state.size() < kFirstScalars || state.size() > kFirstScalars + kWindow)
        throw InputError("checkpoint: verdict", "has " + std::to_string(state.size()) + " numbers",
                         std::to_string(kFirstScalars) + " … " + std::to_string(kFirstScalars + kWindow));
    watch_ = {};
    watch_.first = state[0];
    watch_.best_median = best_mean_ = state[1];
    best_error_ = 0;
    best_step_ = -1;
    watch_.seen = whole_number(state[3], 0);
    watch_.above = whole_number(state[4], 0);
    skipped_ = 0;
    held_step_ = watch_.seen - 1;  // the start of a collapse before the checkpoint is unknown
    losses_.assign(state.begin() + kFirstScalars, state.end());
    ratios_.clear();
    if (watch_.seen > 0) ratios_.push_back(state[2]);
    fill_watch();
}

void Verdict::fill_watch() {
    const auto kept = static_cast<std::ptrdiff_t>(std::min(losses_.size(), kWindow));
    for (auto loss = losses_.end() - kept; loss != losses_.end(); ++loss) watch_.push(*loss);
}

}  // namespace normscope
