// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/window/files/view_text.h"
#include "app/window/files/window_state_file.h"

#include <QObject>
#include <QTimer>
#include <memory>
#include <string>

namespace normscope::widgets {
class Banner;
class StoryStrip;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;
class StoryController;

/// Keeps the window's state for the next start, and restores what the last window kept. Interface thread.
class StateController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::StoryStrip* story;
        widgets::Banner* banner;
    };
    StateController(Lab& lab, StoryController& stories, const Views& views, ViewText view,
                    const QString& recordings_folder, QObject* parent);

    /// From now on the state is kept; restores what the last window kept, unless `afresh`, and asks for
    /// interrupted runs.
    void start(bool from_start);
    /// False where the state cannot be kept: the next start restores nothing. `closing`: waits until it is
    /// written.
    bool keep(bool closing);
    /// The window is closed.
    void stop() { later_.stop(); }
    /// Whether the next start restores the window: a setting.
    void toggleRestoring();

  Q_SIGNALS:
    void restored();

  private:
    void applyRestored();

    Lab& lab_;
    StoryController& stories_;
    const Views views_;
    const ViewText view_;
    const QString recordings_folder_;
    std::unique_ptr<WindowStateFile> stored_;  ///< null: the state is not kept
    std::string cached_text_;                  ///< as written last
    std::string restoring_view_;               ///< to be applied to the restored runs
    QTimer later_;
};

}  // namespace normscope::app
