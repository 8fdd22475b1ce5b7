// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/knobs/recipe_diff.h"

#include <QWidget>

class QMenu;
class QVBoxLayout;

namespace normscope::widgets {

class FoldTitle;
class GlyphButton;

/// The differences of the shown recipe from a preset: a line per key, "Δt: 1 → 0.2"; a click resets the key
/// to the preset's value. Compares with the nearest preset until one is chosen from the menu.
class DiffList : public QWidget {
    Q_OBJECT
  public:
    explicit DiffList(QWidget* parent = nullptr);

    void setPresets(std::vector<NamedRecipe> presets);
    void setRecipe(const Recipe& recipe);
    /// Compares with this preset from now on; an empty name: with the nearest.
    void setBase(const QString& name);
    void setListShown(bool shown);

    const std::vector<KeyDifference>& differences() const { return differences_; }
    /// The preset compared with; −1 without presets.
    int base() const { return base_; }

  Q_SIGNALS:
    /// Requests the preset's value for this key (see withKeyOf).
    void keyResetRequested(normscope::KeyRef key, const normscope::Recipe& preset);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void compare();
    void showRows();
    void showTitle();

    std::vector<NamedRecipe> presets_;
    Recipe recipe_;
    QString chosen_;  ///< empty: the nearest
    int base_ = -1;
    std::vector<KeyDifference> differences_;
    FoldTitle* title_;
    GlyphButton* choose_;
    QMenu* menu_;
    QWidget* list_;
    QVBoxLayout* rows_;
};

}  // namespace normscope::widgets
