// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stories/story_check.h"

#include <QFrame>
#include <optional>
#include <vector>

class QLabel;
class QToolButton;

namespace normscope::widgets {

class StoryDots;

/// The strip above the plots that shows a story: its title, one step at a time with what is expected of the
/// runs and whether it holds there, back and forward. Of one height for all steps. Hidden without a story.
class StoryStrip : public QFrame {
    Q_OBJECT
  public:
    explicit StoryStrip(QWidget* parent = nullptr);

    /// Shows the story's first step.
    void start(const Story& story);
    const std::optional<Story>& story() const { return story_; }
    std::size_t at() const { return at_; }  ///< index of Story::steps
    /// The panel of the step shown, else that of the last one before it which has one; "gradients" without.
    std::string panel() const;
    void moveTo(std::size_t step);
    /// Of each step, whether what it expects has held since the story began (or expects nothing).
    const std::vector<bool>& held() const { return held_; }
    void setHeld(std::vector<bool> held);
    /// Whether what this step expects holds for the runs on screen, with the values as the tooltip.
    void setFinding(const StoryFinding& finding);
    /// In px; 12 in the window (the default), 24 in presentation mode.
    void setTextSize(int px);

  public Q_SLOTS:
    void next();
    void previous();
    void end();  ///< hides the strip; the runs are kept

  Q_SIGNALS:
    void stepShown();  ///< another step is shown
    void ended();

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showSteps();
    void showExpectation();
    void keepHeight();
    QString expectation(const StoryStep& step, StoryVerdict verdict) const;

    std::optional<Story> story_;
    std::size_t at_ = 0;
    std::vector<bool> held_;
    StoryFinding finding_;
    QLabel* title_;
    StoryDots* dots_;
    QLabel* text_;
    QLabel* expect_;
    std::vector<QToolButton*> buttons_;
    QToolButton* back_;
    QToolButton* forward_;
};

}  // namespace normscope::widgets
