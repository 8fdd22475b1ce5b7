// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/claim_rows.h"
#include "core/claims/claims.h"
#include "core/claims/measure.h"
#include "core/train/outcome.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr double kNone = ClaimResult::kNone;

/// The recorded run; `what` names what else would do.
const RunData& recorded(ClaimInput& input, const char* what) {
    if (!input.run()) throw NotMeasured(std::string("needs ") + what);
    return *input.run();
}

/// "Pre-LN, seed 42, finished".
std::string name_of(const RunData& run) {
    return run.name + ", seed " + std::to_string(run.seed) + ", " +
           std::string(run_state_word(run.outcome.state));
}

const std::vector<ProbeResult>& samples_of(const RunData& run, const char* probe) {
    const auto found = run.probes.find(probe);
    if (found == run.probes.end() || found->second.size() < 2)
        throw NotMeasured(std::string("needs a recorded run with the probe ") + probe +
                          " at two steps or more");
    return found->second;
}
/// Of the whole stack: an entry that the run's selection excludes is not a value.
const std::vector<double>& array_of(const ProbeResult& sample, const char* name) {
    const NamedArray* array = sample.find(name);
    if (!array || array->data.empty())
        throw NotMeasured("needs a recorded run with the array " + std::string(name));
    require_all_places(sample, *array);
    return array->data;
}

double mean_finite(const std::vector<double>& values) {
    double sum = 0;
    int count = 0;
    for (const double v : values)
        if (std::isfinite(v)) {
            sum += v;
            ++count;
        }
    return count ? sum / count : kNone;
}

ClaimResult toy(double value, double bound, std::int64_t samples, std::string detail) {
    return {ClaimVerdict::Toy, value, bound, kNone, samples, std::move(detail)};
}

/// The final loss of one run next to what a comparison needs.
ClaimResult final_loss(ClaimInput& input, const char* group) {
    const RunData& run = recorded(input, group);
    const std::vector<double>* loss = run.steps.find("loss");
    if (!loss || loss->empty()) throw NotMeasured(std::string("needs ") + group);
    const std::size_t last = std::min<std::size_t>(loss->size(), 10);
    const double mean = mean_finite({loss->end() - static_cast<std::ptrdiff_t>(last), loss->end()});
    return toy(mean, run.unigram_entropy, 1,
               name_of(run) + ": mean of the last " + std::to_string(last) + " losses " + text(mean) +
                   " nat, one seed; to compare, it needs " + group);
}

#define NORMSCOPE_FINAL_LOSS(group) [](ClaimInput& input) { return final_loss(input, group); }

ClaimResult trained_post_gradients(ClaimInput& input) {
    const char* wanted = "recorded runs of Post-LN at lr 3e-3 and 3e-4 with the probe gradients";
    const RunData& run = recorded(input, wanted);
    if (input.spec().scheme != Scheme::Post) throw NotMeasured(std::string("needs ") + wanted);
    const auto& samples = samples_of(run, "gradients");
    const auto ratio = [](const ProbeResult& sample) {
        const std::vector<double>& hidden = array_of(sample, "hidden");
        return hidden[2] / hidden.back();
    };
    return toy(ratio(samples.back()), ratio(samples.front()), static_cast<std::int64_t>(samples.size()),
               name_of(run) + ", lr " + text(input.recipe().train.optimizer.lr) + ": first/last " +
                   text(ratio(samples.front())) + " at step " + std::to_string(samples.front().step) + ", " +
                   text(ratio(samples.back())) + " at step " + std::to_string(samples.back().step));
}

ClaimResult spikes(ClaimInput& input) {
    const RunData& run = recorded(input, "recorded runs of Pre-LN and Post-LN");
    const auto count = std::count_if(run.events.begin(), run.events.end(),
                                     [](const RunEvent& event) { return event.kind == "spike"; });
    return toy(static_cast<double>(count), kNone, static_cast<std::int64_t>(run.steps.rows()),
               name_of(run) + ": " + std::to_string(count) + " spikes in " +
                   std::to_string(run.steps.rows()) + " steps");
}

ClaimResult theta_in_training(ClaimInput& input) {
    const RunData& run = recorded(input, "a recorded run with the probe theta");
    const auto& samples = samples_of(run, "theta");
    const double first = mean_finite(array_of(samples.front(), "mean")),
                 last = mean_finite(array_of(samples.back(), "mean"));
    return toy(last, 1, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": mean θ from " + text(first) + " to " + text(last) +
                   ", relative to uniform rows " +
                   text(mean_finite(array_of(samples.back(), "relative_mean"))) + ", share below 0.99 from " +
                   text(mean_finite(array_of(samples.front(), "below_099"))) + " to " +
                   text(mean_finite(array_of(samples.back(), "below_099"))));
}

ClaimResult largest_variance(ClaimInput& input) {
    const char* wanted = "recorded runs with and without gates, with the probe growth";
    const RunData& run = recorded(input, wanted);
    double most = 0;
    const auto& samples = samples_of(run, "growth");
    for (const ProbeResult& sample : samples)
        for (const double v : array_of(sample, "var")) most = std::max(most, std::isfinite(v) ? v : 0);
    return toy(most, kNone, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": the largest variance over steps and layers is " + text(most) +
                   "; the ratio needs " + wanted);
}

ClaimResult layer_gradients(ClaimInput& input) {
    const char* wanted = "recorded runs with and without gates, with the probe gradients";
    const RunData& run = recorded(input, wanted);
    const auto& samples = samples_of(run, "gradients");
    const std::vector<double>& params = array_of(samples.back(), "params");
    const auto [least, most] = std::minmax_element(params.begin(), params.end());
    return toy(*most, *least, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": norms per sub-layer from " + text(*least) + " to " + text(*most) +
                   " at step " + std::to_string(samples.back().step) + "; the ratio needs " + wanted);
}

