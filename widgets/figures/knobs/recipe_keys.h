// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>
#include <QVariant>

namespace normscope {
struct Recipe;
}  // namespace normscope

namespace normscope::widgets {

/// The keys of a recipe by their dotted path ("stack.residual_step", "optimizer.lr"), read and written
/// through list_fields, so that there is no second list of keys or ranges. Values: qlonglong, qulonglong (the
/// seed), double, bool, QString (words, texts, "auto"). Lists (layers, betas, probes) have no knobs and are
/// not included.
QHash<QString, QVariant> recipeValues(const Recipe& recipe);

/// One value of recipeValues; invalid for an absent key (an empty data.path).
QVariant recipeKey(const Recipe& recipe, const QString& key);

/// set_key() with a value from a knob; whole numbers may come as double.
void setRecipeKey(Recipe& recipe, const QString& key, const QVariant& value);

/// The allowed values of a key.
struct KeyDomain {
    enum class Kind { Integer, Real, Word, Flag, Text };
    Kind kind = Kind::Real;
    double low = 0, high = 0;  ///< numbers; high may be infinite
    bool low_open = false;     ///< low itself is not allowed
    QStringList words;         ///< Word
    bool restarts = true;      ///< a change starts a new run; else it acts on a running run
};

/// The domain of every key of recipeValues (and of absent keys).
const QHash<QString, KeyDomain>& recipeDomains();

}  // namespace normscope::widgets
