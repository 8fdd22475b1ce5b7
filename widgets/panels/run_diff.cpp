// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/run_diff.h"

#include "core/stack/error.h"
#include "widgets/plots/number_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace normscope::widgets {

namespace {

using nlohmann::json;
using Leaves = std::map<std::string, json>;  // JSON pointer -> value

struct KnownKey {
    const char* pointer;
    const char* name;
};

/// In the order in which a chip names them.
constexpr KnownKey kKnown[] = {
    {"/stack/scheme", "scheme"},
    {"/stack/depth", "depth"},
    {"/stack/d_model", "d"},
    {"/stack/residual_step", "Δt"},
    {"/stack/temperature", "τ"},
    {"/optimizer/lr", "lr"},
    {"/seed", "seed"},
    {"/precision", "precision"},
    {"/precision_policy", "rounded"},
    {"/steps", "steps"},
    {"/batch", "batch"},
    {"/stack/context", "context"},
    {"/stack/heads", "heads"},
    {"/stack/norm/kind", "norm"},
    {"/stack/norm/eps", "ε"},
    {"/stack/init/rule", "init"},
    {"/stack/gpas/enabled", "GPAS"},
    {"/schedule/warmup", "warm-up"},
    {"/schedule/lr", "schedule"},
    {"/optimizer/kind", "optimizer"},
    {"/optimizer/weight_decay", "decay"},
    {"/optimizer/clip", "clip"},
    {"/optimizer/eps", "optimizer ε"},
    {"/data/source", "data"},
};

/// A list of objects is keyed by the identity of its entries: a layer override by its index, a probe by its
/// id.
std::string entryKey(const json& entry, std::size_t place) {
    if (entry.contains("index") && entry["index"].is_number_integer())
        return "layer " + std::to_string(entry["index"].get<std::int64_t>() + 1);
    if (entry.contains("id") && entry["id"].is_string()) return entry["id"].get<std::string>();
    return std::to_string(place + 1);
}

void collect(const json& value, const std::string& pointer, Leaves& leaves) {
    if (value.is_object()) {
        for (const auto& [key, child] : value.items()) collect(child, pointer + '/' + key, leaves);
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            json entry = value[i];
            const std::string key = entryKey(entry, i);
            entry.erase("index");  // it is in the key
            // Planned steps are ignored: they follow from the other keys.
            if (entry.contains("steps") && entry["steps"].is_string() &&
                entry["steps"].get<std::string>().starts_with("auto"))
                entry.erase("steps");
            collect(entry, pointer + '/' + key, leaves);
        }
    } else if (!value.is_array() || !value.empty()) {  // an empty list is no difference
        leaves[pointer] = value;
    }
}

const json* find(const Leaves& leaves, const std::string& pointer) {
    const auto found = leaves.find(pointer);
    return found == leaves.end() ? nullptr : &found->second;
}

QString nameOfKey(const std::string& pointer) {
    for (const KnownKey& known : kKnown)
        if (pointer == known.pointer) return QString::fromUtf8(known.name);
    QStringList parts = QString::fromStdString(pointer).split('/', Qt::SkipEmptyParts);
    if (parts.size() > 1) parts.removeFirst();  // the section: stack, data, schedule, …
    if (parts.value(0) == "layers") parts.removeFirst();
    return parts.join(' ').replace('_', ' ');
}

std::size_t rankOfKey(const std::string& pointer) {
    return std::find_if(std::begin(kKnown), std::end(kKnown),
                        [&pointer](const KnownKey& known) { return pointer == known.pointer; }) -
           std::begin(kKnown);
}

QString textOf(const json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    if (value.is_string()) return QString::fromStdString(value.get<std::string>());
    if (value.is_number_float()) return numberText(value.get<double>(), 6);
    return QString::fromStdString(value.dump());
}

}  // namespace

std::vector<QStringList> runDifferences(const std::vector<std::string>& recipes) {
    std::vector<Leaves> all;
    Leaves every_key;
    for (const std::string& text : recipes) {
        const json recipe = json::parse(text, nullptr, false);
        if (!recipe.is_object()) throw InputError("recipe", "not a JSON object", "");
        collect(recipe, "", all.emplace_back());
        every_key.insert(all.back().begin(), all.back().end());
    }
    std::vector<std::string> differing;
    for (const auto& entry : every_key) {
        const std::string& key = entry.first;
        const json* first = find(all.front(), key);
        const auto agrees = [&](const Leaves& leaves) {
            const json* mine = find(leaves, key);
            return mine && first ? *mine == *first : mine == first;
        };
        if (!std::all_of(all.begin(), all.end(), agrees)) differing.push_back(key);
    }
    std::stable_sort(differing.begin(), differing.end(),
                     [](const std::string& a, const std::string& b) { return rankOfKey(a) < rankOfKey(b); });

    std::vector<QStringList> texts(recipes.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const std::string& key : differing) {
            const json* value = find(all[i], key);
            texts[i] << nameOfKey(key) + ' ' + (value ? textOf(*value) : QString("default"));
        }
    return texts;
}

}  // namespace normscope::widgets
