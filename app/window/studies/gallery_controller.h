// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/dialogs/command_search.h"

#include <QObject>
#include <QString>
#include <vector>

namespace normscope {
struct GalleryEntry;
}

namespace normscope::widgets {
class Banner;
class GalleryDrawer;
struct GalleryRow;
}  // namespace normscope::widgets

namespace normscope::app {

class GalleryRuns;
class SweepController;
class SweepRunner;

/// The papers' figures in the window: connects their drawer with the gallery's runs, and leads from an entry
/// to the map of its sweep. Interface thread.
class GalleryController : public QObject {
    Q_OBJECT
  public:
    /// `runner` trains the entries. The drawer is a child of `window` and lies over `over`.
    GalleryController(GalleryRuns& runs, const SweepRunner& runner, SweepController& sweeps,
                      widgets::Banner& banner, QWidget* over, QWidget* window);

    widgets::GalleryDrawer* drawer() const { return drawer_; }
    /// Opens the drawer, or closes it.
    void toggle();
    /// Opens the drawer at an entry (empty: the one selected last), and reads the folders that have changed.
    void open(const QString& id);
    /// Adds the entry of a file and opens the drawer at it; it is there after the next start, too.
    void addFile(const QString& path);
    /// A command for each entry, for Ctrl+K.
    std::vector<widgets::SearchEntry> commands();

  private:
    widgets::GalleryRow rowOf(const GalleryEntry& entry) const;
    /// Only while the drawer is visible; without an id, all.
    void refresh(const QString& id);
    /// The map of an entry's sweep, without the drawer over it.
    void showSweep(const QString& id);
    /// Asks for the file of an entry of the user.
    void add();
    void remove(const QString& id);
    /// The figure of the measure that is selected.
    void exportFigure(const QString& id);
    /// Those of earlier starts; once.
    void restoreOwn();

    GalleryRuns& runs_;
    const SweepRunner& runner_;
    SweepController& sweeps_;
    widgets::GalleryDrawer* drawer_;
    bool restored_ = false;  ///< restoreOwn()
};

}  // namespace normscope::app
