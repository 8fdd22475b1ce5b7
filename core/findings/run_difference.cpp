// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/run_difference.h"

#include "core/base/nan.h"
#include "core/findings/place_words.h"
#include "core/recipe/keys.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

double relative_difference(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return kNaN;
    const double size = std::max(std::abs(a), std::abs(b));
    return size == 0 ? 0 : std::abs(a - b) / size;
}

bool same_bits(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

/// "probes/growth/rms"
std::string series_of(const char* probe, const char* name) {
    std::string series = "probes/";
    series.append(probe).append("/").append(name);
    return series;
}

/// The two runs at one step.
class StepComparison {
  public:
    StepComparison(const RunData& a, const RunData& b, std::int64_t step, double tolerance,
                   RunDifference& result)
        : a_(a), b_(b), step_(step), tolerance_(tolerance), result_(result) {}

    void column(const char* name, std::size_t row_a, std::size_t row_b, const std::string& place) {
        const auto *of_a = a_.steps.find(name), *of_b = b_.steps.find(name);
        if (of_a && of_b) number((*of_a)[row_a], (*of_b)[row_b], place, std::string("steps/") + name, -1);
    }

    void batches(std::size_t row_a, std::size_t row_b) {
        const auto *of_a = a_.steps.find("batch_hash"), *of_b = b_.steps.find("batch_hash");
        if (!of_a || !of_b || a_.external() != b_.external()) return;
        const double hash_a = (*of_a)[row_a], hash_b = (*of_b)[row_b];
        // Hashes are no sizes: any difference is one of the data.
        if (!std::isnan(hash_a) && !std::isnan(hash_b) && hash_a != hash_b)
            found({step_, "data: another batch", "steps/batch_hash", -1, hash_a, hash_b, 1}, true);
    }

    /// Of an array over hidden states or sub-layers; `backward`: from its last entry that both have.
    template <class Place>
    void array(const char* probe, const char* name, bool backward, const Place& place, bool of_states) {
        const NamedArray *of_a = find(a_, probe, name), *of_b = find(b_, probe, name);
        if (!of_a || !of_b) return;
        const std::size_t count = std::min(of_a->data.size(), of_b->data.size());
        for (std::size_t i = 0; i < count; ++i) {
            // Backward from each run's own end: gradients begin at the loss.
            const std::size_t back = count - 1 - i;
            const std::size_t at_a = backward ? of_a->data.size() - 1 - i : i,
                              at_b = backward ? of_b->data.size() - 1 - i : i;
            const std::size_t k = backward ? back : i;
            const int layer =
                of_states ? (k == 0 ? -1 : static_cast<int>((k - 1) / 2)) : static_cast<int>(k / 2);
            number(of_a->data[at_a], of_b->data[at_b], place(k), series_of(probe, name), layer);
        }
    }

    /// Groups by name.
    void updates() {
        const ProbeResult *of_a = a_.sample_of("updates", step_), *of_b = b_.sample_of("updates", step_);
        if (!of_a || !of_b) return;
        const auto names_a = of_a->labels.find("groups"), names_b = of_b->labels.find("groups");
        const NamedArray *ratio_a = of_a->find("update_ratio"), *ratio_b = of_b->find("update_ratio");
        if (!ratio_a || !ratio_b || names_a == of_a->labels.end() || names_b == of_b->labels.end()) return;
        for (std::size_t i = 0; i < std::min(names_a->second.size(), ratio_a->data.size()); ++i) {
            const auto other = std::find(names_b->second.begin(), names_b->second.end(), names_a->second[i]);
            const auto at = static_cast<std::size_t>(other - names_b->second.begin());
            if (at < ratio_b->data.size())
                number(ratio_a->data[i], ratio_b->data[at], "update of " + names_a->second[i],
                       "probes/updates/update_ratio", -1);
        }
    }

  private:
    const NamedArray* find(const RunData& run, const char* probe, const char* name) const {
        const ProbeResult* sample = run.sample_of(probe, step_);
        return sample ? sample->find(name) : nullptr;
    }

    void number(double a, double b, const std::string& place, const std::string& series, int layer) {
        if (same_bits(a, b) || (result_.first && result_.first_bit)) return;
        const double relative = relative_difference(a, b);
        // Gradients are sums that cancel; Adam divides an update by the size of its gradient, however small.
        const double factor = place.starts_with("update")                                     ? 1000
                              : place.starts_with("gradient") || place.starts_with("norm of") ? 10
                                                                                              : 1;
        found({step_, place, series, layer, a, b, relative}, !(relative <= factor * tolerance_));
    }

    void found(const DifferentPlace& place, bool beyond) {
        if (!result_.first_bit) result_.first_bit = place;
        if (beyond && !result_.first) result_.first = place;
    }

    const RunData &a_, &b_;
    std::int64_t step_;
    double tolerance_;
    RunDifference& result_;
};

std::vector<RecipeDifference> recipes(const RunData& a, const RunData& b) {
    std::vector<RecipeDifference> different;  // lists too: which probes, which layers by hand
    const Recipe *of_a = a.recipe.get(), *of_b = b.recipe.get();
    if (!of_a || !of_b) return different;
    for (const RecipeKey& key : recipe_keys()) {
        if (key.same(*of_a, *of_b)) continue;
        const auto text = [&](const Recipe& of) {
            return key.is_list() ? std::string("a list") : value_text(key.get(of));
        };
        different.push_back({key.name, text(*of_a), text(*of_b)});
    }
    return different;
}

void name_what_is_not_compared(const RunData& a, const RunData& b, std::vector<std::string>& to) {
    const auto alone = [&](const RunData& one, const RunData& other, const char* name) {
        for (const auto& [probe, samples] : one.probes)
            if (!other.probes.count(probe))
                to.push_back(std::string(probe).append(" is in ").append(name).append(" alone"));
    };
    alone(a, b, "A");
    alone(b, a, "B");
    if (a.external() != b.external())
        to.push_back(std::string("the batch: probes of ")
                         .append(a.external() ? "A" : "B")
                         .append(" are of its training batches, those of the other of held-out ones; what "
                                 "depends on the size "
                                 "of a batch (variance, gradients of hidden states) is left"));
    const Recipe *of_a = a.recipe.get(), *of_b = b.recipe.get();
    if (of_a && of_b && of_a->stack.depth != of_b->stack.depth) {
        const auto [both, deeper] = std::minmax(of_a->stack.depth, of_b->stack.depth);
        to.push_back(std::string("layers ")
                         .append(std::to_string(both + 1))
                         .append(" to ")
                         .append(std::to_string(deeper))
                         .append(of_a->stack.depth == deeper ? " are in A alone" : " are in B alone"));
    }
    if (a.steps.rows() != b.steps.rows())
        to.push_back(std::string("A has ")
                         .append(std::to_string(a.steps.rows()))
                         .append(" steps, B ")
                         .append(std::to_string(b.steps.rows())));
}

double stream_distance(const RunData& a, const RunData& b, std::int64_t step) {
    const ProbeResult *of_a = a.sample_of("growth", step), *of_b = b.sample_of("growth", step);
    const NamedArray *rms_a = of_a ? of_a->find("rms") : nullptr, *rms_b = of_b ? of_b->find("rms") : nullptr;
    if (!rms_a || !rms_b) return kNaN;
    double largest = 0;
    for (std::size_t k = 0; k < std::min(rms_a->data.size(), rms_b->data.size()); ++k)
        largest = std::fmax(largest, relative_difference(rms_a->data[k], rms_b->data[k]));
    return largest;
}

}  // namespace

