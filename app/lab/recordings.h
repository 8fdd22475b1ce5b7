// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/pending.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <utility>

namespace normscope::app {

class Edits;
class LabState;

/// The folder of recordings: what is in it, and runs that are added from it to the comparison; and where the
/// runs of the comparison are recorded. Interface thread.
class Recordings : public QObject {
    Q_OBJECT
  public:
    Recordings(LabState& state, Edits& edits);

    /// Asks for the files of the folder; listed() answers.
    void list();
    /// curveRead() answers.
    void readCurve(const QString& path);
    /// Asks for unfinished runs of other processes; interruptedFound() answers.
    void findInterrupted();
    /// Adds the runs of recordings to the comparison, the last of them selected; undoable. Those that it has
    /// already are selected. added() answers.
    void add(const QStringList& paths);
    /// Adds the run of a recording on another machine, "ssh://host /path/to/run.h5", which is followed while
    /// another process writes it. A problem() where it cannot be read.
    void addFrom(const QString& machine_and_path);
    /// Moves a recording to the system's trash; trashed() answers. Not one of the comparison.
    void trash(const QString& path);
    void untrash(const QList<std::pair<QString, QString>>& files);

  Q_SIGNALS:
    void listed(const QList<normscope::app::RecordingRow>& rows, bool complete);
    void curveRead(const QString& path, const normscope::app::RecordingCurve& curve);
    void interruptedFound(const QList<normscope::app::InterruptedRun>& runs);
    void added();  ///< a reply to add() was applied
    void trashed(const QString& path, const QList<std::pair<QString, QString>>& files);

  private:
    void applyRead(const FollowReplyPtr& reply);
    void applyRecovered(quint64 token, const QList<RecoveredRun>& recovered);
    void addRuns(const QList<RecoveredRun>& recovered);
    void applyRecordingBegun(quint64 training, const QString& id, const QString& path);
    void applyNotRecorded(quint64 training, const QString& id, const QString& line);

    LabState& state_;
    Edits& edits_;
    Pending<QString> reading_;  ///< recordings on other machines
};

}  // namespace normscope::app
