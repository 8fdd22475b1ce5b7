// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/throttle.h"

#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <utility>

class QDropEvent;
class QLabel;
class QWidget;

namespace normscope::widgets {
class Banner;
class RunsDrawer;
class DropTarget;
class SpaceDialog;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// The recordings in the window: their list, what they take on the disk, moving them to the trash and back,
/// and dragging them into the comparison. Interface thread.
class RecordingsController : public QObject {
    Q_OBJECT
  public:
    struct Places {
        QWidget* panels;        ///< under the drawer
        QWidget *area, *strip;  ///< on which a recording may be dropped
        QWidget* window;        ///< the parent of drawer and dialog
        widgets::DropTarget* target;
    };
    /// Follows the drag and drop of `places.window`, which gets only those of the drawer's rows.
    RecordingsController(Lab& lab, const Places& places, const QString& folder, widgets::Banner& banner);

    widgets::RunsDrawer* drawer() const { return drawer_; }
    /// Opens the list, or closes it.
    void toggle();
    /// Asks for a recording on another machine, and adds its run.
    void openElsewhere();
    /// Opens the window of what the recordings take.
    void showSpace();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    using Moved = QList<std::pair<QString, QString>>;
    void connectDrawer();
    /// Lists the files again; only while something shows them.
    void listLater();
    bool isShown() const;
    void showCompared();
    void giveCurve(const QString& path);
    void fillSpace();
    void confirmTrash(const QString& path, const QString& name);
    void trashAll(const QStringList& paths);
    void takeTrashed(const QString& path, const Moved& files);
    void undoTrash();
    bool takesAt(const QPoint& position) const;
    void showDropTarget(bool shown);
    void drop(const QDropEvent& event);

    Lab& lab_;
    const Places places_;
    const QString folder_;
    widgets::Banner& banner_;
    widgets::RunsDrawer* drawer_;
    QPointer<widgets::SpaceDialog> space_;
    widgets::Throttle list_later_;
    QStringList trashing_;  ///< ordered in the window of space, not moved yet
    Moved trashed_;         ///< moved by its last order: now, before
    int moved_ = 0;         ///< recordings in trashed_
};

}  // namespace normscope::app
