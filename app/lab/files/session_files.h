// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/comparison.h"
#include "app/lab/files/io_worker.h"

#include <QStringList>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

/// The pending requests to the files, with the edits and results at that time. A reply has the token of its
/// request; each is applied once, and none to another comparison.
class SessionFiles {
  public:
    void edited() { ++edits_; }
    void recorded() { ++results_; }
    /// Whether rows or samples arrived since the session was saved or opened.
    bool resultsUnsaved() const { return results_ != saved_results_; }

    SaveRequest save(const Comparison& now, const QString& path, const std::string& view_json, bool dragging);
    struct Saved {
        bool of_this_session = false;
        bool edits_too = false;  ///< nothing was edited while the file was written
    };
    /// Nullopt for an unknown token.
    std::optional<Saved> saved(quint64 token);
    bool savingFailed(quint64 token) { return saving_.erase(token) > 0; }

    /// A request to replace this comparison: the newest wins.
    quint64 open() { return opening_ = ++token_; }
    bool opened(quint64 token) {
        return token != 0 && std::exchange(opening_, opening_ == token ? 0 : opening_) == token;
    }
    void discardOpening() { opening_ = 0; }

    quint64 import();
    bool imported(quint64 token) { return imports_.erase(token) > 0; }

    /// Drops the pending requests of the previous comparison.
    void newSession();

  private:
    struct Saving {
        quint64 session = 0, edits = 0, results = 0;
        bool dragging = false;
    };
    std::map<quint64, Saving> saving_;
    std::set<quint64> imports_;
    quint64 token_ = 0, opening_ = 0, session_ = 0;
    quint64 edits_ = 0, results_ = 0, saved_results_ = 0;
};

/// The runs of a session as it was saved. Throws InputError where there is none, or one whose recipe cannot
/// be read.
std::vector<LabRun> runsOf(const OpenedSession& opened);

/// Runs read from their recordings, and the plans of those with a checkpoint.
struct RecoveredRuns {
    std::vector<LabRun> runs;
    std::vector<RunPlan> plans;
    QStringList problems;
};
RecoveredRuns runsOf(const QList<RecoveredRun>& recovered, bool continue_training);

}  // namespace normscope::app
