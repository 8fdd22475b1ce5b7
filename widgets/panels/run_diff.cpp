// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/run_diff.h"

#include "core/recipe/keys.h"
#include "widgets/plots/number_text.h"

#include <algorithm>
#include <map>

namespace normscope::widgets {

namespace {

using Leaves = std::map<std::string, FieldValue>;  // by dotted key

struct KnownKey {
    const char* key;
    const char* name;
};

/// In the order in which a chip names them.
constexpr KnownKey kKnown[] = {
    {"stack.scheme", "scheme"},
    {"stack.depth", "depth"},
    {"stack.d_model", "d"},
    {"stack.residual_step", "Δt"},
    {"stack.temperature", "τ"},
    {"optimizer.lr", "lr"},
    {"seed", "seed"},
    {"precision", "precision"},
    {"precision_policy", "rounded"},
    {"steps", "steps"},
    {"batch", "batch"},
    {"stack.context", "context"},
    {"stack.heads", "heads"},
    {"stack.norm.kind", "norm"},
    {"stack.norm.eps", "ε"},
    {"stack.init.rule", "init"},
    {"stack.gpas.enabled", "GPAS"},
    {"schedule.warmup", "warm-up"},
    {"schedule.lr", "schedule"},
    {"optimizer.kind", "optimizer"},
    {"optimizer.weight_decay", "decay"},
    {"optimizer.clip", "clip"},
    {"optimizer.eps", "optimizer ε"},
    {"data.source", "data"},
};

/// A list's entries are keyed by what names them: a layer override by its layer, a probe by its id.
Leaves leavesOf(const Recipe& recipe) {
    Leaves leaves;
    for (auto& [key, value] : key_values(without_planned_steps(recipe), true)) {
        std::string name = key;
        for (const std::string list : {"stack.layers.", "probes."}) {
            if (key.rfind(list, 0) != 0) continue;
            const std::size_t end = key.find('.', list.size());
            const std::size_t place = std::stoul(key.substr(list.size(), end - list.size()));
            const std::string entry = list == "probes."
                                          ? recipe.probes[place].id
                                          : "layer " + std::to_string(recipe.stack.layers[place].index + 1);
            const std::string inside = key.substr(end + 1);
            name = inside == "index" || inside == "id" ? "" : list + entry + "." + inside;  // part of the key
        }
        if (!name.empty()) leaves[name] = std::move(value);
    }
    return leaves;
}

const FieldValue* find(const Leaves& leaves, const std::string& key) {
    const auto found = leaves.find(key);
    return found == leaves.end() ? nullptr : &found->second;
}

QString nameOfKey(const std::string& key) {
    for (const KnownKey& known : kKnown)
        if (key == known.key) return QString::fromUtf8(known.name);
    QStringList parts = QString::fromStdString(key).split('.', Qt::SkipEmptyParts);
    if (parts.size() > 1) parts.removeFirst();  // the section: stack, data, schedule, …
    if (parts.value(0) == "layers") parts.removeFirst();
    return parts.join(' ').replace('_', ' ');
}

std::size_t rankOfKey(const std::string& key) {
    return std::find_if(std::begin(kKnown), std::end(kKnown),
                        [&key](const KnownKey& known) { return key == known.key; }) -
           std::begin(kKnown);
}

QString textOf(const FieldValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "on" : "off";
    if (const auto* text = std::get_if<std::string>(&value)) return QString::fromStdString(*text);
    if (const auto* real = std::get_if<double>(&value)) return numberText(*real, 6);
    return QString::fromStdString(value_text(value));
}

}  // namespace

std::vector<QStringList> runDifferences(const std::vector<Recipe>& recipes) {
    std::vector<Leaves> all;
    Leaves every_key;
    for (const Recipe& recipe : recipes) {
        all.push_back(leavesOf(recipe));
        every_key.insert(all.back().begin(), all.back().end());
    }
    std::vector<std::string> differing;
    for (const auto& entry : every_key) {
        const std::string& key = entry.first;
        const FieldValue* first = find(all.front(), key);
        const auto agrees = [&](const Leaves& leaves) {
            const FieldValue* mine = find(leaves, key);
            return mine && first ? *mine == *first : mine == first;
        };
        if (!std::all_of(all.begin(), all.end(), agrees)) differing.push_back(key);
    }
    std::stable_sort(differing.begin(), differing.end(),
                     [](const std::string& a, const std::string& b) { return rankOfKey(a) < rankOfKey(b); });

    std::vector<QStringList> texts(recipes.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const std::string& key : differing) {
            const FieldValue* value = find(all[i], key);
            texts[i] << nameOfKey(key) + ' ' + (value ? textOf(*value) : QString("default"));
        }
    return texts;
}

}  // namespace normscope::widgets
