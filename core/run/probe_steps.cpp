// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/probe_steps.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/trimmed.h"
#include "core/probe/interface/places.h"
#include "core/probe/registry.h"

#include <algorithm>
#include <sstream>

namespace normscope {

namespace {

const std::string kPlanned = kPlannedSteps;

std::string of_entry(std::size_t i, const char* key) {
    return "probes[" + std::to_string(i) + "]." + key;
}
std::string where(std::size_t i) {
    return of_entry(i, "steps");
}

/// InputError where the text cannot be parsed, or where the probe has no places.
PlaceSelection selection_of(const ProbePlan& plan, std::size_t i) {
    PlaceSelection selection = PlaceSelection::parse(plan.only, of_entry(i, "only"));
    if (const ProbeInfo* probe = find_probe(plan.id);
        probe && !selection.everything() && !has_places(*probe)) {
        std::string allowed;
        for (const ProbeInfo& other : probe_registry())
            if (has_places(other)) allowed += (allowed.empty() ? "" : ", ") + std::string(other.id);
        throw InputError(of_entry(i, "only"), plan.id + " measures the whole stack", "with " + allowed);
    }
    return selection;
}

/// The formats of an entry. InputError where one is not known, or where the probe has none.
std::vector<std::string> formats_of(const ProbePlan& plan, std::size_t i) {
    std::vector<std::string> chosen;
    const ProbeInfo* probe = find_probe(plan.id);
    if (!probe || trimmed(plan.formats).empty()) return chosen;
    std::string allowed;
    if (probe->formats.empty()) {
        for (const ProbeInfo& other : probe_registry())
            if (!other.formats.empty()) allowed += (allowed.empty() ? "" : ", ") + std::string(other.id);
        throw InputError(of_entry(i, "formats"), plan.id + " has no formats", "with " + allowed);
    }
    for (const FormatInfo& format : probe->formats)
        allowed += (allowed.empty() ? "" : ", ") + std::string(format.name);
    std::istringstream parts(plan.formats + ",");
    for (std::string part; std::getline(parts, part, ',');) {
        const std::string name = trimmed(part);
        if (std::none_of(probe->formats.begin(), probe->formats.end(),
                         [&](const FormatInfo& format) { return name == format.name; }))
            throw InputError(of_entry(i, "formats"), "\"" + printable(name) + "\" is not known", allowed);
        if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
    }
    return chosen;
}

/// The steps of a text "auto 0:49,…" or "0:49,…".
StepList listed(const std::string& text, const std::string& where) {
    return StepList::parse(text.rfind(kPlanned + " ", 0) == 0 ? text.substr(kPlanned.size() + 1) : text,
                           where);
}

std::vector<StepList> planned(const Recipe& recipe) {
    const ProbeShape shape = probe_shape(recipe);
    std::vector<PlannedProbe> probes;
    for (const ProbePlan& plan : recipe.probes) {
        const ProbeInfo* info = find_probe(plan.id);
        // Steps chosen by the user are outside the plan's budgets.
        const int every = steps_are_planned(plan) ? plan.every : 1;
        probes.push_back({info->needs, sample_operations(plan, shape), every});
    }
    return plan_cadence(shape, probes, recipe.train.steps);
}

}  // namespace

double sample_operations(const ProbePlan& plan, const ProbeShape& shape) {
    const ProbeInfo& probe = *find_probe(plan.id);
    const double all = selected_operations(probe, shape, PlaceSelection::parse(plan.only, "only"));
    const std::vector<std::string> chosen = formats_of(plan, 0);
    if (chosen.empty()) return all;
    double share = 0;
    for (const FormatInfo& format : probe.formats)
        if (std::find(chosen.begin(), chosen.end(), format.name) != chosen.end()) share += format.share;
    return share * all;
}

std::map<std::string, std::vector<std::string>> probe_formats(const Recipe& recipe) {
    std::map<std::string, std::vector<std::string>> formats;
    for (std::size_t i = 0; i < recipe.probes.size(); ++i)
        if (auto chosen = formats_of(recipe.probes[i], i); !chosen.empty())
            formats.emplace(recipe.probes[i].id, std::move(chosen));
    return formats;
}

std::map<std::string, PlaceSelection> probe_selections(const Recipe& recipe) {
    std::map<std::string, PlaceSelection> selections;
    for (std::size_t i = 0; i < recipe.probes.size(); ++i)
        if (const PlaceSelection only = selection_of(recipe.probes[i], i); !only.everything())
            selections.emplace(recipe.probes[i].id, only);
    return selections;
}

void validate_selections(const Recipe& recipe) {
    for (std::size_t i = 0; i < recipe.probes.size(); ++i)
        selection_of(recipe.probes[i], i).check(recipe.stack.depth, of_entry(i, "only"));
}

ProbeShape probe_shape(const Recipe& recipe) {
    return probe_shape(recipe.stack, recipe.train.batch, recipe.train.accumulate);
}

void validate_probes(const Recipe& recipe) {
    std::string allowed;
    for (const auto& probe : probe_registry())
        allowed += (allowed.empty() ? "" : ", ") + std::string(probe.id);
    for (std::size_t i = 0; i < recipe.probes.size(); ++i) {
        const ProbePlan& plan = recipe.probes[i];
        if (!find_probe(plan.id))
            throw InputError("probes[" + std::to_string(i) + "].id", "\"" + plan.id + "\" is not known",
                             allowed);
        selection_of(plan, i);
        formats_of(plan, i);
        if (steps_are_planned(plan)) continue;
        if (plan.every > 0)
            throw InputError(where(i), "are combined with \"every\": " + std::to_string(plan.every),
                             "one of the two");
        StepList::parse(plan.steps, where(i));
    }
}

void plan_probe_steps(Recipe& recipe) {
    validate_probes(recipe);
    validate_selections(recipe);
    for (ProbePlan& plan : recipe.probes)
        if (steps_are_planned(plan)) plan.steps.clear();
    const std::vector<StepList> lists = planned(recipe);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        ProbePlan& plan = recipe.probes[i];
        if (plan.every == 0 && steps_are_planned(plan)) plan.steps = kPlanned + " " + lists[i].text();
    }
}

std::vector<StepList> probe_steps(const Recipe& recipe) {
    std::vector<StepList> lists = planned(recipe);
    const std::int64_t last = std::max(0, recipe.train.steps - 1);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const ProbePlan& plan = recipe.probes[i];
        if (plan.every > 0 || plan.steps.empty() || plan.steps == kPlanned) continue;
        const StepList given = listed(plan.steps, where(i));
        StepList list;
        list.add({0, 0, 1});
        for (const StepRange& r : given.ranges()) {
            // Step 0 is already included; after the last step there is nothing to measure.
            const std::int64_t first = r.first == 0 ? r.stride : r.first;
            list.add({first, std::min(r.last, last - 1), r.stride});
        }
        if (last > 0) list.add({last, last, 1});
        lists[i] = list;
    }
    return lists;
}

std::string sampled_text(const ProbeShape& shape) {
    const auto of = [](int part, int whole) {
        return part == whole ? std::to_string(whole) : std::to_string(part) + " of " + std::to_string(whole);
    };
    std::string text = of(shape.sequences, kProbeSequences) + " sequences";
    if (shape.length < shape.context) text += ", " + of(shape.length, shape.context) + " tokens";
    return text;
}

}  // namespace normscope
