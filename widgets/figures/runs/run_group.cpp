// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/run_group.h"

#include "core/base/error.h"
#include "core/recipe/keys.h"
#include "core/stack/scheme_rows.h"
#include "widgets/figures/parts/panel_text.h"
#include "widgets/figures/runs/run_diff.h"

#include <algorithm>
#include <map>
#include <set>

namespace normscope::widgets {

namespace {

constexpr const char* kScheme = "stack.scheme";

QString schemeTitle(const Recipe& recipe) {
    return QString::fromUtf8(scheme_row(recipe.stack.scheme).title);
}

/// Equal for two runs of one group: a prefix by the rule, then the value.
std::string identity(const Recipe& recipe, const std::string& by) {
    if (by == "scheme") return scheme_row(recipe.stack.scheme).word;
    if (by == "seed") {
        Recipe same = without_planned_steps(recipe);
        same.train.seed = 0;
        return recipe_json(same, -1);
    }
    return keyValueText(recipe, by).value_or("default").toStdString();
}

/// Whether any recipe has the key, in or outside lists.
bool isKey(const std::string& by, const std::vector<const Recipe*>& recipes) {
    if (by == "seed" || by == "scheme") return true;
    if (const RecipeKey* key = find_key(by); key && !key->is_list()) return true;
    return std::any_of(recipes.begin(), recipes.end(),
                       [&](const Recipe* recipe) { return keyValueText(*recipe, by).has_value(); });
}

/// "seed, scheme", then the keys in which these runs differ.
std::string allowedKeys(const std::vector<const Recipe*>& recipes) {
    std::string allowed = "seed, scheme";
    std::vector<Recipe> all;
    for (const Recipe* recipe : recipes) all.push_back(*recipe);
    for (const VariedKey& difference : variedKeys(all))
        if (difference.key != "seed") allowed += ", " + difference.key;
    return allowed + ", or another key of a recipe";
}

/// Names of the fewest keys that distinguish the groups, the best-known first.
void nameByDifferences(std::vector<RunGroup>& groups, const std::vector<Recipe>& first) {
    std::vector<QStringList> names(first.size());
    const auto distinct = [&] {
        QStringList all;
        for (const QStringList& name : names) all << name.join('\n');
        all.removeDuplicates();
        return std::size_t(all.size());
    };
    for (const VariedKey& difference : variedKeys(first)) {
        if (difference.key == "seed") continue;
        const auto before = names;
        const std::size_t count = distinct();
        if (count == first.size()) break;
        for (std::size_t i = 0; i < first.size(); ++i)
            names[i] << (difference.key == kScheme ? schemeTitle(first[i])
                                                   : difference.name + ' ' + difference.values[qsizetype(i)]);
        if (distinct() == count) names = before;
    }
    for (std::size_t i = 0; i < first.size(); ++i)
        groups[i].name = names[i].isEmpty() ? schemeTitle(first[i]) : names[i].join(", ");
}

void countOutcomes(RunGroup& group, const std::vector<const RunData*>& runs) {
    std::map<RunState, int> counts;
    for (const std::size_t i : group.members) ++counts[runs[i]->outcome.state];
    group.outcomes.assign(counts.begin(), counts.end());
    std::stable_sort(group.outcomes.begin(), group.outcomes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
}

/// By the value of the key, where all are numbers.
void sortByNumber(std::vector<RunGroup>& groups, const std::vector<QString>& values) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < values.size(); ++i) {
        bool number = false;
        order.emplace_back(values[i].toDouble(&number), i);
        if (!number) return;
    }
    std::stable_sort(order.begin(), order.end());
    std::vector<RunGroup> sorted;
    for (const auto& [value, i] : order) sorted.push_back(std::move(groups[i]));
    groups = std::move(sorted);
}

}  // namespace

