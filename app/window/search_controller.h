// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/dialogs/command_search.h"

#include <QObject>
#include <functional>
#include <vector>

namespace normscope::widgets {
class KnobPanel;
class PanelGrid;
class RunStrip;
}  // namespace normscope::widgets

namespace normscope::app {

class RunList;
class RunsController;
class StoryController;
class SweepController;

/// Ctrl+K: the window's actions, then its knobs, panels, presets, stories and what others offer. Interface
/// thread.
class SearchController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::RunStrip* strip;
        widgets::KnobPanel* knobs;
        widgets::PanelGrid* grid;
    };
    SearchController(RunList& list, RunsController& runs, StoryController& stories, SweepController& sweeps,
                     const Views& views, QWidget* window);

    /// Offers what this returns, too, each time.
    void offer(std::function<std::vector<widgets::SearchEntry>()> entries) {
        others_.push_back(std::move(entries));
    }
    /// Under the middle of the strip.
    void open();

  private:
    std::vector<widgets::SearchEntry> entries();
    void addKnobs(std::vector<widgets::SearchEntry>& entries);

    RunList& list_;
    RunsController& runs_;
    StoryController& stories_;
    SweepController& sweeps_;
    const Views views_;
    QWidget* window_;
    std::vector<std::function<std::vector<widgets::SearchEntry>()>> others_;
};

}  // namespace normscope::app
