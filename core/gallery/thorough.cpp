// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/thorough.h"

#include "core/run/corpora.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>

namespace normscope {

namespace {

constexpr std::uint64_t kChoosingSeeds[] = {142, 143};

bool has_axis(const SweepSpec& sweep, const char* key) {
    return std::any_of(sweep.grid.begin(), sweep.grid.end(),
                       [&](const SweepAxis& axis) { return axis.key == key; });
}

Recipe base_recipe(const SweepSpec& sweep) {
    return recipe_of(sweep, expand_sweep(sweep).front());
}

/// Without the entry's own choice: its keys and seeds.
SweepSpec without_choice(SweepSpec sweep) {
    std::erase_if(sweep.grid, [&](const SweepAxis& axis) {
        return std::find(sweep.choice.keys.begin(), sweep.choice.keys.end(), axis.key) !=
               sweep.choice.keys.end();
    });
    sweep.seeds.erase(sweep.seeds.begin(),
                      sweep.seeds.begin() + static_cast<std::ptrdiff_t>(sweep.choice.seeds));
    sweep.choice = {};
    return sweep;
}

void choose(SweepSpec& sweep, const char* key, const std::vector<double>& values) {
    if (has_axis(sweep, key)) return;
    SweepAxis axis{key, {}};
    for (const double value : values) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.3g", value);
        std::string text = sweep_value_text(digits);
        if (std::find(axis.values.begin(), axis.values.end(), text) == axis.values.end())
            axis.values.push_back(std::move(text));
    }
    sweep.grid.push_back(std::move(axis));
    sweep.choice.keys.emplace_back(key);
}

ThoroughPart part_of(const GalleryEntry& entry, std::string name, std::string folder,
                     const std::vector<std::string>& settings, bool chooses) {
    ThoroughPart part{std::move(name), std::move(folder), entry};
    SweepSpec& sweep = part.entry.sweep = without_choice(entry.sweep);
    const double rate = base_recipe(sweep).train.optimizer.lr;
    sweep.recipe = with_settings(sweep.recipe, settings, "recipe");
    if (!chooses) return part;
    const int steps = base_recipe(sweep).train.steps;
    const double root = std::sqrt(10.0);
    choose(sweep, "optimizer.lr", {rate / 10, rate / root, rate, rate * root, rate * 10});
    choose(sweep, "schedule.warmup", {0, std::round(steps / 20.0), std::round(steps / 10.0)});
    if (sweep.choice.keys.empty()) return part;
    sweep.choice.seeds = std::size(kChoosingSeeds);
    sweep.seeds.insert(sweep.seeds.begin(), std::begin(kChoosingSeeds), std::end(kChoosingSeeds));
    return part;
}

}  // namespace

std::vector<ThoroughPart> thorough_parts(const GalleryEntry& entry) {
    const Recipe base = base_recipe(without_choice(entry.sweep));
    const bool initial = base.train.steps <= 1 && !has_axis(entry.sweep, "steps");
    const bool lengths = !initial && !has_axis(entry.sweep, "steps");
    std::vector<ThoroughPart> parts;
    const auto steps_setting = [](int steps) { return "steps=" + std::to_string(steps); };
    if (initial) parts.push_back(part_of(entry, "as it is", "as-it-is", {}, false));
    if (lengths)
        for (const int steps : {200, 600, 2000})
            parts.push_back(part_of(entry, std::to_string(steps) + " steps", "steps-" + std::to_string(steps),
                                    {steps_setting(steps)}, true));
    if (!initial && !lengths) parts.push_back(part_of(entry, "as it is", "as-it-is", {}, true));
    const std::vector<std::string> length =
        lengths ? std::vector<std::string>{steps_setting(600)} : std::vector<std::string>{};
    const std::string prefix = lengths ? "600 steps, " : "";
    const auto larger = [&](const char* key, const char* word, int value) {
        if (has_axis(entry.sweep, key)) return;
        std::vector<std::string> settings = length;
        settings.push_back(std::string(key) + "=" + std::to_string(value));
        parts.push_back(
            part_of(entry, prefix + "2 × " + word,
                    (lengths ? "steps-600_" : "") + std::string(word) + "-" + std::to_string(value), settings,
                    !initial));
    };
    larger("stack.depth", "depth", 2 * base.stack.depth);
    larger("stack.d_model", "width", 2 * base.stack.d_model);
    return parts;
}

double training_operations(const GalleryEntry& entry) {
    Corpora corpora;
    const std::vector<SweepRun> runs = expand_sweep(entry.sweep);
    const std::vector<double> each = require_valid(entry.sweep, runs, corpora);
    return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(runs.size()) *
           static_cast<double>(entry.sweep.trained_runs());
}

}  // namespace normscope