double rounding_tolerance(const RunData& a, const RunData& b) {
    double tolerance = 0;
    for (const RunData* run : {&a, &b}) {
        const Recipe* recipe = run->recipe.get();
        const Precision precision = recipe ? recipe->train.precision : Precision::Fp32;
        tolerance = std::max(tolerance, precision == Precision::Fp64   ? 1e-12
                                        : precision == Precision::Fp32 ? 1e-6
                                                                       : 1e-2);
    }
    return tolerance;
}

RunDifference difference_of(const RunData& a, const RunData& b, double tolerance) {
    RunDifference result;
    result.tolerance = tolerance;
    result.recipe = recipes(a, b);
    name_what_is_not_compared(a, b, result.not_compared);
    const auto &steps_a = a.steps.step, &steps_b = b.steps.step;
    std::size_t row_b = 0;
    std::int64_t next_shown = 0;
    const auto* loss_a = a.steps.find("loss");
    const auto* loss_b = b.steps.find("loss");
    const auto shown = [&](std::size_t of_a, std::size_t of_b) {
        return StepDistance{steps_a[of_a], loss_a && loss_b ? (*loss_b)[of_b] - (*loss_a)[of_a] : kNaN,
                            stream_distance(a, b, steps_a[of_a])};
    };
    std::optional<StepDistance> last;
    for (std::size_t row_a = 0; row_a < steps_a.size(); ++row_a) {
        const std::int64_t step = steps_a[row_a];
        while (row_b < steps_b.size() && steps_b[row_b] < step) ++row_b;
        if (row_b == steps_b.size()) break;
        if (steps_b[row_b] != step) continue;
        ++result.steps_compared;
        if (!result.first || !result.first_bit) {
            StepComparison here(a, b, step, tolerance, result);
            here.batches(row_a, row_b);
            // Two numbers depend on the size of the batch: the variance, which divides by one less than its
            // entries, and the gradients of hidden states, which share the mean of its losses.
            const bool same_batches = a.external() == b.external();
            for (const char* quantity : {"rms", "ma"})
                here.array("growth", quantity, false, state_words, true);
            if (same_batches) here.array("growth", "var", false, state_words, true);
            here.column("loss", row_a, row_b, "loss");
            if (same_batches)
                here.array(
                    "gradients", "hidden", true,
                    [](std::size_t k) { return "gradient at " + state_words(k); }, true);
            here.array(
                "gradients", "params", true,
                [](std::size_t i) { return "gradient of the parameters of " + layer_words(i); }, false);
            here.column("grad_norm", row_a, row_b, "norm of the whole gradient");
            here.column("lr", row_a, row_b, "learning rate");
            here.updates();
        }
        last = shown(row_a, row_b);
        if (step >= next_shown) {
            result.growth.push_back(*last);
            next_shown = step == 0 ? 1 : 2 * step;
        }
    }
    if (last && !result.growth.empty() && result.growth.back().step != last->step)
        result.growth.push_back(*last);
    return result;
}

}  // namespace normscope
