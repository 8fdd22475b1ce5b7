// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/window/files/view_text.h"

#include <QDialog>
#include <QObject>
#include <QPointer>
#include <functional>
#include <map>
#include <string>

namespace normscope::widgets {
class Banner;
}  // namespace normscope::widgets

namespace normscope::app {

class Lab;

/// A file name for the session of these runs: "Pre-LN - Post-LN.h5".
QString sessionFileName(const Lab& lab);

/// The window's commands for sessions: open, save, import, a new comparison, and the question before anything
/// is lost. Interface thread.
class FilesController : public QObject {
    Q_OBJECT
  public:
    /// `window` is the parent of dialogs.
    FilesController(Lab& lab, widgets::Banner& banner, ViewText view, QWidget* window);

    void openSession(const QString& path);
    /// Opens a session; asks first if there are unsaved changes or a run is training. Of a folder
    /// sweepRequested() is emitted instead; of a folder with a model, that is imported.
    void confirmAndOpen(const QString& path);
    /// Asks which file.
    void open();
    /// Writes the session there and remembers the path. Returns the token and takes
    /// `on_purpose` of LabSession::save().
    quint64 saveSession(const QString& path, bool on_purpose = false);
    void save();
    void saveAs();
    void importModel();
    /// Asks for the folder of runs that learned, whose band is drawn below the runs.
    void chooseHealthyRuns();
    void removeHealthyRuns();
    void newComparison();
    /// Calls `then` at once if nothing would be lost; else asks: save first, discard, or cancel.
    void leaving(const QString& title, std::function<void()> then);

  Q_SIGNALS:
    void sweepRequested(const QString& folder);
    void recentFilesChanged();
    void opened();  ///< a session, with its view

  private:
    void applyOpened(const OpenedSessionPtr& opened);
    void applySaved(const QString& path, quint64 token, bool present);
    bool asksWhereToSave() const;
    void saveAndThen(std::function<void()> then);

    Lab& lab_;
    widgets::Banner& banner_;
    const ViewText view_;
    QWidget* window_;
    QPointer<QDialog> requested_;                            ///< the question of leaving(), while it is open
    std::map<quint64, std::function<void()>> after_saving_;  ///< by the token of the save
};

}  // namespace normscope::app
