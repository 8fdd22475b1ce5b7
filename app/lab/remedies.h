// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/draft_request.h"
#include "app/lab/state/pending.h"
#include "app/lab/studies/remedy_trials.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope::app {

class Edits;
class Forks;
class LabState;
struct LabRun;
class TrainingControl;

/// The remedies of the runs that failed: their drafts, and the runs that try them. Interface thread.
class Remedies : public QObject {
    Q_OBJECT
  public:
    Remedies(LabState& state, Edits& edits, TrainingControl& training, Forks& forks);

    /// Of the selected run, else of the first one, that failed; null where none has.
    const RemedyTrials* trials() const;
    /// Drafts those that are not drafted yet. It is done without asking where it takes seconds.
    void draft();
    /// Adds a run for each of these remedies (indices of trials()) and trains them in lock-step; undoable.
    /// More than one are the runs of "Try all", which begin at step 0. A single one begins at branchStep().
    void tryOut(const std::vector<std::size_t>& which);
    /// The shown step, where this remedy alone branches off there; nullopt: it begins at step 0.
    std::optional<std::int64_t> branchStep(std::size_t which) const;

    /// The runs of "Try all", by the id of the failed run.
    std::map<std::string, std::vector<std::string>> tried() const;
    void restoreTried(const std::map<std::string, std::vector<std::string>>& tried);
    /// The session is left: drafts that are made are no longer wanted.
    void leaveSession();

  Q_SIGNALS:
    void changed();  ///< trials()

  private:
    struct Drafting {
        std::string run;                 ///< the failed one
        std::set<std::size_t> remedies;  ///< that are not drafted yet
    };
    const LabRun* failedRun() const;
    void update();
    void cancelDrafts();
    void applyDrafted(quint64 token, qulonglong index, const DraftResultPtr& result);

    LabState& state_;
    Edits& edits_;
    TrainingControl& training_;
    Forks& forks_;
    std::map<std::string, RemedyTrials> remedies_;  ///< by the id of the failed run
    /// The id of failedRun() as it was last seen; empty: none. Nullopt: of another session.
    std::optional<std::string> shown_ = std::string();
    Pending<Drafting> drafting_;
};

}  // namespace normscope::app
