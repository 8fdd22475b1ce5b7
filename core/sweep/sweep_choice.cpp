// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_choice.h"

#include "core/sweep/sweep_map.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace normscope {

namespace {

std::vector<std::string> arm_of(const SweepSpec& spec, const SweepRun& run) {
    std::vector<std::string> arm;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        if (!is_chosen(spec, spec.grid[i].key)) arm.push_back(run.values[i]);
    return arm;
}

std::vector<std::string> values_of(const SweepSpec& spec, const SweepRun& run) {
    std::vector<std::string> values;
    for (const std::string& key : spec.choice.keys)
        for (std::size_t i = 0; i < spec.grid.size(); ++i)
            if (spec.grid[i].key == key) values.push_back(run.values[i]);
    return values;
}

std::optional<double> number_of(const std::string& text) {
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(value)
                                                                         : std::nullopt;
}

}  // namespace

bool is_edge(const SweepAxis& axis, const std::string& value) {
    if (axis.values.size() < 2) return false;
    const auto at = number_of(value);
    bool least = at.has_value(), largest = least;
    for (const std::string& other : axis.values) {
        const auto number = number_of(other);
        if (!number) return false;
        least = least && *at <= *number;
        largest = largest && *at >= *number;
    }
    return least || largest;
}

bool is_chosen(const SweepSpec& spec, const std::string& key) {
    return std::find(spec.choice.keys.begin(), spec.choice.keys.end(), key) != spec.choice.keys.end();
}

bool chooses(const SweepSpec& spec, const SweepRun& run) {
    return !spec.choice.keys.empty() && run.index % spec.seeds.size() < spec.choice.seeds;
}

bool is_scored(const SweepSpec& spec, const SweepRun& run, const std::vector<ChosenValues>& chosen) {
    if (chooses(spec, run)) return false;
    const auto arm = arm_of(spec, run);
    return std::any_of(chosen.begin(), chosen.end(), [&](const ChosenValues& one) {
        return one.arm == arm && one.values == values_of(spec, run);
    });
}

std::optional<std::vector<ChosenValues>> chosen_values(const SweepResults& results) {
    const SweepSpec& spec = results.spec;
    if (spec.choice.keys.empty()) return std::nullopt;
    SweepResults choosing{spec, results.runs, {}};
    for (const SweepRow& row : results.rows)
        if (chooses(spec, results.runs[row.run])) choosing.rows.push_back(row);
    if (choosing.rows.size() < spec.runs() / spec.seeds.size() * spec.choice.seeds) return std::nullopt;
    // The arms' keys first, so that the cells of an arm are neighbours.
    std::vector<std::size_t> keys, arm_keys;
    std::size_t values = 1;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        if (!is_chosen(spec, spec.grid[i].key)) arm_keys.push_back(i);
    keys = arm_keys;
    for (const std::string& key : spec.choice.keys)
        for (std::size_t i = 0; i < spec.grid.size(); ++i)
            if (spec.grid[i].key == key) {
                keys.push_back(i);
                values *= spec.grid[i].values.size();
            }
    const std::vector<SweepCell> cells = sweep_cells(choosing, keys);
    constexpr double kNone = std::numeric_limits<double>::infinity();
    std::vector<ChosenValues> chosen;
    for (std::size_t first = 0; first < cells.size(); first += values) {
        std::size_t best = first;
        for (std::size_t i = first; i < first + values; ++i)
            if (cells[i].median_loss.value_or(kNone) < cells[best].median_loss.value_or(kNone)) best = i;
        ChosenValues arm{{}, {}, cells[best].median_loss.value_or(kNone), {}};
        for (std::size_t k = 0; k < keys.size(); ++k) {
            const SweepAxis& axis = spec.grid[keys[k]];
            const std::string& value = axis.values[cells[best].values[k]];
            (k < arm_keys.size() ? arm.arm : arm.values).push_back(value);
            if (k >= arm_keys.size() && is_edge(axis, value)) arm.at_edge.push_back(axis.key);
        }
        chosen.push_back(std::move(arm));
    }
    return chosen;
}

std::string chosen_text(const SweepSpec& spec, const ChosenValues& chosen) {
    std::string text;
    for (std::size_t i = 0; i < spec.choice.keys.size(); ++i)
        text += (i > 0 ? " " : "") + spec.choice.keys[i] + "=" + chosen.values[i];
    if (chosen.at_edge.empty()) return text;
    text += ", at the edge of its grid: ";
    for (std::size_t i = 0; i < chosen.at_edge.size(); ++i) text += (i > 0 ? ", " : "") + chosen.at_edge[i];
    return text;
}

}  // namespace normscope
