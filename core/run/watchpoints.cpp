// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/watchpoints.h"

#include "core/base/error.h"
#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace normscope {

namespace {

constexpr const char* kAttention = "attention";

/// The value of a quantity that lies furthest to the side of the comparator, and its place among several.
struct Furthest {
    double value;
    std::size_t index = 0;
};

std::optional<Furthest> furthest(std::span<const double> values, WatchComparator is) {
    std::optional<Furthest> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        const bool further =
            !found || (is == WatchComparator::Above ? values[i] > found->value : values[i] < found->value);
        if (further) found = {values[i], i};
    }
    return found;
}

std::optional<Furthest> measured(const WatchSpec& spec, const WatchedStep& step) {
    const auto one = [&](double value) { return furthest({&value, 1}, spec.is); };
    switch (spec.quantity) {
        case WatchQuantity::GradNorm:
            return one(step.grad_norm);
        case WatchQuantity::GradRatio:
            return one(step.grad_ratio);
        case WatchQuantity::Loss:
            return one(step.loss);
        case WatchQuantity::HiddenRms:
            return furthest(step.hidden_rms, spec.is);
        case WatchQuantity::NonFinite: {
            const bool finite = std::isfinite(step.loss) && std::isfinite(step.grad_norm) &&
                                std::all_of(step.hidden_rms.begin(), step.hidden_rms.end(),
                                            [](double rms) { return std::isfinite(rms); });
            return one(finite ? 0 : 1);
        }
        case WatchQuantity::Entropy:
            break;
    }
    const NamedArray* entropy = step.attention ? step.attention->find("entropy") : nullptr;
    return entropy ? furthest(entropy->data, spec.is) : std::nullopt;
}

/// Which of the hidden states or heads it is; empty where there is one value.
std::string place(const WatchSpec& spec, const WatchedStep& step, std::size_t index) {
    if (spec.quantity == WatchQuantity::HiddenRms) {
        if (index == 0) return " in the embedding";
        return std::string(index % 2 == 1 ? " after the first sub-layer of layer " : " after layer ") +
               std::to_string((index + 1) / 2);
    }
    if (spec.quantity == WatchQuantity::Entropy) {
        const std::size_t heads = step.attention->find("entropy")->shape.at(1);
        return " in layer " + std::to_string(index / heads + 1) + ", head " +
               std::to_string(index % heads + 1);
    }
    return {};
}

}  // namespace

void validate_watch(const Recipe& recipe) {
    const bool attention = std::any_of(recipe.probes.begin(), recipe.probes.end(),
                                       [](const ProbePlan& plan) { return plan.id == kAttention; });
    for (std::size_t i = 0; i < recipe.watch.size(); ++i)
        if (recipe.watch[i].quantity == WatchQuantity::Entropy && !attention)
            throw InputError("watch[" + std::to_string(i) + "].quantity",
                             "entropy is measured by the probe attention, which is not in this recipe",
                             "entropy with the probe attention in probes");
}

Watchpoints::Watchpoints(std::vector<WatchSpec> list) : list_(std::move(list)), inside_(list_.size(), 0) {}

void Watchpoints::set(std::vector<WatchSpec> list) {
    const Watchpoints before = std::move(*this);
    *this = Watchpoints(std::move(list));
    restore(before.list_, before.inside_);
}

void Watchpoints::restore(const std::vector<WatchSpec>& list, const std::vector<std::int64_t>& state) {
    for (std::size_t i = 0; i < list_.size(); ++i)
        for (std::size_t j = 0; j < list.size(); ++j)
            if (list[j] == list_[i]) inside_[i] = state.at(j);
}

std::vector<std::string> Watchpoints::add(const WatchedStep& step) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < list_.size(); ++i) {
        const WatchSpec& spec = list_[i];
        const std::optional<Furthest> now = measured(spec, step);
        if (!now) continue;
        const bool holds =
            spec.is == WatchComparator::Above ? now->value > spec.value : now->value < spec.value;
        if (holds && inside_[i] == 0) {
            if (spec.quantity == WatchQuantity::NonFinite)
                lines.push_back("a value that is not finite: loss " + plain_number(step.loss) +
                                ", gradient norm " + plain_number(step.grad_norm));
            else
                lines.push_back(std::string(word_of(spec.quantity)) + " " + plain_number(now->value) + " " +
                                word_of(spec.is) + " " + plain_number(spec.value) +
                                place(spec, step, now->index));
        }
        inside_[i] = holds ? 1 : 0;
    }
    return lines;
}

}  // namespace normscope
