// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/pending.h"

#include <QObject>
#include <QString>
#include <QTimer>
#include <map>
#include <string>

namespace normscope::app {

class LabState;
struct LabRun;

/// Shows runs that other processes write as they grow, here or on other machines: their recordings are read
/// about twice a second, and nothing of them is changed. When the writer has ended, a run becomes an ordinary
/// one. Interface thread.
class Following : public QObject {
    Q_OBJECT
  public:
    explicit Following(LabState& state);

    /// "Post-LN is written by process 812 and shown live"; empty for a run that is not followed.
    static QString lineOf(const LabRun& run);
    /// Whether any run of the comparison is followed.
    bool any() const;

  Q_SIGNALS:
    /// A run's writer was found, or has ended: one line.
    void noted(const QString& line);

  private:
    void update();
    void ask();
    void apply(const FollowReplyPtr& reply);
    using Reading = Pending<bool>;
    Reading& readingOf(const std::string& place);
    bool extend(LabRun& run, const FollowReply::Run& read, QStringList& panels);
    void end(LabRun& run, const QString& line, QStringList& panels);

    LabState& state_;
    std::map<std::string, Reading> reading_;  ///< by machine, as its place is written; this one: empty
    QTimer next_;
};

}  // namespace normscope::app
