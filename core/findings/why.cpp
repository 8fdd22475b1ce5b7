// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/why.h"

#include "core/base/nan.h"
#include "core/base/number_text.h"
#include "core/findings/in_words.h"
#include "core/findings/remedies.h"
#include "core/findings/sentence.h"
#include "core/findings/watched.h"
#include "core/train/bad_place.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace normscope {

namespace {

constexpr double kLargestFp16 = 65504;
constexpr std::size_t kWindow = 20;  // losses in a row, as the outcome is decided from

// --- what was measured

/// "the residual sum of layer 3's attention"; of another operation its name as it is.
std::string place_text(const BadPlace& bad) {
    std::string operation = bad.operation;
    std::string of_gradient;
    if (const std::string gradient = "gradient of "; operation.starts_with(gradient)) {
        of_gradient = "the gradient of ";
        operation.erase(0, gradient.size());
    }
    if (bad.layer < 0) return of_gradient + operation;
    const std::string layer = "layer " + std::to_string(bad.layer + 1);
    struct Word {
        const char *operation, *before, *after;
    };
    static constexpr Word kWords[] = {{"attn.residual_add", "the residual sum of ", "'s attention"},
                                      {"ffn.residual_add", "the residual sum of ", "'s feed-forward"},
                                      {"attn.scores", "an attention score of ", ""},
                                      {"attn.norm_in", "the norm before ", "'s attention"},
                                      {"ffn.norm_in", "the norm before ", "'s feed-forward"},
                                      {"attn.norm_post", "the norm after ", "'s attention"},
                                      {"ffn.norm_post", "the norm after ", "'s feed-forward"}};
    if (of_gradient.empty())
        for (const Word& word : kWords)
            if (operation == word.operation) return word.before + layer + word.after;
    return of_gradient + operation + " in " + layer;
}

std::string result_text(const std::string& result) {
    return result == "nan" ? "became not a number" : "became infinite";
}

WhyLine bad_value(const RunData& run, const BadPlace& bad) {
    std::string text = "At " + step_text(run.outcome.step) + " " + place_text(bad) + " ";
    if (std::isfinite(bad.value) && std::isfinite(bad.limit))
        text += "reached " + in_words(bad.value) +
                (bad.row >= 0 ? " in row " + std::to_string(bad.row) : std::string()) + ". " +
                (bad.limit == kLargestFp16 ? "FP16 ends" : "Its format ends") + " at " + in_words(bad.limit);
    else
        text += result_text(bad.result);
    return {text + ".", {"outcome", run.outcome.step, bad.value}, "training"};
}

/// The lowest mean of kWindow losses in a row, and the last one.
struct Losses {
    double lowest = kNaN, last = kNaN;
    std::int64_t lowest_step = -1, first_of_last = -1, last_step = -1;
};
Losses losses_of(const RunData& run) {
    Losses found;
    const std::vector<double>* loss = run.steps.find("loss");
    if (!loss || loss->empty()) return found;
    const std::size_t window = std::min(kWindow, loss->size());
    for (std::size_t end = window; end <= loss->size(); ++end) {
        double sum = 0;
        for (std::size_t i = end - window; i < end; ++i) sum += (*loss)[i];
        const double mean = sum / static_cast<double>(window);
        if (!(mean >= found.lowest)) {
            found.lowest = mean;
            found.lowest_step = run.steps.step[end - 1];
        }
        found.last = mean;
    }
    found.first_of_last = run.steps.step[loss->size() - window];
    found.last_step = run.steps.step.back();
    return found;
}

WhyLine measured(const RunData& run) {
    if (const auto bad = read_bad_place(run.outcome.text)) return bad_value(run, *bad);
    const Losses losses = losses_of(run);
    const std::string last = in_words(losses.last) + " nat";
    WhyLine line{{}, {"steps/loss", losses.last_step, losses.last}, "training"};
    if (!std::isfinite(losses.last))
        line.text = "The loss was not finite at " + step_text(losses.last_step) + ".";
    else if (run.outcome.state == RunState::Collapsed)
        line.text = "The lowest mean loss was " + in_words(losses.lowest) + " nat, by " +
                    step_text(losses.lowest_step) + ". At " + step_text(losses.last_step) + " it was " +
                    last + ".";
    else if (run.outcome.state == RunState::Diverged)
        line.text = "The loss was " + last + " at " + step_text(losses.last_step) + ". A uniform guess has " +
                    in_words(run.ln_vocab) + " nat.";
    else
        line.text = "From step " + std::to_string(losses.first_of_last) + " to " +
                    std::to_string(losses.last_step) + " the loss stayed at " + last +
                    ". Token frequencies alone give " + in_words(run.unigram_entropy) + ".";
    return line;
}

// --- when it began, and what moved first

/// How a quantity is worded at a value, and the plot that shows it.
struct Phrase {
    const char* id;            ///< of watched_quantities()
    const char *subject, *it;  ///< "The norms" and "they": in the next sentences
    std::string (*now)(double);
    std::string (*before)(double);  ///< in a sentence after that
    const char *panel, *quantity;
};
std::string factor(double v) {
    return factor_text(v, "the gradient");
}
std::string factor_again(double v) {
    return factor_text(v, "it");
}
std::string times_the_stream(double v) {
    return "was " + in_words(v) + " times the stream";
}
std::string was(double v) {
    return "was " + in_words(v);
}
std::string nat(double v) {
    return "was " + in_words(v) + " nat";
}
std::string percent_of_weights(double v) {
    return "was " + in_words(100 * v) + " % of the weights";
}
std::string against_last(double v) {
    const std::string times = times_text(v);
    return times.empty() ? "was as large as the last layer's" : "was " + times + " than the last layer's";
}
std::string against_last_again(double v) {
    const std::string times = times_text(v);
    return times.empty() ? "was as large" : "was " + times;
}
constexpr Phrase kPhrases[] = {
    {"branch_ratio", "The branches", "a branch", times_the_stream, times_the_stream, "residual",
     "branch_ratio"},
    {"branch_cosine", "The cosine of branch and stream", "it", was, was, "residual", "branch_cosine"},
    {"norm_factor", "The norms", "they", factor, factor_again, "gradients", "factors"},
    {"branch_factor", "The branches", "they", factor, factor_again, "gradients", "factors"},
    {"update_ratio", "The updates", "an update", percent_of_weights, percent_of_weights, "updates", ""},
    {"gradient_ratio", "The gradient of layer 1", "it", against_last, against_last_again, "gradients",
     "hidden"},
    {"entropy", "The entropy of attention", "it", nat, nat, "attention", "entropy"},
    {"similarity", "The similarity of tokens", "it", was, was, "tokens", "similarity"},
};

const Phrase& phrase_of(const WatchedQuantity& quantity) {
    return *std::find_if(std::begin(kPhrases), std::end(kPhrases),
                         [&](const Phrase& s) { return std::string(s.id) == quantity.id; });
}

WhyLine began(const std::vector<Departure>& left, std::size_t watched) {
    const std::int64_t first = left.front().step, last = left.back().step;
    const std::string text = "It began at " + step_text(first) + ". " +
                             (last == first ? "Then " : "By " + step_text(last) + ", ") +
                             std::to_string(left.size()) + " of " + std::to_string(watched) +
                             " quantities were outside the range of runs that learn.";
    return {text, {"departures", last, static_cast<double>(left.size())}, "gradient_map"};
}

WhyLine moved_first(const Departure& d) {
    const Phrase& words = phrase_of(*d.quantity);
    const std::string text = std::string(words.subject) + " moved first. At " + step_text(d.step) + " " +
                             words.it + " " + words.now(d.value) + ". At " + step_text(d.from) + " " +
                             words.it + " " + words.before(d.start) + ".";
    return {text, {d.quantity->title, d.step, d.value}, words.panel, words.quantity};
}

/// "Not measured: attention, tokens; which of these moves is the cause."
std::string not_measured(const RunData& run, bool moved) {
    std::set<std::string> missing;
    for (const WatchedQuantity& quantity : watched_quantities()) {
        const auto recorded = run.probes.find(quantity.probe);
        if (recorded == run.probes.end() || recorded->second.empty() || recorded->second.front().step != 0)
            missing.insert(quantity.probe);
    }
    std::string list;
    for (const std::string& probe : missing) list += (list.empty() ? "" : ", ") + probe;
    const std::string cause = moved ? "which of these moves is the cause" : std::string();
    if (list.empty() && cause.empty()) return {};
    return "Not measured: " + list + (list.empty() || cause.empty() ? "" : "; ") + cause + ".";
}

}  // namespace

WhyCard why(const RunData& run, std::int64_t step) {
    WhyCard card;
    if (!has_failed(run.outcome)) return card;
    if (run.outcome.step <= step) card.lines.push_back(measured(run));
    if (run.unread) {  // an outline lacks the first steps
        card.not_measured = "The file is not read to its end yet.";
        return card;
    }
    const std::vector<Departure> left = departures(run, step);
    if (!left.empty()) {
        card.lines.push_back(began(left, watched_quantities().size()));
        card.lines.push_back(moved_first(left.front()));
        card.false_alarms = "Of " + std::to_string(kFalseAlarms.runs) + " other runs that learn, " +
                            std::to_string(kFalseAlarms.alarms) + " look so too.";
    }
    card.not_measured = not_measured(run, left.size() > 1);
    return card;
}

}  // namespace normscope
