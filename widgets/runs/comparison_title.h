// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

class QAction;
class QLabel;
class QMenu;

namespace normscope::widgets {

class GlyphButton;

/// The left end of the top strip: the window's menu, what is compared, whether that is saved, undo and redo.
class ComparisonTitle : public QWidget {
    Q_OBJECT
  public:
    explicit ComparisonTitle(QWidget* parent = nullptr);

    /// What is compared, in full and in ever shorter texts that are true as well: the first that fits is
    /// shown, all of them are in the tooltip.
    void setNames(const QStringList& names);
    /// "saved", "not saved", or empty.
    void setState(const QString& word);
    /// The two buttons do what these actions do, and are enabled with them; their texts name the edit.
    void setUndoActions(QAction* undo, QAction* redo);
    /// Of the menu button; filled by its owner.
    QMenu* menu() const { return menu_; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showName();

    QMenu* menu_;
    QStringList names_;
    QLabel *name_, *state_;
    GlyphButton *undo_, *redo_;
};

}  // namespace normscope::widgets
