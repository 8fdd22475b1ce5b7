// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/findings.h"

#include "core/base/nan.h"
#include "core/base/number_text.h"
#include "core/findings/held_out_loss.h"
#include "core/findings/in_words.h"
#include "core/findings/precision_findings.h"
#include "core/findings/sentence.h"
#include "core/findings/watched.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace normscope {

namespace {

constexpr double kGrowth = 10;
constexpr double kFarAbove = 1;  // nat above ln V, as Verdict
constexpr double kIllConditioned = 1e6;
constexpr double kCommitted = 0.01;     // share of rows from which attention counts as committed
constexpr double kThinShortcut = 1e-3;  ///< of the signal, from layer 1 to the last
constexpr std::size_t kRecentRows = 20;
constexpr std::size_t kAll = static_cast<std::size_t>(-1);

/// ". Held-out loss: 1.82 ± 0.02 nat at step 199, mean of 64 held-out sequences"; empty where none was taken.
std::string held_out_text(const RunData& run, std::int64_t step) {
    const auto held_out = held_out_loss(run, step);
    if (!held_out) return {};
    std::string text = ". Held-out loss: " + number_text(held_out->loss, 4);
    if (std::isfinite(held_out->error)) text += " ± " + number_text(held_out->error, 2);
    return text + " nat at " + step_text(held_out->step) + ", " + held_out->of_text();
}

bool failed(RunState state) {
    return state == RunState::Diverged || state == RunState::Stalled || state == RunState::Collapsed;
}

Sentence outcome_sentence(const RunData& run, std::int64_t step) {
    const Outcome& outcome = run.outcome;
    const bool ended = outcome.step >= 0 && outcome.step <= step;
    if (ended && (failed(outcome.state) || outcome.state == RunState::Failed))
        return {run.name + " " + run_state_word(outcome.state) + ": " +
                    (outcome.state == RunState::Diverged ? outcome.text : read_aloud(outcome.text)),
                {"outcome", outcome.step, kNaN}};
    const auto loss = recent_loss(run, step);
    if (!loss) return {};
    const std::string reached =
        run.name + " has a loss of " + number_text(loss->mean, 3) + " nat (mean of " +
        (loss->first == loss->last ? "step " : "steps " + std::to_string(loss->first) + " to ") +
        std::to_string(loss->last) + ")";
    const std::string held_out = held_out_text(run, step);
    const Evidence evidence{"steps/loss", loss->last, loss->mean};
    if (!std::isfinite(run.unigram_entropy)) return {reached + held_out, evidence};
    const double below = run.unigram_entropy - loss->mean;
    const std::string learned = reached + ". That is " + number_text(std::abs(below)) +
                                (below >= 0 ? " nat below" : " nat above") + " the unigram entropy";
    if (std::isnan(run.bigram_entropy) || below < 0) return {learned + held_out, evidence};
    return {learned + (loss->mean < run.bigram_entropy ? " and below" : " and not below") +
                " that of token pairs, " + number_text(run.bigram_entropy, 3) + held_out,
            evidence};
}

/// Of initial weights with which the model is worse than a uniform guess, so its logits are far from equal.
Sentence start_sentence(const RunData& run) {
    const std::vector<double>* loss = run.steps.find("loss");
    if (!loss || loss->empty() || run.steps.step.front() != 0) return {};
    if (!(loss->front() > run.ln_vocab + kFarAbove)) return {};
    return {"The first loss is " + number_text(loss->front(), 3) + " nat, " +
                number_text(loss->front() - run.ln_vocab, 3) +
                " above that of a uniform guess. The logits of the initial weights are far apart",
            {"steps/loss", 0, loss->front()}};
}

/// ‖∂L/∂h‖ after layer 1 over that after the last; nullopt for a stack of one layer.
std::optional<double> gradient_ratio_of_layers(const ProbeResult& sample) {
    const NamedArray* hidden = full(sample, "hidden");
    if (!hidden || hidden->data.size() < 5) return std::nullopt;
    const double first = hidden->data[2], last = hidden->data.back();
    // Under a selection of places, NaN is what was not measured.
    if (!sample.only().empty() && (std::isnan(first) || std::isnan(last))) return std::nullopt;
    return first / last;
}

/// Of the median token, where that was measured at the same step.
std::optional<double> median_token(const RunData& run, std::int64_t step) {
    const ProbeResult* sample = run.sample_of("transport", step);
    const NamedArray* median = sample ? full(*sample, "median_token") : nullptr;
    if (!median || median->data.size() < 3 || !std::isfinite(median->data[2])) return std::nullopt;
    return median->data[2];
}

/// "5.5 times larger after layer 1 than after layer 8"
std::string compared_text(double ratio, std::size_t depth) {
    const std::string first = "after layer 1", last = "after layer " + std::to_string(depth);
    if (!std::isfinite(ratio)) return "not finite " + first + " or " + last;
    const std::string times = times_text(ratio);
    if (times.empty() && ratio <= 0) return "0 " + first;
    return times.empty() ? "the same " + first + " as " + last : times + " " + first + " than " + last;
}

std::string ratio_text(double ratio) {
    const std::string times = times_text(ratio);
    return !std::isfinite(ratio) ? "not finite" : times.empty() ? ratio > 0 ? "the same" : "0" : times;
}

Sentence gradient_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("gradients", step);
    if (!now) return {};
    const auto ratio = gradient_ratio_of_layers(*now);
    if (!ratio) return {};
    const std::size_t depth = (now->find("hidden")->data.size() - 1) / 2;
    std::string text = "At " + step_text(now->step) + " the gradient is " + compared_text(*ratio, depth);
    if (const auto median = median_token(run, now->step))
        text += ". For the median token it is " + ratio_text(*median);
    const ProbeResult& first = run.probes.at("gradients").front();
    if (const auto start = gradient_ratio_of_layers(first); start && first.step == 0 && now->step > 0) {
        text += ". At step 0 it was " + ratio_text(*start);
        if (const auto median = median_token(run, 0)) text += ", for the median token " + ratio_text(*median);
    }
    return {text, {"gradients/hidden", now->step, *ratio}};
}

