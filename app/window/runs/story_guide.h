// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stories/story_check.h"
#include "widgets/common/throttle.h"

#include <QObject>
#include <optional>

namespace normscope::widgets {
class StoryStrip;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
struct LabRun;

/// Leads through a story on the lab's runs: puts them side by side, shows the step of training that a story's
/// step is about, pauses where it asks for it, names the next action and whether what is expected holds.
class StoryGuide : public QObject {
    Q_OBJECT
  public:
    StoryGuide(Lab& lab, widgets::StoryStrip& strip, QObject* parent);

    /// Replaces the comparison by the story's runs (undoable) and shows its first step.
    void start(const Story& story);
    /// The first action of the step shown that is not done; nullopt: none.
    std::optional<StoryAction> action() const { return action_; }

  Q_SIGNALS:
    void actionChanged();  ///< action()

  private:
    /// Where a training pauses: the step of the story that asks for it, and the number of training steps.
    struct Pause {
        std::size_t asked_at = 0;
        std::int64_t until = 0;
    };
    void showStep();
    void follow();
    void pauseAtStep();
    bool done(const StoryAction& action) const;
    bool trainsForThisStep() const;

    Lab& lab_;
    widgets::StoryStrip& strip_;
    std::optional<StoryAction> action_;
    std::size_t done_ = 0;             ///< actions of the step shown
    bool training_requested_ = false;  ///< the action is Train, and training has begun since
    std::optional<Pause> pause_;       ///< of the training that runs, whatever step of the story is shown
    widgets::Throttle later_;
};

}  // namespace normscope::app
