// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/run_diff.h"

#include "core/recipe/keys.h"
#include "widgets/figures/number_text.h"
#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <map>
#include <set>

namespace normscope::widgets {

namespace {

using LeavesByKey = std::map<std::string, FieldValue>;  // by dotted key

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
LeavesByKey leavesOf(const Recipe& recipe) {
    LeavesByKey leaves;
    Recipe compared = without_planned_steps(recipe);
    compared.watch.clear();  // it changes nothing of a run
    for (auto& [key, value] : key_values(compared)) {
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

const FieldValue* findLeaf(const LeavesByKey& leaves, const std::string& key) {
    const auto found = leaves.find(key);
    return found == leaves.end() ? nullptr : &found->second;
}

std::size_t rankOfKey(const std::string& key) {
    return std::find_if(std::begin(kKnown), std::end(kKnown),
                        [&key](const KnownKey& known) { return key == known.key; }) -
           std::begin(kKnown);
}

QString leafText(const FieldValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "on" : "off";
    if (const auto* text = std::get_if<std::string>(&value)) return QString::fromStdString(*text);
    if (const auto* real = std::get_if<double>(&value)) return numberText(*real, 6);
    return QString::fromStdString(value_text(value));
}

}  // namespace

QString nameOfKey(const std::string& key) {
    for (const KnownKey& known : kKnown)
        if (key == known.key) return QString::fromUtf8(known.name);
    QStringList parts = QString::fromStdString(key).split('.', Qt::SkipEmptyParts);
    if (parts.size() > 1) parts.removeFirst();  // the section: stack, data, schedule, …
    if (parts.value(0) == "layers") parts.removeFirst();
    return parts.join(' ').replace('_', ' ');
}

std::vector<VariedKey> variedKeys(const std::vector<Recipe>& recipes) {
    std::vector<LeavesByKey> all;
    LeavesByKey every_key;
    for (const Recipe& recipe : recipes) {
        all.push_back(leavesOf(recipe));
        every_key.insert(all.back().begin(), all.back().end());
    }
    std::vector<VariedKey> differing;
    for (const auto& entry : every_key) {
        const std::string& key = entry.first;
        const FieldValue* first = findLeaf(all.front(), key);
        const auto agrees = [&](const LeavesByKey& leaves) {
            const FieldValue* mine = findLeaf(leaves, key);
            return mine && first ? *mine == *first : mine == first;
        };
        if (std::all_of(all.begin(), all.end(), agrees)) continue;
        VariedKey difference{key, nameOfKey(key), {}};
        for (const LeavesByKey& leaves : all) {
            const FieldValue* value = findLeaf(leaves, key);
            difference.values << (value ? leafText(*value) : QString("default"));
        }
        differing.push_back(std::move(difference));
    }
    std::stable_sort(differing.begin(), differing.end(), [](const VariedKey& a, const VariedKey& b) {
        return rankOfKey(a.key) < rankOfKey(b.key);
    });
    return differing;
}

std::vector<QStringList> runDifferences(const std::vector<Recipe>& recipes) {
    std::vector<QStringList> texts(recipes.size());
    for (const VariedKey& difference : variedKeys(recipes))
        for (std::size_t i = 0; i < recipes.size(); ++i)
            texts[i] << difference.name + ' ' + difference.values[qsizetype(i)];
    return texts;
}

std::vector<QString> distinctNames(const std::vector<const RunData*>& runs) {
    std::map<QString, std::vector<std::size_t>> same;
    std::vector<QString> names;
    for (const RunData* run : runs) {
        same[nameOf(*run)].push_back(names.size());
        names.push_back(nameOf(*run));
    }
    for (const auto& entry : same) {
        const auto& members = entry.second;
        std::vector<Recipe> recipes;
        for (const std::size_t i : members)
            if (const Recipe* recipe = runs[i]->recipe.get()) recipes.push_back(*recipe);
        if (members.size() < 2 || recipes.size() < members.size()) continue;
        for (const VariedKey& difference : variedKeys(recipes)) {
            const auto distinct = [&] {
                std::set<QString> all;
                for (const std::size_t i : members) all.insert(names[i]);
                return all.size();
            };
            const std::size_t before = distinct();
            if (before == members.size()) break;
            const std::vector<QString> kept = names;
            for (std::size_t k = 0; k < members.size(); ++k)
                names[members[k]] += ", " + difference.name + ' ' + difference.values[qsizetype(k)];
            if (distinct() == before) names = kept;
        }
    }
    return names;
}

std::optional<QString> keyValueText(const Recipe& recipe, const std::string& key) {
    const LeavesByKey leaves = leavesOf(recipe);
    const FieldValue* value = findLeaf(leaves, key);
    return value ? std::optional(leafText(*value)) : std::nullopt;
}

}  // namespace normscope::widgets
