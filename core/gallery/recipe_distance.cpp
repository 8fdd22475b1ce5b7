// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/recipe_distance.h"

#include "core/recipe/keys.h"
#include "core/run/complete.h"

#include <algorithm>
#include <map>

namespace normscope {

namespace {

/// A setting, the recipe's keys that hold it, and what each paper has. [E] Appendix E.1; [G] Section 4.1 with
/// its Table 1 of sizes and its published code; [B] Section 5 with its published code; [K] Section 6, whose
/// base is nanoGPT's GPT-2.
struct Setting {
    const char* what;
    std::vector<const char*> keys;
    std::map<char, const char*> theirs;
};

const std::vector<Setting>& settings() {
    static const std::vector<Setting> all{
        {"layers, width, heads",
         {"stack.depth", "stack.d_model", "stack.heads"},
         {{'e', "36, 1280, 20"},
          {'g', "12, 512, 8 (71M) to 24, 2048, 32 (1B)"},
          {'b', "2, 96 and 128, 4"},
          {'k', "12, 768, 12 (124M) to 48, 1600, 25 (1.5B)"}}},
        {"block",
         {"stack.block"},
         {{'e', "gpt2"}, {'g', "llama"}, {'b', "vision transformer, FFN of 2 d"}, {'k', "gpt2"}}},
        {"context", {"stack.context"}, {{'e', "1024"}, {'g', "256"}, {'b', "65 patches"}, {'k', "1024"}}},
        {"data", {"data.source"}, {{'e', "FineWeb"}, {'g', "C4"}, {'b', "CIFAR-10"}, {'k', "OpenWebText"}}},
        {"sequences a step", {"batch"}, {{'e', "64"}, {'g', "512"}, {'b', "256"}, {'k', "480"}}},
        {"steps",
         {"steps"},
         {{'e', "5000"},
          {'g', "10,000 to 100,000"},
          {'b', "160 (Experiment 1), 195 (2 and 3)"},
          {'k', "20,000 (Table 1), 60,000 to 100,000 (Table 2)"}}},
        {"initialisation, std",
         {"stack.init.rule", "stack.init.std", "stack.init.embedding_std"},
         {{'e', "not stated"},
          {'g', "plain 0.02, embeddings 0.6325"},
          {'b', "not stated"},
          {'k', "gpt2 0.02"}}},
        {"optimizer, β₁ and β₂",
         {"optimizer.kind", "optimizer.betas"},
         {{'e', "AdamW 0.9, 0.95"},
          {'g', "Adam 0.9, 0.999"},
          {'b', "Adam 0.9, 0.999"},
          {'k', "AdamW 0.9, 0.95"}}},
        {"weight decay",
         {"optimizer.weight_decay"},
         {{'e', "0.1"}, {'g', "0"}, {'b', "0"}, {'k', "0.1; 0 in one half of Table 1"}}},
        {"gradient clipping", {"optimizer.clip"}, {{'e', "1"}, {'g', "0"}, {'b', "not stated"}, {'k', "1"}}},
        {"learning rate",
         {"optimizer.lr"},
         {{'e', "3e-4"},
          {'g', "1e-3, of 350M and 1B 5e-4"},
          {'b', "1e-3"},
          {'k', "6e-4, of the larger two not stated"}}},
        {"warm-up, steps",
         {"schedule.warmup"},
         {{'e', "500"}, {'g', "1000 to 10,000"}, {'b', "not stated"}, {'k', "2000"}}},
        {"precision",
         {"precision"},
         {{'e', "BF16"}, {'g', "BF16, weights too"}, {'b', "FP32, BF16, FP16"}, {'k', "16 bits, mixed"}}},
    };
    return all;
}

const std::map<char, const char*>& their_seeds() {
    static const std::map<char, const char*> all{{'e', "42, 123, 456"},
                                                 {'g', "one run a cell, as far as stated"},
                                                 {'b', "0 to 4"},
                                                 {'k', "5 trials (Table 1), one run a cell (Table 2)"}};
    return all;
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds, std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < to; ++i) text += (text.empty() ? "" : ", ") + std::to_string(seeds[i]);
    return text;
}

/// A value of a recipe without quotes: "gpt2".
std::string plain_value(const RecipeKey& key, const Recipe& recipe) {
    std::string text = value_text(key.get(recipe));
    std::erase(text, '"');
    return text;
}

}  // namespace

std::vector<RecipeDistance> recipe_distance(const GalleryEntry& entry) {
    const char paper = entry.own ? 'o' : entry.id.front();
    std::vector<RecipeDistance> rows;
    if (!their_seeds().contains(paper)) return rows;
    std::vector<Recipe> recipes;
    for (const SweepRun& run : expand_sweep(entry.sweep)) {
        Recipe recipe = recipe_of(entry.sweep, run);
        complete_without_data(recipe);
        recipes.push_back(std::move(recipe));
    }
    for (const Setting& setting : settings()) {
        std::vector<std::string> seen;
        for (const Recipe& recipe : recipes) {
            std::string text;
            for (const char* name : setting.keys)
                text += (text.empty() ? "" : ", ") + plain_value(recipe_key(name), recipe);
            if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(text);
        }
        std::string ours;
        for (const std::string& text : seen) ours += (ours.empty() ? "" : "; ") + text;
        rows.push_back({setting.what, setting.theirs.at(paper), ours});
    }
    const SweepSpec& sweep = entry.sweep;
    rows.push_back(
        {"seeds", their_seeds().at(paper), seeds_text(sweep.seeds, sweep.choice.seeds, sweep.seeds.size())});
    std::string keys;
    for (const std::string& key : sweep.choice.keys) keys += (keys.empty() ? "" : ", ") + key;
    rows.push_back({"chosen for each arm",
                    paper == 'k' ? "settings tuned for Pre-LN, the same for all" : "not stated",
                    keys.empty() ? "nothing: the same for all arms"
                                 : keys + ", on seeds " + seeds_text(sweep.seeds, 0, sweep.choice.seeds)});
    return rows;
}

}  // namespace normscope
