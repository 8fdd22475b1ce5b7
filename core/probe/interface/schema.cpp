// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/schema.h"

#include "core/probe/interface/places.h"
#include "core/probe/interface/probe_info.h"

#include <algorithm>
#include <cstring>

namespace normscope {

namespace {

constexpr const char* kErrorSuffix = "_error";

void check_shape(const ArrayInfo& info, const NamedArray& array, const StackSizes& sizes,
                 std::vector<std::string>& problems) {
    if (array.shape.size() != info.axes.size()) {
        problems.push_back(array.name + ": has " + std::to_string(array.shape.size() + 1) +
                           " axes with the samples', needs " + std::to_string(info.axes.size() + 1));
        return;
    }
    for (std::size_t i = 0; i < info.axes.size(); ++i) {
        const std::size_t expected = info.axes[i].expected(sizes);
        if (expected == 0 || array.shape[i] == expected) continue;
        problems.push_back(array.name + ": axis " + info.axes[i].name + " has " +
                           std::to_string(array.shape[i]) + " entries, the recipe's stack has " +
                           std::to_string(expected));
    }
}

/// Axis names and unit, which a file may have from an earlier version but a fresh result may not.
void check_words(const ArrayInfo& info, const NamedArray& array, std::vector<std::string>& problems) {
    std::vector<std::string> axes;
    for (const Axis& axis : info.axes) axes.emplace_back(axis.name);
    if (array.axes != axes) problems.push_back(array.name + ": other axis names than declared");
    if (array.unit != info.unit)
        problems.push_back(array.name + ": unit " + array.unit + ", declared " + info.unit);
}

template <class Each>
void for_each_array(const ProbeInfo& probe, const Each& each) {
    for (const ArrayInfo& info : probe.arrays) {
        each(info, std::string(info.name), false);
        if (info.flags & kAveraged) each(info, std::string(info.name) + kErrorSuffix, true);
    }
}

}  // namespace

const char* needs_text(ProbeNeeds needs) {
    switch (needs) {
        case ProbeNeeds::Nothing:
            return "the parameters alone";
        case ProbeNeeds::Forward:
            return "a forward pass";
        case ProbeNeeds::Backward:
            return "a forward and a backward pass";
        case ProbeNeeds::Tangents:
            return "a forward pass, and tangent passes of its own";
        case ProbeNeeds::Update:
            return "the update of the optimizer";
    }
    return "";
}

const char* cost_word(ProbeCost cost) {
    switch (cost) {
        case ProbeCost::Cheap:
            return "cheap";
        case ProbeCost::Medium:
            return "medium";
        case ProbeCost::Expensive:
            return "expensive";
    }
    return "";
}

std::vector<std::string> shape_problems(const ProbeInfo& probe, const ProbeResult& result,
                                        const StackSizes& sizes) {
    std::vector<std::string> problems;
    for_each_array(probe, [&](const ArrayInfo& info, const std::string& name, bool is_error) {
        if (const NamedArray* array = result.find(name))
            check_shape(info, *array, sizes, problems);
        else if (!is_error && !(info.flags & (kAdded | kOptional)))
            problems.push_back(name + ": missing");
    });
    return problems;
}

std::vector<std::string> schema_problems(const ProbeInfo& probe, const ProbeResult& result,
                                         const StackSizes& sizes) {
    std::vector<std::string> problems, known;
    for_each_array(probe, [&](const ArrayInfo& info, const std::string& name, bool) {
        known.push_back(name);
        const NamedArray* array = result.find(name);
        if (!array) {
            if (!(info.flags & kOptional)) problems.push_back(name + ": missing");
            return;
        }
        check_shape(info, *array, sizes, problems);
        check_words(info, *array, problems);
    });
    for (const NamedArray& array : result.arrays)
        if (std::find(known.begin(), known.end(), array.name) == known.end())
            problems.push_back(array.name + ": not declared");
    for (const auto& [name, words] : result.labels)
        if (name != "sampled" && name != "only" && (name != "formats" || probe.formats.empty()) &&
            std::none_of(probe.labels.begin(), probe.labels.end(),
                         [&name = name](const LabelInfo& label) { return name == label.name; }))
            problems.push_back("label " + name + ": not declared");
    return problems;
}

const ArrayInfo* find_array(const ProbeInfo& probe, const std::string& name) {
    for (const ArrayInfo& info : probe.arrays)
        if (name == info.name) return &info;
    return nullptr;
}

std::vector<std::string> describe_probe(const ProbeInfo& probe) {
    std::vector<std::string> lines{
        std::string(probe.id) + ": " + probe.title + "; needs " + needs_text(probe.needs) + "; " +
            cost_word(probe.cost) + (probe.by_default ? "" : ", measured only where a recipe names it"),
        std::string("  formula: ") + probe.formula, std::string("  source: ") + probe.source};
    for (const ArrayInfo& info : probe.arrays) {
        std::string axes = "sample";
        for (const Axis& axis : info.axes) axes += std::string(", ") + axis.name;
        std::string line = std::string("  ") + info.name + " [" + axes + "]";
        if (std::strcmp(info.unit, "1") != 0) line += std::string(" ") + info.unit;
        line += std::string(": ") + info.meaning;
        if (info.flags & kAveraged) line += std::string("; with ") + info.name + kErrorSuffix;
        if (info.flags & kMayBeNan) line += "; NaN where not defined";
        if (info.flags & kNeedsAll) line += "; NaN under a selection of places";
        lines.push_back(line);
    }
    for (const LabelInfo& label : probe.labels)
        lines.push_back(std::string("  attribute ") + label.name + ": " + label.meaning);
    if (!probe.formats.empty()) {
        std::string names;
        for (const FormatInfo& format : probe.formats)
            names += (names.empty() ? "" : ", ") + std::string(format.name);
        lines.push_back("  a choice of formats (formats) leaves the arrays of others NaN: " + names);
    }
    lines.push_back(has_places(probe)
                        ? "  a selection of places (only) leaves the entries of other places NaN"
                        : "  takes no selection of places: it measures the whole stack");
    return lines;
}

}  // namespace normscope
