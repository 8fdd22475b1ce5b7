// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"
#include "app/lab/engine/lab_run.h"
#include "app/lab/state/pending.h"

#include <QObject>
#include <QString>
#include <cstdint>
#include <optional>
#include <string>

namespace normscope::app {

class Edits;
class LabState;
class TrainingControl;

/// Branches runs off trained ones, at any step: the state of a step without a checkpoint is replayed from the
/// nearest one before it, else from step 0. Interface thread.
class Forks : public QObject {
    Q_OBJECT
  public:
    Forks(LabState& state, Edits& edits, TrainingControl& training);

    /// A new run from the selected run's state at the shown step, with the current knobs: its rows before the
    /// step are those of its parent. Of a run that has ended at its last step, `more_steps` are trained; 0:
    /// as many as it has. While a fork is replayed, cancels it. Where the step cannot be replayed, the fork
    /// is from the newest checkpoint before it, which is reported.
    void forkSelected(int more_steps = 0);
    /// Whether the selected run has ended at its last step, and that is shown: a fork needs more steps.
    bool atEnd() const;
    /// The reason if forkSelected() would fork nothing, in one line; else empty.
    QString obstacle() const;

    /// The step at which forkAs() would branch this run off: the shown one, where it is between the run's
    /// first and last step, can be replayed exactly, and the recipe differs in what changes during training;
    /// else nullopt: such a run begins at step 0.
    std::optional<std::int64_t> branchStep(const LabRun& run, const Recipe& recipe) const;
    /// The same with another recipe and name than the selected run's, where branchStep() has a value.
    void forkAs(const LabRun& run, const Recipe& recipe, const std::string& name);

    /// Whether a fork is replayed.
    bool running() const;
    void cancel();
    /// "replaying Post-LN\nto step 45, at 12 …"; empty while nothing is replayed.
    QString status() const;

  Q_SIGNALS:
    void changed();  ///< status()

  private:
    /// Where the selected run forks.
    struct Point {
        std::int64_t step = 0;                  ///< optimizer steps done
        const KnownCheckpoint* from = nullptr;  ///< null: step 0 of its recipe
        std::string remark = {};                ///< why it is not the shown step
        std::string obstacle = {};              ///< why there is none, in one line
    };
    struct Fork {
        std::string parent;
        LabRun run;
        std::string parent_name;
        std::int64_t step = 0;
        int more_steps = 0;            ///< 0: up to its last step
        std::int64_t steps_done = -1;  ///< of its replay; -1: not begun
    };
    std::int64_t wantedStep(const LabRun& run) const;
    Point point(const LabRun& run) const;
    void start(const LabRun& parent, LabRun branch, const Point& from, int more_steps);
    void replay(Fork fork, const CheckpointPtr& from);
    void begin(Fork&& fork, const CheckpointPtr& checkpoint);
    void applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint);
    void applyBranching(quint64 token, qint64 steps_done);
    void applyBranched(quint64 token, const CheckpointPtr& checkpoint, const QString& failed);

    LabState& state_;
    Edits& edits_;
    TrainingControl& training_;
    Pending<Fork> reading_;  ///< their checkpoints
    Pending<Fork> replaying_;
};

}  // namespace normscope::app
