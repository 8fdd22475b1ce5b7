// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/headline.h"

#include "core/base/number_text.h"
#include "core/findings/remedies.h"
#include "core/findings/training_measures.h"
#include "core/findings/watched.h"

#include <cmath>
#include <optional>
#include <vector>

namespace normscope {

namespace {

constexpr std::size_t kLastRows = 20;

std::optional<double> last_loss(const RunData& run) {
    const std::vector<double>* loss = run.steps.find("loss");
    if (!loss || loss->empty()) return std::nullopt;
    const std::size_t n = std::min(kLastRows, loss->size());
    double sum = 0;
    for (std::size_t i = loss->size() - n; i < loss->size(); ++i) sum += (*loss)[i];
    return sum / static_cast<double>(n);
}

std::string title_of(const RunData& run) {
    const std::string at = run.outcome.step >= 0 ? " at step " + std::to_string(run.outcome.step) : "";
    if (run.outcome.state == RunState::Diverged) return "Diverged" + at;
    if (run.outcome.state == RunState::Collapsed) return "Collapsed" + at;
    const auto loss = last_loss(run);
    const bool at_entropy = loss && std::abs(*loss - run.unigram_entropy) <= kAtUnigram * run.unigram_entropy;
    return at_entropy ? "Stalled at the unigram entropy" : "Stalled above the unigram entropy";
}

std::string measured_of(const RunData& run) {
    if (run.outcome.state != RunState::Stalled) {
        // The title has the step.
        const std::string step = "step " + std::to_string(run.outcome.step) + " · ";
        return run.outcome.text.rfind(step, 0) == 0 ? run.outcome.text.substr(step.size()) : run.outcome.text;
    }
    const auto loss = last_loss(run);
    if (!loss) return run.outcome.text;
    return "Loss " + number_text(*loss, 3) + " nat over the last " + std::to_string(kLastRows) +
           " steps; unigram entropy " + number_text(run.unigram_entropy, 3);
}

/// "Gradient, layer 1 over 12 (training batch): 3.6 at step 0, 5.9e-7 at step 199"; of the step table, so of
/// the training batch.
std::string gradient_of(const RunData& run, std::int64_t step) {
    const std::vector<double>* ratio = run.steps.find("grad_ratio");
    const Recipe* recipe = run.recipe.get();
    if (!ratio || ratio->empty() || !recipe || recipe->stack.depth < 2 || !std::isfinite(ratio->front()))
        return {};
    std::size_t last = ratio->size() - 1;
    while (last > 0 && (run.steps.step[last] > step || !std::isfinite((*ratio)[last]))) --last;
    std::string text = "Gradient, layer 1 over " + std::to_string(recipe->stack.depth) +
                       " (training batch): " + number_text(ratio->front()) + " at step " +
                       std::to_string(run.steps.step.front());
    if (last > 0)
        text += ", " + number_text((*ratio)[last]) + " at step " + std::to_string(run.steps.step[last]);
    return text;
}

/// `where`: outside what.
std::string began_of(const std::vector<Departure>& left, const char* where) {
    if (left.empty()) return {};
    return std::string("First ") + where + ": " + left.front().quantity->title + ", at step " +
           std::to_string(left.front().step);
}

/// Before the outcome.
Headline departed(const std::vector<Departure>& left) {
    if (left.empty()) return {};
    const Departure& first = left.front();
    std::string text = "First " + std::string(first.quantity->title) + " (" + number_text(first.start) +
                       " → " + number_text(first.value) + "), at step " + std::to_string(first.step);
    if (left.size() > 1) text += "; then " + std::to_string(left.size() - 1) + " more";
    return {"Outside the range of runs that learn", {}, text, text, {}};
}

}  // namespace

Headline headline(const RunData& run, std::int64_t step) {
    if (!has_failed(run.outcome)) return {};
    // An outline lacks the first steps.
    const auto left = run.unread ? std::vector<Departure>() : departures(run, step);
    Headline line = departed(left);
    if (run.outcome.step <= step)
        line = {title_of(run),
                measured_of(run),
                began_of(left, "outside the range of runs that learn") +
                    (left.empty() ? "" : "; " + false_alarms_text()),
                began_of(left, "out of its range"),
                {}};
    if (!line.title.empty() && !run.unread) line.gradient = gradient_of(run, step);
    return line;
}

}  // namespace normscope
