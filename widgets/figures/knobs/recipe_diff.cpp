// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/recipe_diff.h"

#include "core/recipe/keys.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/number_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace normscope::widgets {
namespace {

using Leaves = std::vector<KeyedValue>;  // in the order of the recipe

const QString kLayers = QStringLiteral("stack.layers");

/// The base, its "auto" sizes taken from the compared recipe.
Recipe filled(const Recipe& base, const Recipe& now) {
    Recipe recipe = base;
    complete(recipe.stack, now.stack.vocab);
    return recipe;
}

const FieldValue* find(const Leaves& leaves, const std::string& key) {
    for (const auto& [name, value] : leaves)
        if (name == key) return &value;
    return nullptr;
}

/// Keys of either whose values differ, those that only `base` has at the end. Overrides are ignored.
std::vector<std::string> differing(const Leaves& base, const Leaves& now) {
    std::vector<std::string> keys;
    // Both have nearly the same keys in the same order: try the same index first.
    for (std::size_t i = 0; i < now.size(); ++i) {
        const auto& [key, value] = now[i];
        const FieldValue* other = i < base.size() && base[i].first == key ? &base[i].second : find(base, key);
        if (!other || *other != value) keys.push_back(key);
    }
    for (const auto& [key, value] : base)
        if (!find(now, key)) keys.push_back(key);
    return keys;
}

QString labelOf(const QString& key) {
    for (const KnobSpec& spec : knobTable())
        if (key == QString::fromUtf8(spec.key)) {
            const QString label = QCoreApplication::translate("KnobTable", spec.label);
            // "Site" is ambiguous without its fold's title.
            return spec.section == KnobSection::Gpas && key != u"stack.gpas.enabled"
                       ? QStringLiteral("GPAS ") + label.toLower()
                       : label;
        }
    if (key == kLayers) return QCoreApplication::translate("RecipeDiff", "Overrides");
    return key.section(u'.', -2).replace(u'.', u' ').replace(u'_', u' ');
}

QString differenceText(const QString& key, const FieldValue* value) {
    if (!value) return QStringLiteral("–");
    if (const auto* flag = std::get_if<bool>(value)) return choiceTitle(key, *flag ? "true" : "false");
    if (const auto* text = std::get_if<std::string>(value))
        return choiceTitle(key, QString::fromStdString(*text));
    if (const auto* real = std::get_if<double>(value)) return numberText(*real);
    if (const auto* list = std::get_if<std::vector<double>>(value)) {
        QStringList parts;
        for (const double part : *list) parts << numberText(part);
        return parts.join(QStringLiteral(", "));
    }
    return QString::fromStdString(value_text(*value));
}

QString layersText(const std::vector<LayerOverride>& overrides) {
    QStringList layers;
    for (const LayerOverride& layer : overrides) layers << QString::number(layer.index + 1);
    if (layers.isEmpty()) return QCoreApplication::translate("RecipeDiff", "none");
    constexpr qsizetype kMax = 4;
    const bool many = layers.size() > kMax;
    return QCoreApplication::translate("RecipeDiff", "layer %1")
        .arg(layers.mid(0, kMax).join(QStringLiteral(", ")) + (many ? QStringLiteral("…") : QString()));
}

}  // namespace

std::vector<KeyDifference> recipeDifferences(const Recipe& base, const Recipe& now) {
    const Leaves from = key_values(filled(base, now)), to = key_values(now);
    std::vector<KeyDifference> differences;
    for (const std::string& name : differing(from, to)) {
        const QString key = QString::fromStdString(name);
        differences.push_back(
            {key, labelOf(key), differenceText(key, find(from, name)), differenceText(key, find(to, name))});
    }
    if (base.stack.layers != now.stack.layers) {
        // The last key of the stack.
        const auto after = std::find_if(differences.begin(), differences.end(),
                                        [](const KeyDifference& d) { return !d.key.startsWith(u"stack."); });
        differences.insert(
            after, {kLayers, labelOf(kLayers), layersText(base.stack.layers), layersText(now.stack.layers)});
    }
    return differences;
}

int nearestRecipe(const std::vector<NamedRecipe>& bases, const Recipe& now) {
    const Leaves to = key_values(now);
    int nearest = -1;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const Recipe& base = bases[i].recipe;
        const std::size_t count = differing(key_values(filled(base, now)), to).size() +
                                  (base.stack.layers != now.stack.layers ? 1 : 0);
        if (nearest >= 0 && count >= fewest) continue;
        nearest = static_cast<int>(i);
        fewest = count;
    }
    return nearest;
}

Recipe withKeyOf(const Recipe& to, const Recipe& from, const QString& key) {
    return with_key_of(to, filled(from, to), key.toStdString());
}

}  // namespace normscope::widgets