/// The product of one factor over the sub-layers between the first and the last layer's hidden states.
std::optional<double> factor(const ProbeResult& sample, const char* name) {
    const NamedArray* array = full(sample, name);
    if (!array || array->data.size() < 4) return std::nullopt;
    double logarithm = 0;
    for (std::size_t k = 2; k < array->data.size(); ++k) logarithm += std::log(array->data[k]);
    return std::exp(logarithm);
}

Sentence factors_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("residual", step);
    if (!now) return {};
    const auto norm = factor(*now, "grad_norm"), shortcut = factor(*now, "grad_shortcut"),
               branch = factor(*now, "grad_branch");
    if (!norm || !shortcut || !branch) return {};
    const double product = *norm * *shortcut * *branch;
    if (!std::isfinite(product)) return {};
    return {"On the way back from layer " + std::to_string(now->find("grad_norm")->data.size() / 2) +
                " to layer 1, at " + step_text(now->step) + ", the norms " +
                factor_text(*norm, "the gradient") + ". The shortcuts " + factor_text(*shortcut, "it") +
                ". The branches " + factor_text(*branch, "it") + ". Together they " +
                factor_text(product, "it"),
            {"residual/grad_norm", now->step, product}};
}

/// The first `most` departures, then the count of the rest.
Sentence departures_sentence(const RunData& run, std::int64_t step, std::size_t most) {
    if (!failed(run.outcome.state)) return {};
    const auto left = departures(run, step);
    if (left.empty()) return {};
    const auto departure_text = [](const Departure& d) {
        const std::string from = d.from > 0 ? " at " + step_text(d.from) : "";
        return read_aloud(d.quantity->title) + ", from " + in_words(d.start) + from + " to " +
               in_words(d.value);
    };
    std::string text = "Outside the range of runs that learn: at " + step_text(left.front().step) + " " +
                       departure_text(left.front());
    for (std::size_t i = 1; i < std::min(most, left.size()); ++i)
        text += "; at " + step_text(left[i].step) + " " + departure_text(left[i]);
    text += left.size() > most ? ". " + std::to_string(left.size() - most) + " more left it later"
                               : ". " + false_alarms_text();
    return {text, {left.front().quantity->title, left.front().step, left.front().value}};
}

Sentence growth_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("growth", step);
    const NamedArray* rms = now ? full(*now, "rms") : nullptr;
    if (!rms) return {};
    const double factor = rms->data.back() / rms->data.front();
    if (!(factor > kGrowth || factor < 1 / kGrowth)) return {};
    return {std::string("The hidden state ") + (factor > 1 ? "grows" : "shrinks") + " along the depth. At " +
                step_text(now->step) + " its RMS is " + in_words(rms->data.front()) +
                " at the embedding and " + in_words(rms->data.back()) + " after layer " +
                std::to_string((rms->data.size() - 1) / 2),
            {"growth/rms", now->step, factor}};
}

Sentence spectrum_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("jacobian", step);
    if (!now) return {};
    const NamedArray *values = full(*now, "end_to_end_sv"), *nulls = full(*now, "end_to_end_exact_nulls");
    if (!values || !nulls || !std::isfinite(nulls->data.front())) return {};
    const NamedArray* unresolved = full(*now, "end_to_end_below_resolution");
    const auto exact = static_cast<std::size_t>(nulls->data.front());
    const auto below = unresolved && std::isfinite(unresolved->data.front())
                           ? static_cast<std::size_t>(unresolved->data.front())
                           : std::size_t{0};
    if (exact + below >= values->data.size()) return {};
    const double high = values->data.front(), low = values->data[values->data.size() - 1 - exact - below];
    if (exact + below == 0 && high < kIllConditioned * low) return {};
    std::string text = "The Jacobian of the whole stack at the last token has singular values from " +
                       number_text(low) + " to " + number_text(high) + " at " + step_text(now->step);
    const std::string of_all = " of " + std::to_string(values->data.size());
    if (exact > 0)
        text += ". " + std::to_string(exact) + of_all + (exact == 1 ? " is" : " are") + " exactly zero";
    if (below > 0)
        text += ". " + std::to_string(below) + of_all + (below == 1 ? " is" : " are") +
                " below float64's resolution";
    return {text, {"jacobian/end_to_end_sv", now->step, low}};
}

