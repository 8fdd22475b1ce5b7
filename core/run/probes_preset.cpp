// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/probes_preset.h"

#include "core/probe/interface/places.h"
#include "core/probe/registry.h"
#include "core/run/probe_steps.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

constexpr const char* kPresets[] = {"economy", "standard", "full"};

constexpr double kEconomy = 0.01;  ///< share of the steps' time
constexpr std::int64_t kFirst[] = {0, 2, 8, 32};
constexpr std::int64_t kForever = 999'999'999;

std::vector<const ProbeInfo*> cheap_probes() {
    std::vector<const ProbeInfo*> cheap;
    for (const ProbeInfo& probe : probe_registry())
        if (probe.cost == ProbeCost::Cheap && probe.by_default) cheap.push_back(&probe);
    return cheap;
}

/// Of one sample of all of them: the shared passes run once.
double operations_of(const std::vector<const ProbeInfo*>& probes, const ProbeShape& shape) {
    double own = 0, shared = 0;
    for (const ProbeInfo* probe : probes) {
        own += probe->operations(shape);
        shared = std::max(shared, shared_operations(shape, probe->needs));
    }
    return own + shared;
}

/// The smallest of 10, 20, 50, 100, … that is not below x.
std::int64_t round_stride(double x) {
    for (std::int64_t power = 10;; power *= 10)
        for (const std::int64_t digit : {1, 2, 5})
            if (static_cast<double>(digit * power) >= x) return digit * power;
}

}  // namespace

template <>
std::span<const char* const> words_of<ProbesPreset>() {
    return kPresets;
}

std::vector<ProbePlan> probes_of(ProbesPreset preset, const Recipe& recipe) {
    std::vector<ProbePlan> plans;
    if (preset != ProbesPreset::Economy) {
        for (const ProbeInfo& probe : probe_registry())
            if (preset == ProbesPreset::Full || probe.by_default) plans.push_back({probe.id, 0});
        return plans;
    }
    const ProbeShape shape = probe_shape(recipe);
    const std::vector<const ProbeInfo*> cheap = cheap_probes();
    const std::int64_t stride = round_stride(operations_of(cheap, shape) / step_operations(shape) / kEconomy);
    StepList steps;
    for (const std::int64_t step : kFirst) steps.add({step, step, 1});
    steps.add({(kDenseSteps + stride - 1) / stride * stride, kForever, stride});
    for (const ProbeInfo* probe : cheap) plans.push_back({probe->id, 0, steps.text()});
    return plans;
}

Recipe with_probes_of(ProbesPreset preset, Recipe recipe) {
    recipe.probes = probes_of(preset, recipe);
    plan_probe_steps(recipe);
    return recipe;
}

void select_places(std::vector<ProbePlan>& probes, const PlaceSelection& only) {
    for (ProbePlan& plan : probes)
        if (const ProbeInfo* info = find_probe(plan.id); info && has_places(*info)) plan.only = only.text();
}

std::optional<std::string> common_selection(const std::vector<ProbePlan>& probes) {
    std::optional<std::string> common;
    for (const ProbePlan& plan : probes) {
        const ProbeInfo* info = find_probe(plan.id);
        if (!info || !has_places(*info)) continue;
        if (common && *common != plan.only) return std::nullopt;
        common = plan.only;
    }
    return common ? common : std::string();
}

std::vector<ProbePlan> probes_with(const Recipe& recipe, std::optional<ProbesPreset> preset,
                                   const std::optional<PlaceSelection>& only) {
    std::vector<ProbePlan> probes = preset ? probes_of(*preset, recipe) : recipe.probes;
    if (only)
        select_places(probes, *only);
    else if (preset)
        select_places(probes, PlaceSelection::parse(common_selection(recipe.probes).value_or(""), "only"));
    return probes;
}

ProbesShare predicted_share(const Recipe& recipe) {
    const ProbeShape shape = probe_shape(recipe);
    std::vector<PlannedProbe> probes;
    for (const ProbePlan& plan : recipe.probes) {
        probes.push_back({find_probe(plan.id)->needs, sample_operations(plan, shape), plan.every});
    }
    const std::vector<StepList> lists = probe_steps(recipe);
    const std::int64_t steps = recipe.train.steps;
    const auto share = [&](std::int64_t from, std::int64_t to) {
        if (to < from) return 0.0;
        return planned_operations(shape, probes, lists, from, to) /
               (static_cast<double>(to - from + 1) * step_operations(shape));
    };
    return {share(0, std::min(steps, kDenseSteps) - 1), share(kDenseSteps, steps - 1)};
}

}  // namespace normscope