ClaimResult projections_grow(ClaimInput& input) {
    const RunData& run = recorded(input, "a recorded run with the probe lipschitz");
    const auto& samples = samples_of(run, "lipschitz");
    const double first = mean_finite(array_of(samples.front(), "projection")),
                 last = mean_finite(array_of(samples.back(), "projection"));
    return toy(last / first, 3, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": mean G over the layers from " + text(first) + " at step " +
                   std::to_string(samples.front().step) + " to " + text(last) + " at step " +
                   std::to_string(samples.back().step));
}

ClaimResult weight_norms(ClaimInput& input) {
    const char* wanted = "recorded runs with and without gates, with the probe weights";
    const RunData& run = recorded(input, wanted);
    const auto& samples = samples_of(run, "weights");
    const std::vector<double>& norms = array_of(samples.back(), "sublayer_norm");
    const auto [least, most] = std::minmax_element(norms.begin(), norms.end());
    return toy(*most, *least, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": norms of sub-layers from " + text(*least) + " to " + text(*most) +
                   " at step " + std::to_string(samples.back().step) + "; the ratio needs " + wanted);
}

ClaimResult importance(ClaimInput& input) {
    const char* wanted = "recorded runs with and without gates, with the probe importance";
    const RunData& run = recorded(input, wanted);
    const auto& samples = samples_of(run, "importance");
    const std::vector<double>& change = array_of(samples.back(), "layer");
    const auto [least, most] = std::minmax_element(change.begin(), change.end());
    return toy(*most, *least, static_cast<std::int64_t>(samples.size()),
               name_of(run) + ": without a layer's branches the loss changes by " + text(*least) + " to " +
                   text(*most) + " nat at step " + std::to_string(samples.back().step) +
                   "; to compare, it needs " + wanted);
}

ClaimResult outcome(ClaimInput& input) {
    const RunData& run = recorded(input, "a sweep over schemes and seeds");
    return toy(run.outcome.state == RunState::Diverged, kNone, 1,
               name_of(run) + ": one run; x of y diverged needs a sweep over schemes and seeds");
}

constexpr auto kToy = ClaimVerdict::Toy;

const Claim kTrainingRows[] = {
    {"E21", "Fig 1 BR", "in trained Post-LN the early layers' gradients are near zero", kToy,
     trained_post_gradients, "optimizer.lr"},
    {"E27", "§6.1", "the shortcut's factor stabilises Post-LN", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs of post and deepnorm with the same initialisation, 3 seeds each"),
     "stack.init.rule"},
    {"E29", "§6.3, §8", "a temperature warm-up replaces the learning rate's", kToy,
     NORMSCOPE_FINAL_LOSS(
         "recorded runs of Post-LN with and without schedule.temperature_warmup, 3 seeds each"),
     "schedule.temperature_warmup"},
    {"E30", "Fig 1 TL, Table 1", "Pre-LN ends lower than Post-LN", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs of pre and post, 3 seeds each, over init and lr"),
     "stack.init.rule"},
    {"E31", "Fig 1 TR, Table 1", "Post-LN has gradient spikes, Pre-LN none", kToy, spikes, "optimizer.clip"},
    {"E32", "Fig 1 BL, Fig 4", "θ/τ is 1 throughout training", kToy, theta_in_training, "stack.temperature"},
    {"E33", "Fig 2", "the projections' norms G grow threefold, most after the warm-up", kToy,
     projections_grow},
    {"N15", "§7.3", "hence Post-LN needs a warm-up and a small learning rate", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs of Post-LN over learning rate and warm-up"), "optimizer.lr"},
    {"G06", "Table 2", "GPAS lowers the perplexity of every base", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs with and without gates, 3 seeds each"), "stack.gpas.enabled"},
    {"G09", "Fig 4", "GPAS halves the largest activation variance", kToy, largest_variance,
     "stack.gpas.enabled"},
    {"G11", "Fig 5", "layers' gradient norms are larger with GPAS", kToy, layer_gradients,
     "stack.gpas.enabled"},
    {"G12", "Fig 6", "weight norms are larger with GPAS", kToy, weight_norms, "stack.gpas.enabled"},
    {"G13", "Fig 7", "the layers' importance is more even with GPAS", kToy, importance, "stack.gpas.enabled"},
    {"G14", "Table 4", "the output site is best; ReLU and LeakyReLU do little", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs over stack.gpas.site and stack.gpas.activation"), "stack.gpas.site"},
    {"G15", "Table 5", "without stop-gradient there is no gain", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs with and without stack.gpas.stop_gradient, 3 seeds each"),
     "stack.gpas.stop_gradient"},
    {"K12", "Thm 6", "the shift of Pre-LN is unbounded", ClaimVerdict::NotApplicable,
     [](ClaimInput&) {
         return not_applicable("at finite weights every shift is finite: it cannot be falsified");
     }},
    {"K17", "§5", "Δt = 0.1 stabilises and improves training", kToy,
     NORMSCOPE_FINAL_LOSS("recorded runs over stack.residual_step, 3 seeds each"), "stack.residual_step"},
    {"K18", "Table 1", "diverged: Pre-LN 1/3 of 5, Peri-LN 0, without norm 5 of 5", kToy, outcome,
     "stack.scheme"},
    {"K22", "Step 1 (App B)", "well-posedness of the HJB equation screens architectures",
     ClaimVerdict::NotApplicable,
     [](ClaimInput&) { return not_applicable("no number of a stack decides it"); }},
};

#undef NORMSCOPE_FINAL_LOSS

}  // namespace

std::span<const Claim> training_claims() {
    return kTrainingRows;
}

}  // namespace normscope
