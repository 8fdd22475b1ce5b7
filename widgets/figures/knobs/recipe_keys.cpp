// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/recipe_keys.h"

#include "core/recipe/keys.h"

#include <cmath>

namespace normscope::widgets {
namespace {

QVariant toVariant(const FieldValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* text = std::get_if<std::string>(&value)) return QString::fromStdString(*text);
    if (const auto* whole = std::get_if<std::uint64_t>(&value))
        return QVariant::fromValue<qulonglong>(*whole);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return QVariant::fromValue<qlonglong>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return {};
}

FieldValue toValue(const QVariant& value) {
    switch (value.typeId()) {
        case QMetaType::Bool:
            return value.toBool();
        case QMetaType::Int:
        case QMetaType::LongLong: {
            const qlonglong number = value.toLongLong();
            if (number < 0) return static_cast<std::int64_t>(number);
            return static_cast<std::uint64_t>(number);
        }
        case QMetaType::UInt:
        case QMetaType::ULongLong:
            return static_cast<std::uint64_t>(value.toULongLong());
        case QMetaType::Double: {
            // A slider sends doubles; 24.0 is accepted as a whole number.
            const double number = value.toDouble();
            const bool whole = number >= 0 && number <= 9007199254740992.0 && number == std::floor(number);
            if (whole) return static_cast<std::uint64_t>(number);
            return number;
        }
        default:
            return value.toString().toStdString();
    }
}

}  // namespace

QHash<QString, QVariant> recipeValues(const Recipe& recipe) {
    QHash<QString, QVariant> values;
    for (const auto& [key, value] : key_values(recipe))
        if (!std::holds_alternative<std::vector<double>>(value))
            values.insert(QString::fromStdString(key), toVariant(value));
    return values;
}

QVariant recipeKey(const Recipe& recipe, const QString& key) {
    return recipeValues(recipe).value(key);
}

void setRecipeKey(Recipe& recipe, const QString& key, const QVariant& value) {
    set_key(recipe, key.toStdString(), toValue(value));
}

}  // namespace normscope::widgets
