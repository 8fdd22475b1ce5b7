// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <QHash>
#include <QVariant>
#include <QWidget>
#include <functional>
#include <vector>

class QToolButton;

namespace normscope::widgets {

class GlyphButton;
class KnobRow;
struct KnobSpec;

/// The column of knobs: one row for each line of knobTable(), those out of sight under "More". Shows a
/// recipe, tells what a person wants changed, changes nothing itself.
class KnobPanel : public QWidget {
    Q_OBJECT
  public:
    explicit KnobPanel(QWidget* parent = nullptr);

    /// Shows a recipe; dots mark what differs from `defaults`. Sends no signal and leaves a knob in hand
    /// alone.
    void setRecipe(const Recipe& shown, const Recipe& defaults);
    /// The recipes of all compared runs: a knob on which they do not agree shows ≠. One or none:
    /// nothing differs.
    void setCompared(const std::vector<Recipe>& recipes);
    /// Greys out the words of a choice that this machine can not do.
    void setAvailable(const QString& key, const QStringList& words);
    /// Whether the knobs act on all compared runs (the chain icon). Sends no signal.
    void setLinked(bool linked);
    bool isLinked() const;
    void setMoreShown(bool shown);
    /// The row of a key, or nullptr: for tests, presentation strips and stories that point at a knob.
    KnobRow* row(const QString& key) const;

  Q_SIGNALS:
    void keyDragStarted(const QString& key);
    void keyChanging(const QString& key, const QVariant& value);  ///< every move of a drag
    /// One for each change: the end of a drag (also back at the old value), a key, an edit, a choice, a
    /// reset. Whole numbers are qlonglong, reals double, words and paths QString, switches bool: what
    /// setRecipeKey takes.
    void keyCommitted(const QString& key, const QVariant& old_value, const QVariant& new_value);
    void linkToggled(bool linked);

  private:
    struct Row {
        const KnobSpec* spec;
        QString key;
        KnobRow* widget;
        std::function<void(const QVariant& value, const QVariant& default_value)> show;
    };
    Row makeRow(const KnobSpec& spec);
    Row makeNumber(const KnobSpec& spec);
    Row makeChoice(const KnobSpec& spec);
    Row makePath(const KnobSpec& spec);
    void countChanged();

    std::vector<Row> rows_;
    Recipe shown_;
    QHash<QString, QVariant> values_, defaults_;
    GlyphButton* link_;
    QToolButton* more_;
    QWidget* folded_;
};

}  // namespace normscope::widgets
