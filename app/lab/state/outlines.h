// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/pending.h"

#include <QObject>
#include <memory>
#include <set>

namespace normscope::app {

class LabState;

/// Reads the rest of the runs that the comparison has in outline (core/session/outline.h). Interface thread.
class Outlines : public QObject {
    Q_OBJECT
  public:
    explicit Outlines(LabState& state);

    /// Asks for the rest of the outlines in the comparison: of a session that was opened, or that an undo
    /// brought back.
    void read();
    /// Replies to come are dropped.
    void cancel();

  private:
    void apply(const RemainderReplyPtr& reply);

    LabState& state_;
    std::set<std::shared_ptr<const UnreadRun>> requested_;  ///< that are being read, or cannot be
    Pending<RemainderRequestPtr> rests_;
};

}  // namespace normscope::app
