// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/recipe_diff.h"

#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/figures/number_text.h"

#include <QCoreApplication>

namespace normscope::widgets {
namespace {

/// The base, its "auto" sizes taken from the compared recipe.
Recipe filled(const Recipe& base, const Recipe& now) {
    Recipe recipe = base;
    complete(recipe.stack, now.stack.vocab);
    return recipe;
}

/// The keys whose values differ.
std::vector<KeyRef> differing(const Recipe& base, const Recipe& now) {
    std::vector<KeyRef> keys;
    for (const RecipeKey& key : recipe_keys()) {
        const bool ignored = key.is_list() && key.role.effect == normscope::Role::Effect::Observes;
        if (!ignored && !key.same(base, now)) keys.push_back(key);
    }
    return keys;
}

QString labelOf(KeyRef key) {
    for (const KnobSpec& spec : knobTable())
        if (key == spec.key) {
            const QString label = QCoreApplication::translate("KnobTable", spec.label);
            // "Site" is ambiguous without its fold's title.
            return spec.section == KnobSection::Gpas && key->name != "stack.gpas.enabled"
                       ? QStringLiteral("GPAS ") + label.toLower()
                       : label;
        }
    if (key->name == "interventions") return QCoreApplication::translate("RecipeDiff", "Interventions");
    if (key->is_list()) return QCoreApplication::translate("RecipeDiff", "Overrides");
    return QString::fromStdString(key->name).section(u'.', -2).replace(u'.', u' ').replace(u'_', u' ');
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

QString differenceText(KeyRef key, const Recipe& recipe) {
    if (key->name == "interventions") return QString::fromStdString(interventions_text(recipe.interventions));
    if (key->is_list()) return layersText(recipe.stack.layers);
    const FieldValue value = key->get(recipe);
    if (is_absent(value)) return QStringLiteral("–");
    if (std::holds_alternative<bool>(value) || std::holds_alternative<std::string>(value))
        return choiceTitle(key, keyText(value));
    if (const auto* real = std::get_if<double>(&value)) return numberText(*real);
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        QStringList parts;
        for (const double part : *list) parts << numberText(part);
        return parts.join(QStringLiteral(", "));
    }
    return keyText(value);
}

}  // namespace

std::vector<KeyDifference> recipeDifferences(const Recipe& base, const Recipe& now) {
    const Recipe from = filled(base, now);
    std::vector<KeyDifference> differences;
    for (const KeyRef key : differing(from, now))
        differences.push_back({key, labelOf(key), differenceText(key, from), differenceText(key, now)});
    return differences;
}

int nearestRecipe(const std::vector<NamedRecipe>& bases, const Recipe& now) {
    int nearest = -1;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const std::size_t count = differing(filled(bases[i].recipe, now), now).size();
        if (nearest >= 0 && count >= fewest) continue;
        nearest = static_cast<int>(i);
        fewest = count;
    }
    return nearest;
}

Recipe withKeyOf(const Recipe& to, const Recipe& from, KeyRef key) {
    return with_key_of(to, filled(from, to), key);
}

}  // namespace normscope::widgets