Sentence theta_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("theta", step);
    const NamedArray* share = now ? full(*now, "relative_below_099") : nullptr;
    if (!share) return {};
    double sum = 0;
    std::size_t heads = 0;
    for (const double s : share->data)
        if (std::isfinite(s)) {
            sum += s;
            ++heads;
        }
    const std::string only = now->only();
    if (heads == 0 && !only.empty()) return {};
    if (heads == 0)
        return {"θ is not finite in any head at " + step_text(now->step),
                {"theta/relative_below_099", now->step, kNaN}};
    const double mean = sum / static_cast<double>(heads);
    std::string text = "At " + step_text(now->step) + " θ, the softmax's sensitivity, is " +
                       (mean < kCommitted ? "within 1 % of a uniform row's in almost every row"
                                          : "more than 1 % below a uniform row's in " +
                                                number_text(100 * mean, 2) + " % of rows");
    if (!only.empty())
        text += ". Measured: " + only + ", " + std::to_string(heads) + " of " +
                std::to_string(share->data.size()) + " heads";
    else if (heads < share->data.size())
        text += ". Of " + std::to_string(share->data.size() - heads) +
                (share->data.size() - heads == 1 ? " head it is not finite" : " heads it is not finite");
    return {text, {"theta/relative_below_099", now->step, mean}};
}

/// The product of what the shortcut alone carries, between the first and the last layer's hidden states: the
/// first post norm also undoes the scale of the embedding.
Sentence shortcuts_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("residual", step);
    const auto share = now ? factor(*now, "shortcut_gain") : std::nullopt;
    if (!share || !(*share < kThinShortcut)) return {};
    const std::size_t sublayers = now->find("shortcut_gain")->data.size();
    return {"Through shortcuts alone, at " + step_text(now->step) + ", the signal of layer 1 is " +
                times_text(*share) + " at layer " + std::to_string(sublayers / 2) + ". In each of " +
                std::to_string(sublayers - 2) + " sub-layers it is multiplied by " +
                number_text(std::pow(*share, 1 / static_cast<double>(sublayers - 2)), 3) +
                ": the shortcut's factor over the σ of the norm after the sum",
            {"residual/shortcut_gain", now->step, *share}};
}

/// The newest step that is recorded; 0 without one.
std::int64_t last_step(const RunData& run) {
    return run.steps.step.empty() ? 0 : run.steps.step.back();
}

}  // namespace

std::optional<RecentLoss> recent_loss(const RunData& run, std::int64_t step) {
    const auto* loss = run.steps.find("loss");
    if (!loss) return std::nullopt;
    RecentLoss recent;
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = loss->size(); i-- > 0 && count < kRecentRows;) {
        if (run.steps.step[i] > step || !std::isfinite((*loss)[i])) continue;
        sum += (*loss)[i];
        recent.first = run.steps.step[i];
        if (++count == 1) recent.last = run.steps.step[i];
    }
    if (count == 0) return std::nullopt;
    recent.mean = sum / static_cast<double>(count);
    return recent;
}

const char* finding_id(FindingKind kind) {
    constexpr const char* kIds[] = {"outcome",    "start",   "skipped",         "gradient", "factors",
                                    "departures", "growth",  "nulls",           "theta",    "logits",
                                    "under_eps",  "clamped", "norm_statistics", "shortcuts"};
    return kIds[static_cast<int>(kind)];
}

std::vector<Finding> findings(const RunData& run, std::int64_t step) {
    std::vector<Finding> all;
    const auto add = [&](FindingKind kind, Sentence sentence, std::string brief = {}) {
        if (!sentence.text.empty())
            all.push_back({kind, std::move(sentence.text), std::move(brief), std::move(sentence.evidence)});
    };
    add(FindingKind::Outcome, outcome_sentence(run, step));
    if (run.unread) return all;  // the others compare with earlier steps
    add(FindingKind::Start, start_sentence(run));
    add(FindingKind::Skipped, skipped_sentence(run, std::min(step, last_step(run))));
    add(FindingKind::Gradient, gradient_sentence(run, step));
    add(FindingKind::Factors, factors_sentence(run, step));
    add(FindingKind::Departures, departures_sentence(run, step, kAll),
        departures_sentence(run, step, 1).text);
    add(FindingKind::Growth, growth_sentence(run, step));
    add(FindingKind::Nulls, spectrum_sentence(run, step));
    add(FindingKind::Theta, theta_sentence(run, step));
    add(FindingKind::Logits, logits_sentence(run, step));
    add(FindingKind::UnderEps, under_eps_sentence(run, step));
    add(FindingKind::Clamped, clamped_sentence(run, step));
    add(FindingKind::NormStatistics, norm_statistics_sentence(run, step));
    add(FindingKind::Shortcuts, shortcuts_sentence(run, step));
    return all;
}

}  // namespace normscope
