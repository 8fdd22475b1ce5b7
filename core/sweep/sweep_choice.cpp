// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_choice.h"

#include "core/base/statistics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

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

struct Arm {
    std::vector<std::vector<std::string>> values;  ///< in the order of the grid
    std::vector<std::vector<double>> losses;       ///< of each
};

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
    std::map<std::size_t, const SweepRow*> rows;
    for (const SweepRow& row : results.rows) rows[row.run] = &row;
    std::vector<std::vector<std::string>> order;
    std::map<std::vector<std::string>, Arm> arms;
    for (const SweepRun& run : results.runs) {
        if (!chooses(spec, run)) continue;
        const auto row = rows.find(run.index);
        if (row == rows.end()) return std::nullopt;
        const auto name = arm_of(spec, run);
        if (!arms.contains(name)) order.push_back(name);
        Arm& arm = arms[name];
        const auto values = values_of(spec, run);
        auto at = static_cast<std::size_t>(std::find(arm.values.begin(), arm.values.end(), values) -
                                           arm.values.begin());
        if (at == arm.values.size()) {
            arm.values.push_back(values);
            arm.losses.emplace_back();
        }
        if (row->second->state == RunState::Failed) continue;
        const double loss = row->second->final_loss.value_or(std::nan(""));
        const bool counts = row->second->state != RunState::Diverged && std::isfinite(loss);
        arm.losses[at].push_back(counts ? loss : std::numeric_limits<double>::infinity());
    }
    std::vector<ChosenValues> chosen;
    for (const auto& name : order) {
        Arm& arm = arms[name];
        ChosenValues best{name, arm.values.front(), std::numeric_limits<double>::infinity(), {}};
        for (std::size_t i = 0; i < arm.values.size(); ++i) {
            if (arm.losses[i].empty()) continue;
            const double loss = median(std::move(arm.losses[i]));
            if (loss < best.loss) {
                best.loss = loss;
                best.values = arm.values[i];
            }
        }
        for (std::size_t k = 0; k < spec.choice.keys.size(); ++k)
            for (const SweepAxis& axis : spec.grid)
                if (axis.key == spec.choice.keys[k] && is_edge(axis, best.values[k]))
                    best.at_edge.push_back(axis.key);
        chosen.push_back(std::move(best));
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