namespace {

/// Runs of equal identity are a group; runs without a readable recipe are groups of their own, the last ones.
RunGroups divide(const std::vector<const RunData*>& runs, const std::vector<const Recipe*>& recipes,
                 const std::vector<std::string>& identities, const std::string& by) {
    RunGroups result;
    std::map<std::string, std::size_t> known;
    std::vector<Recipe> first;  // of each group with a readable recipe
    std::vector<RunGroup> unreadable;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Recipe* recipe = recipes[i];
        if (!recipe) {
            unreadable.push_back({nameOf(*runs[i]), {i}});
            continue;
        }
        const auto [at, fresh] = known.emplace(identities[i], result.groups.size());
        if (fresh) {
            result.groups.push_back({});
            first.push_back(*recipe);
        }
        result.groups[at->second].members.push_back(i);
    }
    if (by == "seed") {
        nameByDifferences(result.groups, first);
    } else if (by == "scheme" || by == kScheme) {
        for (std::size_t g = 0; g < first.size(); ++g) result.groups[g].name = schemeTitle(first[g]);
    } else {
        std::vector<QString> values;
        for (std::size_t g = 0; g < first.size(); ++g) {
            values.push_back(keyValueText(first[g], by).value_or("default"));
            result.groups[g].name = nameOfKey(by) + ' ' + values.back();
        }
        sortByNumber(result.groups, values);
    }
    for (RunGroup& group : unreadable) result.groups.push_back(std::move(group));
    for (RunGroup& group : result.groups) {
        countOutcomes(group, runs);
        std::vector<Recipe> inside;
        for (const std::size_t i : group.members)
            if (const Recipe* recipe = recipes[i]) inside.push_back(*recipe);
        if (inside.empty()) continue;
        for (const VariedKey& difference : variedKeys(inside))
            if (!result.varied.contains(difference.name)) result.varied << difference.name;
    }
    return result;
}

}  // namespace

RunGroups groupRuns(const std::vector<const RunData*>& runs, const std::string& by) {
    std::vector<const Recipe*> recipes, readable;
    std::vector<std::string> identities;
    for (const RunData* run : runs) {
        recipes.push_back(run->recipe.get());
        if (recipes.back()) readable.push_back(recipes.back());
    }
    if (!isKey(by, readable))
        throw InputError("group by", "'" + by + "' is no key of a recipe", allowedKeys(readable));
    for (const Recipe* recipe : recipes) identities.push_back(recipe ? identity(*recipe, by) : std::string());
    return divide(runs, recipes, identities, by);
}

RunGroups groupSeeds(const std::vector<const RunData*>& runs, const std::vector<const Recipe*>& recipes,
                     const std::vector<bool>& alone) {
    std::vector<std::string> identities;
    std::set<std::pair<std::string, std::uint64_t>> seen;  // a seed is once in a group
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::string id = "#" + std::to_string(i);
        if (recipes[i] && !alone[i]) {
            std::string shared = identity(*recipes[i], "seed");
            if (seen.emplace(shared, recipes[i]->train.seed).second) id = std::move(shared);
        }
        identities.push_back(std::move(id));
    }
    RunGroups result = divide(runs, recipes, identities, "seed");
    // A run by itself keeps the name that it has.
    for (RunGroup& group : result.groups)
        if (group.size() == 1) group.name = nameOf(*runs[group.members.front()]);
    return result;
}

bool RunGroups::any() const {
    return std::any_of(groups.begin(), groups.end(), [](const RunGroup& group) { return group.size() > 1; });
}

std::size_t RunGroups::groupOf(std::size_t run) const {
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (std::count(groups[g].members.begin(), groups[g].members.end(), run)) return g;
    return 0;
}

namespace {

/// "3", or "2 to 3".
QString sizes(const std::vector<RunGroup>& groups) {
    const auto by_size = [](const RunGroup& a, const RunGroup& b) { return a.size() < b.size(); };
    const auto [least, most] = std::minmax_element(groups.begin(), groups.end(), by_size);
    return least->size() == most->size() ? QString::number(most->size())
                                         : QString("%1 to %2").arg(least->size()).arg(most->size());
}

}  // namespace

QString RunGroups::count() const {
    if (groups.empty()) return "no run";
    const QString each = sizes(groups);
    return QString("%1 %2 of %3 %4")
        .arg(groups.size())
        .arg(groups.size() == 1 ? "group" : "groups", each, each == "1" ? "run" : "runs");
}

QString RunGroups::members() const {
    if (groups.empty()) return "no run";
    const QString each = sizes(groups);
    if (each == "1") return "1 run";
    if (varied == QStringList("seed")) return each + " seeds";
    return varied.isEmpty() ? each + " runs" : QString("%1 runs (%2)").arg(each, varied.join(", "));
}

QString outcomeText(const RunGroup& group) {
    QStringList parts;
    for (const auto& [state, count] : group.outcomes) {
        if (state == RunState::Finished) continue;
        const QString word = QString::fromUtf8(run_state_word(state));
        parts << (parts.isEmpty() ? QString("%1 of %2 %3").arg(count).arg(group.size()).arg(word)
                                  : QString("%1 %2").arg(count).arg(word));
    }
    return parts.join(", ");
}

}  // namespace normscope::widgets
