// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/gallery/findings.h"
#include "core/sweep/sweep_work.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace normscope::app {

/// An entry's folder to be read, or renamed first.
struct GalleryRequest {
    quint64 token = 0;  ///< of its reply
    std::shared_ptr<const GalleryEntry> entry;
    QString folder;
    QString stamp = {};      ///< GalleryReply::stamp of the last reply; empty: read in any case
    bool set_aside = false;  ///< rename the folder; it is not read
};

/// What an entry's folder holds.
struct GalleryReply {
    enum class Found {
        Nothing,     ///< there is no folder
        Sweep,       ///< the entry's sweep, ended or not
        Damaged,     ///< the entry's sweep; a file of it cannot be read
        Other,       ///< another sweep, or something else
        Unchanged,   ///< as it was at the stamp
        SetAside,    ///< renamed to `aside`
        NotSetAside  ///< it cannot be renamed
    } found = Found::Nothing;
    GalleryResult result;    ///< of Nothing and Sweep
    QString stamp;           ///< changes with the files
    QString aside, problem;  ///< the reason of Damaged, Other and NotSetAside, in one line
};
using GalleryReplyPtr = std::shared_ptr<const GalleryReply>;

/// Reads the folders of the gallery's entries one after the other, in its own thread (the thread it was moved
/// to). The public functions may be called from any thread and return at once; the reply is a signal.
class GalleryWorker : public QObject {
    Q_OBJECT
  public:
    /// `files` executes calls to HDF5.
    explicit GalleryWorker(FileCalls files);

    /// `first`: before all others that wait.
    void read(GalleryRequest request, bool first);
    /// Requests that wait are dropped, and the running one ends before its next recording. No further ones.
    void close();

  Q_SIGNALS:
    void replied(quint64 token, const normscope::app::GalleryReplyPtr& reply);

  private:
    void takeRequest();
    GalleryReply replyTo(const GalleryRequest& request) const;

    const FileCalls files_;
    std::mutex mutex_;
    std::deque<GalleryRequest> waiting_;  ///< guarded by mutex_
    std::atomic<bool> closing_{false};
};

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::app::GalleryReplyPtr)
