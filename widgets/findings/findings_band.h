// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"
#include "widgets/findings/findings_content.h"

class QHBoxLayout;
class QLabel;

namespace normscope::widgets {

class GroupKey;
class RemedyBox;
class StoryButtons;

/// The band above the plots, of fixed height: a column for as many of the runs as fit, the selected one among
/// them, with its numbers at the shown step or, where it failed, its headline; of groups of seeds the median
/// of their losses, their range and outcomes. At the right what to try with a failed run, else the key of
/// groups, else the stories. Updated a few times a second: it asks for
/// its content then, and when it is resized.
class FindingsBand : public QWidget {
    Q_OBJECT
  public:
    static constexpr int kHeight = 80;

    explicit FindingsBand(std::function<FindingsContent()> content, QWidget* parent = nullptr);
    /// The content has changed.
    void refreshLater();
    void refresh();
    const std::vector<FindingsColumn*>& columns() const { return columns_; }
    /// The text of each column, plain text.
    QStringList texts() const;
    /// Under the column of this group, or of the band's first where it has none, in the window's coordinates.
    QPoint below(int group) const;
    RemedyBox* remedies() const { return remedies_; }
    StoryButtons* stories() const { return stories_; }
    const GroupKey* key() const { return key_; }
    /// "5 more"; empty where every run has a column.
    QString more() const;
    /// For StoryButtons.
    void setStories(const QStringList& names, const QStringList& titles, const QString& caption);
    /// What does not fit is skipped: the band does not widen the window.
    QSize minimumSizeHint() const override { return {0, kHeight}; }

  Q_SIGNALS:
    /// Of the group of that index; `below` its column, in the coordinates of the window.
    void whyRequested(int group, const QPoint& below);
    void storyChosen(const QString& name);
    // As RemedyBox has them.
    void draftsRequested();
    void tryRequested(const std::string& run, const std::vector<std::size_t>& remedies);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    std::vector<ColumnContent> fitting(const FindingsContent& content, int space) const;
    void setColumns(const std::vector<ColumnContent>& contents, int space);
    QWidget* right() const;

    std::function<FindingsContent()> content_;
    Throttle later_;
    QHBoxLayout* layout_;
    std::vector<FindingsColumn*> columns_;
    QLabel* more_;
    RemedyBox* remedies_;
    GroupKey* key_;
    StoryButtons* stories_;
};

}  // namespace normscope::widgets
