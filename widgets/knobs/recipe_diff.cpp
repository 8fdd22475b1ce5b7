// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/recipe_diff.h"

#include "core/stack/error.h"
#include "core/stack/json_fields.h"
#include "widgets/plots/number_text.h"
#include "widgets/knobs/knob_table.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace normscope::widgets {
namespace {

using nlohmann::ordered_json;

using Leaves = std::vector<std::pair<QString, ordered_json>>;  // in the order of the recipe

const QString kLayers = QStringLiteral("stack.layers");

void collect(const ordered_json& object, const QString& path, Leaves& leaves) {
    for (const auto& [name, value] : object.items()) {
        const QString key = path + QString::fromStdString(name);
        if (value.is_object())
            collect(value, key + u'.', leaves);
        else if (key != u"probes")
            leaves.emplace_back(key, value);
    }
}

Leaves leavesOf(const Recipe& recipe) {
    Recipe copy = recipe;  // Fields visits by reference
    JsonWriter writer;
    list_fields(writer, copy);
    Leaves leaves;
    collect(writer.take(), QString(), leaves);
    return leaves;
}

/// The base with the sizes that it leaves open taken from the recipe it is compared with.
Recipe filled(const Recipe& base, const Recipe& now) {
    Recipe recipe = base;
    complete(recipe.stack, now.stack.vocab);
    return recipe;
}

const ordered_json* find(const Leaves& leaves, const QString& key) {
    for (const auto& [name, value] : leaves)
        if (name == key) return &value;
    return nullptr;
}

/// Keys of either whose values differ, those that only `base` has at the end.
QStringList differing(const Leaves& base, const Leaves& now) {
    QStringList keys;
    // Both write nearly the same keys in the same order: the place is a good guess.
    for (std::size_t i = 0; i < now.size(); ++i) {
        const auto& [key, value] = now[i];
        const ordered_json* other =
            i < base.size() && base[i].first == key ? &base[i].second : find(base, key);
        if (!other || *other != value) keys << key;
    }
    for (const auto& [key, value] : base)
        if (!find(now, key)) keys << key;
    return keys;
}

QString labelOf(const QString& key) {
    for (const KnobSpec& spec : knobTable())
        if (key == QString::fromUtf8(spec.key)) {
            const QString label = QCoreApplication::translate("KnobTable", spec.label);
            // "Site" says nothing without its fold's title.
            return spec.section == KnobSection::Gpas && key != u"stack.gpas.enabled"
                       ? QStringLiteral("GPAS ") + label.toLower()
                       : label;
        }
    if (key == kLayers) return QCoreApplication::translate("RecipeDiff", "Overrides");
    return key.section(u'.', -2).replace(u'.', u' ').replace(u'_', u' ');
}

QString textOf(const QString& key, const ordered_json* value) {
    if (!value) return QStringLiteral("–");
    if (key == kLayers) {
        QStringList layers;
        for (const auto& layer : *value) layers << QString::number(layer.at("index").get<int>() + 1);
        if (layers.isEmpty()) return QCoreApplication::translate("RecipeDiff", "none");
        constexpr qsizetype kMost = 4;
        const bool many = layers.size() > kMost;
        return QCoreApplication::translate("RecipeDiff", "layer %1")
            .arg(layers.mid(0, kMost).join(QStringLiteral(", ")) + (many ? QStringLiteral("…") : QString()));
    }
    if (value->is_boolean()) return choiceTitle(key, value->get<bool>() ? "true" : "false");
    if (value->is_string()) return choiceTitle(key, QString::fromStdString(value->get<std::string>()));
    if (value->is_number_float()) return numberText(value->get<double>());
    if (value->is_array()) {
        QStringList parts;
        for (const auto& part : *value) parts << textOf(key, &part);
        return parts.join(QStringLiteral(", "));
    }
    return QString::fromStdString(value->dump());
}

}  // namespace

std::vector<KeyDifference> recipeDifferences(const Recipe& base, const Recipe& now) {
    const Leaves from = leavesOf(filled(base, now)), to = leavesOf(now);
    std::vector<KeyDifference> differences;
    for (const QString& key : differing(from, to))
        differences.push_back({key, labelOf(key), textOf(key, find(from, key)), textOf(key, find(to, key))});
    return differences;
}

int nearestRecipe(const std::vector<NamedRecipe>& bases, const Recipe& now) {
    const Leaves to = leavesOf(now);
    int nearest = -1;
    qsizetype fewest = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const qsizetype count = differing(leavesOf(filled(bases[i].recipe, now)), to).size();
        if (nearest >= 0 && count >= fewest) continue;
        nearest = static_cast<int>(i);
        fewest = count;
    }
    return nearest;
}

Recipe withKeyOf(const Recipe& to, const Recipe& from, const QString& key) {
    ordered_json target = ordered_json::parse(recipe_json(to, -1));
    const ordered_json source = ordered_json::parse(recipe_json(filled(from, to), -1));
    std::string path = "/" + key.toStdString();
    std::replace(path.begin(), path.end(), '.', '/');
    const ordered_json::json_pointer pointer(path);
    if (!source.contains(pointer) && !target.contains(pointer))
        throw InputError(key.toStdString(), "unknown key", "the keys of a recipe");
    if (source.contains(pointer))
        target[pointer] = source[pointer];
    else
        target[pointer.parent_pointer()].erase(pointer.back());
    return parse_recipe(target.dump(), "recipe");
}

}  // namespace normscope::widgets
