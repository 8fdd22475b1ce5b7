// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <optional>

#include "core/run/story.h"

class QLabel;
class QToolButton;

namespace normscope::app {

/// The strip above the plots that shows a story: its title, one sentence at a time, back and forward. Hidden
/// without a story.
class StoryStrip : public QFrame {
    Q_OBJECT
  public:
    explicit StoryStrip(QWidget* parent = nullptr);

    /// Shows the story's first sentence.
    void tell(const Story& story);
    const std::optional<Story>& story() const { return story_; }
    std::size_t at() const { return at_; }  ///< index of the sentence in Story::steps
    void moveTo(std::size_t step);

  public Q_SLOTS:
    void next();
    void previous();
    void end();  ///< hides the strip; the runs are kept

  Q_SIGNALS:
    /// The sentence shown refers to this step of training; −1: to the newest.
    void stepTold(qint64 step);

  private:
    std::optional<Story> story_;
    std::size_t at_ = 0;
    QLabel* title_;
    QLabel* text_;
    QToolButton* back_;
    QToolButton* forward_;
};

}  // namespace normscope::app
