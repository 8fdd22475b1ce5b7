// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "app/lab/state/comparison.h"
#include "app/lab/state/pending.h"

#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// What is to replace the comparison: a session, recordings, or the runs of an earlier window.
struct Opening {
    bool resume = false;             ///< recordings: their training continues
    std::vector<SavedRun> restored;  ///< of an earlier window
    QString companion;               ///< its companion file
    /// The restoration that this opening replaced before its reply: it is asked for again if this one fails.
    std::shared_ptr<const Opening> instead_of;
};

/// What is to be added to the comparison.
struct Addition {
    enum class From { Model, Recordings } from;
};

/// The pending requests to the files, with the edits and results at that time.
class SessionFiles {
  public:
    explicit SessionFiles(PendingRequests& requests);

    void edited() { ++edits_; }
    void recorded() { ++results_; }
    /// Whether rows or samples arrived since the session was saved or opened.
    bool resultsUnsaved() const { return results_ != saved_results_; }

    /// `on_purpose`: what is at the path is replaced, even if it has changed since it was read or saved.
    SaveRequest save(const Comparison& now, const QString& path, const std::string& view_json, bool dragging,
                     bool on_purpose);
    /// The file at the path, as it was read or saved last.
    void remember(const QString& path, const FileIdentity& file) { known_[path] = file; }
    bool isKnown(const QString& path) const { return known_.count(path) > 0; }
    struct Saved {
        bool of_this_session = false;
        bool edits_too = false;      ///< nothing was edited while the file was written
        std::set<std::string> runs;  ///< ids of the runs in the file
    };
    /// Nullopt where the reply is stale.
    std::optional<Saved> saved(quint64 token, const QString& path, const FileIdentity& file);
    /// Whether it is of this session; nullopt where the reply is stale.
    std::optional<bool> savingFailed(quint64 token);

    /// The present comparison is another session's: its results are those of the file.
    void newSession() { saved_results_ = results_; }

    /// What replaces this comparison: the newest wins.
    Pending<Opening> opening;
    Pending<Addition> additions;

  private:
    struct Saving {
        quint64 session = 0, edits = 0, results = 0;
        bool dragging = false;
        std::set<std::string> runs;
    };
    PendingRequests& requests_;
    Pending<Saving> saving_;
    std::map<QString, FileIdentity> known_;  ///< by path
    quint64 edits_ = 0, results_ = 0, saved_results_ = 0;
};

}  // namespace normscope::app
