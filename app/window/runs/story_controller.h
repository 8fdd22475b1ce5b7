// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

namespace normscope {
struct Preset;
}

namespace normscope::widgets {
class FindingsBand;
class KnobPanel;
class Presentation;
class Pulse;
class RunStrip;
class StoryStrip;
class TransportBar;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class PanelsController;
class StoryGuide;

/// The title that its file gives a story.
QString storyTitle(const Preset& story);

/// The stories of the window: offers them where runs are chosen, shows one above the plots, and lets the
/// control pulse that its step asks for. Interface thread.
class StoryController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::StoryStrip* strip;
        widgets::RunStrip* runs;
        widgets::FindingsBand* findings;
        widgets::Presentation* presentation;
        widgets::KnobPanel* knobs;
        widgets::TransportBar* transport;
        widgets::Pulse* pulse;
        PanelsController* panels;
    };
    StoryController(Lab& lab, const Views& views, QObject* parent);

    /// Loads the runs of a story (its file name) into the comparison and shows its first sentence. False
    /// where there is no such story.
    bool tell(const QString& name);
    /// The control that the story asks for pulses, in the window or in the presentation.
    void showAction();

  Q_SIGNALS:
    /// Whether a story is shown.
    void shownChanged(bool shown);

  private:
    void offer();
    void showPanel();

    const Views views_;
    StoryGuide* guide_;
};

}  // namespace normscope::app
