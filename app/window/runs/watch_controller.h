// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace normscope::widgets {
class Banner;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// Watchpoints and the cost of probes in the window: their dialogs, and the message where a watchpoint
/// triggers. Interface thread.
class WatchController : public QObject {
    Q_OBJECT
  public:
    /// A click on `rates`, the line that shows the cost, opens its dialog. `window` is the parent of dialogs.
    WatchController(Lab& lab, widgets::Banner& banner, QWidget& rates, QWidget* window);

    /// Opens the list of watchpoints of the runs that the knobs act on.
    void editWatch();
    /// Opens the presets of probes, and what each probe takes.
    void showCosts();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    Lab& lab_;
    widgets::Banner& banner_;
    QWidget* window_;
};

}  // namespace normscope::app
