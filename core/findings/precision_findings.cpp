// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/precision_findings.h"

#include "core/base/nan.h"
#include "core/base/number_text.h"
#include "core/findings/training_measures.h"
#include "core/train/overflow_event.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace normscope {

namespace {

/// nat: from here on neighbouring numbers of BF16 are 1/4 apart or more, and log Z of even logits is ln V, 3
/// to 12.
constexpr double kLogitDrift = 50;
constexpr double kMostlyUnder = 0.5;       ///< of a group's entries
constexpr double kClamped = 0.05;          ///< of a norm's γ
constexpr double kSquareLimit = 255.9375;  ///< its square is FP16's largest number, 65504

/// The largest value of an array and its name in a label of as many; no name where there is no finite value.
struct Largest {
    std::string name;
    double value = 0;
};
Largest largest_of(const ProbeResult& sample, const char* array, const char* label) {
    const NamedArray* values = full(sample, array);
    const auto names = sample.labels.find(label);
    Largest largest;
    if (!values || names == sample.labels.end() || names->second.size() != values->data.size())
        return largest;
    for (std::size_t i = 0; i < values->data.size(); ++i)
        if (values->data[i] > largest.value) largest = {names->second[i], values->data[i]};
    return largest;
}

/// "layer 2 ffn" of "blocks.1.ffn", "hidden state 4" of "hidden.4"; other names, as a foreign file may have
/// them, as they are.
std::string place_text(const std::string& name) {
    constexpr std::string_view block = "blocks.", hidden = "hidden.";
    if (name.starts_with(hidden)) return "hidden state " + name.substr(hidden.size());
    if (!name.starts_with(block)) return name;
    int layer = 0;
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data() + block.size(), last, layer);
    if (error != std::errc() || layer < 0 || end == last || *end != '.') return name;
    return "layer " + std::to_string(std::int64_t{layer} + 1) + " " + std::string(end + 1, last);
}

/// log Z minus the loss of the sample's step, the mean logit of the targets; log Z alone where that step has
/// no finite loss. (log Z is of the held-out batch, the loss of the training batch.)
double target_logit(const RunData& run, const ProbeResult& sample, double log_z) {
    const std::vector<double>* loss = run.steps.find("loss");
    const auto& steps = run.steps.step;
    const auto row = std::lower_bound(steps.begin(), steps.end(), sample.step);
    if (!loss || row == steps.end() || *row != sample.step) return log_z;
    const double of_step = (*loss)[static_cast<std::size_t>(row - steps.begin())];
    return std::isfinite(of_step) ? log_z - of_step : log_z;
}

/// ". Clipping at 10⁻⁶ made the gradient 3×10⁵ times smaller (median of the clipped steps)".
std::string clipping_text(const Recipe& recipe, const RunData& run) {
    const TrainingMeasures measures = training_measures(recipe, run);
    if (!(measures.clip_factor > 1)) return {};
    return ". Clipping at " + number_text(recipe.train.optimizer.clip) + " made the gradient " +
           number_text(measures.clip_factor) + " times smaller (median of the clipped steps)";
}

}  // namespace

Sentence skipped_sentence(const RunData& run, std::int64_t step) {
    std::int64_t count = 0, first = -1;
    std::string place;
    for (const RunEvent& event : run.events) {
        if (event.kind != kOverflowEvent || event.step > step) continue;
        if (++count > 1) continue;
        first = event.step;
        place = overflow_place(event.text);
    }
    if (count == 0) return {};
    return {std::to_string(count) + (count == 1 ? " update was" : " updates were") + " skipped by " +
                step_text(step) + ". The scaled gradient overflowed FP16, first at " + step_text(first) +
                (place.empty() ? "" : ", the gradient of " + place),
            {kOverflowEvent, first, static_cast<double>(count)}};
}

Sentence logits_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("gradients", step);
    const ProbeResult* start = run.sample_of("gradients", 0);
    const NamedArray *log_z = now ? full(*now, "log_z") : nullptr,
                     *first = start ? full(*start, "log_z") : nullptr;
    if (!log_z || !first) return {};
    const double last = log_z->data.front(), at_start = target_logit(run, *start, first->data.front()),
                 moved = target_logit(run, *now, last) - at_start;
    std::string text;
    if (std::abs(moved) > kLogitDrift)
        text = "The mean logit of the targets, log Z − loss, drifted by " + number_text(moved, 4) +
               " nat. Log Z is " + number_text(last, 4) + " at " + step_text(now->step) + ", " +
               number_text(first->data.front(), 4) + " at step 0";
    else if (std::abs(at_start) > kLogitDrift)
        text = "The mean logit of the targets, log Z − loss, is " + number_text(at_start, 4) +
               " at step 0. Log Z is " + number_text(last, 4) + " nat at " + step_text(now->step);
    if (text.empty()) return {};
    text += ". A shift of all logits together changes no loss";
    const NamedArray *spread = full(*now, "log_z_spread"), *largest = full(*now, "max_logit");
    if (spread && largest)
        text += ". Over tokens it varies by " + number_text(spread->data.front(), 2) +
                "; the logit farthest from 0 has a size of " + number_text(largest->data.front(), 4);
    return {text, {"gradients/log_z", now->step, last}};
}

Sentence under_eps_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("updates", step);
    const Recipe* recipe = run.recipe.get();
    // A label: the update is not one of the run.
    if (!now || !recipe || now->labels.count("update")) return {};
    const Largest most = largest_of(*now, "under_eps", "groups");
    if (!(most.value >= kMostlyUnder)) return {};
    return {"Adam divides by ε, " + number_text(recipe->train.optimizer.eps) + ", in " + percent(most.value) +
                " of the entries of " + place_text(most.name) + " at " + step_text(now->step) +
                ". There the root of the second moment is below it" + clipping_text(*recipe, run),
            {"updates/under_eps", now->step, most.value}};
}

Sentence clamped_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("mismatch", step);
    if (!now) return {};
    const Largest most = largest_of(*now, "mxe4m3_gamma_clamped", "sites");
    if (!(most.value >= kClamped)) return {};
    return {"γ of " + place_text(most.name) + " in MX E4M3, at " + step_text(now->step) + ": " +
                percent(most.value) +
                " of its entries would be clamped. They are above the largest number of their block of 32",
            {"mismatch/mxe4m3_gamma_clamped", now->step, most.value}};
}

Sentence norm_statistics_sentence(const RunData& run, std::int64_t step) {
    const ProbeResult* now = run.sample_at("ranges", step);
    const NamedArray* largest = now ? full(*now, "amax") : nullptr;
    if (!largest || now->labels.find("places") == now->labels.end()) return {};
    const std::vector<std::string>& places = now->labels.at("places");
    for (std::size_t i = 0; i < std::min(places.size(), largest->data.size()); ++i)
        if (places[i].starts_with("hidden.") && std::isfinite(largest->data[i]) &&
            largest->data[i] > kSquareLimit)
            return {"A norm that keeps its statistics in FP16 would overflow. The size of " +
                        place_text(places[i]) + " reaches " + number_text(largest->data[i], 4) + " at " +
                        step_text(now->step) + "; its square is above 65504",
                    {"ranges/amax", now->step, largest->data[i]}};
    return {};
}

}  // namespace normscope
