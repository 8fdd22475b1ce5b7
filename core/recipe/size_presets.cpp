// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/size_presets.h"

#include "core/base/strict_json.h"
#include "core/recipe/recipe.h"
#include "core/stack/size_table.h"

#include <string>
#include <vector>

namespace normscope {

namespace {

Recipe recipe_of(const SizeRow& row) {
    const bool llama = row.block == Block::Llama;
    Recipe recipe;
    recipe.stack = stack_of(row);
    TrainSpec& train = recipe.train;
    // The largest micro-batch that fits into memory; the sum over a step is the source's batch.
    train.batch = llama ? 8 : 12;
    train.accumulate = row.sequences / train.batch;
    // [G]'s Adam has no decay, where Adam and AdamW are one.
    train.optimizer = {OptimizerKind::AdamW, row.lr,  {0.9, llama ? 0.999 : 0.95}, 1e-8,
                       llama ? 0.0 : 0.1,    row.clip};
    train.schedule.warmup = row.warmup;
    train.steps = row.steps;
    return recipe;
}

std::string title_of(const SizeRow& row) {
    const std::string name = row.name;
    const auto dash = name.find('-');
    std::string size = name.substr(dash + 1);
    size.back() = size.back() == 'm' ? 'M' : 'B';
    return (row.block == Block::Llama ? "LLaMA " : "GPT-2 ") + size;
}

std::string description_of(const SizeRow& row) {
    const char* source =
        row.block == Block::Llama
            ? "Sizes, batch and schedule of [G]; Adam without decay, token embeddings drawn at 0.6325."
            : "Sizes, batch and schedule of nanoGPT, GELU in GPT-2's tanh form.";
    return std::string(source) +
           (row.published ? ""
                          : " Learning rate, warm-up and steps are those of the nearest size that has them.");
}

struct Text {
    std::string json;
    explicit Text(const SizeRow& row) {
        const Recipe recipe = recipe_of(row);
        auto object = strict_ordered_json(recipe_json(recipe), row.name);
        object["title"] = title_of(row);
        object["description"] = description_of(row);
        json = json_text(object, 2);
    }
};

}  // namespace

std::span<const Preset> size_presets() {
    static const auto texts = [] {
        std::vector<Text> all;
        for (const SizeRow& row : size_table()) all.emplace_back(row);
        return all;
    }();
    static const auto rows = [] {
        std::vector<Preset> all;
        for (std::size_t i = 0; i < texts.size(); ++i)
            all.push_back({size_table()[i].name, texts[i].json.c_str()});
        return all;
    }();
    return rows;
}

}  // namespace normscope
