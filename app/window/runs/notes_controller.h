// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace normscope::widgets {
class NotesDrawer;
}

namespace normscope::app {

class Lab;

/// The notes over the panels: follows the selected run while they are shown. Interface thread.
class NotesController : public QObject {
    Q_OBJECT
  public:
    /// The drawer is a child of `window` and lies over `area`.
    NotesController(Lab& lab, QWidget* area, QWidget* window);

    widgets::NotesDrawer* drawer() const { return drawer_; }
    /// Opens the notes, or closes them.
    void toggle();

  private:
    void refresh();

    Lab& lab_;
    widgets::NotesDrawer* drawer_;
};

}  // namespace normscope::app
