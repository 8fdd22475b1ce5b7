// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

class QLabel;
class QMenu;

namespace normscope::widgets {

class StoryButton;

/// The stories at the right of the findings band: a button for each of the first ones, "All stories" with a
/// menu, and a caption. As many as a given width has space for; no text is cut.
class StoryButtons : public QWidget {
    Q_OBJECT
  public:
    explicit StoryButtons(QWidget* parent = nullptr);
    /// Names and titles in the same order; `caption` is a line on all of them, wrapped.
    void setStories(const QStringList& names, const QStringList& titles, const QString& caption);
    /// Shows what fits into a width, px; nothing where "All stories" alone does not.
    void setSpace(int width);
    /// The width of "All stories" alone.
    int minimumChipWidth() const;
    QMenu* menu() const { return menu_; }

  Q_SIGNALS:
    void storyChosen(const QString& name);

  private:
    std::vector<StoryButton*> buttonsIn(int columns) const;
    std::vector<int> columnWidths(int columns) const;
    void place(int columns, bool caption);

    std::vector<StoryButton*> first_;  ///< of the first stories
    StoryButton* all_;
    QLabel* caption_;
    QMenu* menu_;
};

}  // namespace normscope::widgets
