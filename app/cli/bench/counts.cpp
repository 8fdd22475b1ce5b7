// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench/counts.h"

#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"
#include "core/run/step_count.h"

#include <cstdio>
#include <iostream>

namespace normscope::app {

namespace {

struct Shape {
    const char* name;
    std::vector<std::string> settings;
};

/// Without precision; steps of these are timed on cards too (tests/gpu/peer.py).
const std::vector<Shape>& shapes() {
    const auto shape = [](int depth, int width, int heads, int context, int batch, int vocab) {
        const auto set = [](const char* key, int value) {
            return std::string(key) + "=" + std::to_string(value);
        };
        return std::vector<std::string>{set("stack.depth", depth), set("stack.d_model", width),
                                        set("stack.heads", heads), set("stack.context", context),
                                        set("stack.vocab", vocab), set("batch", batch)};
    };
    const auto tied = [](std::vector<std::string> settings) {
        settings.emplace_back("stack.tied_head=true");
        return settings;
    };
    static const std::vector<Shape> all{
        {"L4 d128 T128 B32 V256", shape(4, 128, 4, 128, 32, 256)},
        {"L6 d256 T256 B32 V256", shape(6, 256, 8, 256, 32, 256)},
        {"L6 d64 T64 B16 V65", shape(6, 64, 4, 64, 16, 65)},
        {"124M L12 d768 T1024 B8 V50257 tied", tied(shape(12, 768, 12, 1024, 8, 50257))},
        {"774M L36 d1280 T1024 B8 V50257 tied", tied(shape(36, 1280, 20, 1024, 8, 50257))},
    };
    return all;
}

void print(const std::string& what, const Recipe& recipe, const StepCount& count, const Card& card) {
    std::cout << what << ": " << totals_text(count) << "\n  " << card.name << ": "
              << time_text(count, recipe.train, recipe.stack) << "\n";
    char line[160];
    std::snprintf(line, sizeof line, "  %-22s %6s %10s %10s %9s %7s  %s\n", "operation", "calls", "bytes",
                  "FLOP", "µs", "share", "limited by");
    std::cout << line;
    for (const CountedOperation& o : count.operations) {
        std::snprintf(line, sizeof line, "  %-22s %6zu %10s %10s %8.1f %6.1f%%  %s\n", o.name.c_str(),
                      o.calls, with_prefix(o.bytes, "B").c_str(), with_prefix(o.flops, "").c_str(),
                      o.counted_seconds * 1e6, 100 * o.counted_seconds / count.counted_seconds,
                      limit_word(o.limit));
        std::cout << line;
    }
    std::cout << std::flush;
}

nlohmann::ordered_json json_of(const std::string& what, const Recipe& recipe, const StepCount& count,
                               const Card& card) {
    const double tokens =
        static_cast<double>(recipe.train.batch) * recipe.train.accumulate * recipe.stack.context;
    nlohmann::ordered_json operations = nlohmann::ordered_json::array();
    for (const CountedOperation& o : count.operations)
        operations.push_back({{"name", o.name},
                              {"calls", o.calls},
                              {"bytes", o.bytes},
                              {"flops", o.flops},
                              {"us", o.counted_seconds * 1e6},
                              {"limited_by", limit_word(o.limit)}});
    return {{"what", what},
            {"calls", count.calls},
            {"gemms", count.gemms},
            {"bytes", count.bytes},
            {"flops", count.flops},
            {"card", card.id},
            {"ms", count.counted_seconds * 1e3},
            {"steps_per_s", 1 / count.counted_seconds},
            {"tokens_per_s", tokens / count.counted_seconds},
            {"operations", std::move(operations)}};
}

}  // namespace

std::string card_ids() {
    std::string ids;
    for (const Card& card : cards()) ids += (ids.empty() ? "" : ", ") + std::string(card.id);
    return ids;
}

void print_counts(const CountOptions& options) {
    const Card& card = card_named(options.card);
    const auto one = [&](const std::string& what, const std::string& file,
                         std::vector<std::string> settings) {
        if (what.find(options.only) == std::string::npos) return;
        settings.emplace_back("validate.every=0");
        Recipe recipe = read_recipe(file, settings);
        complete_and_validate(recipe);
        const StepCount count = count_step(recipe, card);
        if (options.json)
            std::cout << json_text(json_of(what, recipe, count, card)) << std::endl;
        else
            print(what, recipe, count, card);
    };
    if (!options.recipe.empty()) return one(options.recipe, options.recipe, options.settings);
    for (const Shape& shape : shapes())
        for (const std::string precision : {"bf16", "fp32"}) {
            std::vector<std::string> settings = shape.settings;
            settings.insert(settings.end(), options.settings.begin(), options.settings.end());
            settings.push_back("precision=" + precision);
            if (precision == "bf16") settings.emplace_back("precision_policy=autocast");
            one(std::string(shape.name) + " " + precision, "pre-ln", std::move(settings));
        }
}

}  // namespace normscope::app
