// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/recipe_keys.h"

#include "core/recipe/recipe.h"
#include "core/stack/error.h"
#include "core/stack/json_fields.h"

#include <QStringList>
#include <cmath>
#include <numeric>

namespace normscope::widgets {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

QVariant toVariant(const ordered_json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_string()) return QString::fromStdString(value.get<std::string>());
    if (value.is_number_unsigned()) return QVariant::fromValue(value.get<qulonglong>());
    if (value.is_number_integer()) return QVariant::fromValue(value.get<qlonglong>());
    return value.get<double>();
}

json toJson(const QVariant& value) {
    switch (value.typeId()) {
        case QMetaType::Bool:
            return value.toBool();
        case QMetaType::Int:
        case QMetaType::LongLong: {
            const qlonglong number = value.toLongLong();
            return number < 0 ? json(number) : json(static_cast<qulonglong>(number));
        }
        case QMetaType::UInt:
        case QMetaType::ULongLong:
            return value.toULongLong();
        case QMetaType::Double: {
            // A slider speaks in doubles; 24.0 is a whole number wherever one is asked for.
            const double number = value.toDouble();
            const bool whole = number >= 0 && number <= 9007199254740992.0 && number == std::floor(number);
            return whole ? json(static_cast<qulonglong>(number)) : json(number);
        }
        default:
            return value.toString().toStdString();
    }
}

void flatten(const ordered_json& object, const QString& path, QHash<QString, QVariant>& values) {
    for (const auto& [name, value] : object.items()) {
        const QString key = path + QString::fromStdString(name);
        if (value.is_object()) {
            flatten(value, key + u'.', values);
        } else if (!value.is_array()) {
            values.insert(key, toVariant(value));
        }
    }
}

}  // namespace

QHash<QString, QVariant> recipeValues(const Recipe& recipe) {
    Recipe copy = recipe;  // Fields visits by reference
    JsonWriter writer;
    list_fields(writer, copy);
    QHash<QString, QVariant> values;
    flatten(writer.take(), QString(), values);
    return values;
}

QVariant recipeKey(const Recipe& recipe, const QString& key) {
    return recipeValues(recipe).value(key);
}

void setRecipeKey(Recipe& recipe, const QString& key, const QVariant& value) {
    // A reader leaves what its object does not name, so an object with this one key changes this one key.
    json object = toJson(value);
    const QStringList names = key.split(u'.');
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        object = json{{name->toStdString(), object}};
    Recipe changed = recipe;
    JsonReader reader(object, "");
    list_fields(reader, changed);
    reader.refuse_unknown_keys();

    const StackSpec& before = recipe.stack;
    if (key == u"stack.d_model" && before.d_ff == 4 * before.d_model)
        changed.stack.d_ff = 4 * changed.stack.d_model;
    if (key == u"stack.heads" && before.kv_heads > 0)
        changed.stack.kv_heads = before.kv_heads == before.heads
                                     ? changed.stack.heads
                                     : std::gcd(before.kv_heads, changed.stack.heads);
    recipe = std::move(changed);
}

}  // namespace normscope::widgets
