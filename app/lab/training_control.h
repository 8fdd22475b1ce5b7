// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"
#include "app/lab/state/pending.h"
#include "app/lab/state/training.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace normscope::app {

class Devices;
class Edits;
class LabState;
struct NewRuns;

/// Controls the training: starts, pauses, stops and resumes runs. Interface thread.
class TrainingControl : public QObject {
    Q_OBJECT
  public:
    TrainingControl(LabState& state, Edits& edits, const Devices& devices);

    bool playing() const;
    /// What play() does now, or pause() if the training runs.
    enum class Act {
        Pause,
        Continue,     ///< the paused training
        Train,        ///< the runs that are not trained
        StartNew,     ///< startNewRuns(): knobs of trained runs have changed
        StartAgain,   ///< replaceRuns(): the same, where replacesRuns()
        ResumeEnded,  ///< the runs that were stopped or failed before their last step
        MoreSteps,    ///< moreSteps() more of the runs that have ended at their last step
        Follow,       ///< nothing here: another process trains
        None          ///< every run has ended
    };
    Act nextAct() const;
    /// Of Act::MoreSteps: as many as those runs were planned with at first, of several the fewest; else 0.
    int moreSteps() const;
    void play();
    void pause();
    void togglePlay();
    void singleStep();
    void stop();
    /// New runs of the trained ones whose knobs have changed: added to them, or in their place. Undoable.
    void startNewRuns();
    void replaceRuns();
    /// Which of the two play() does. On where the runs keep their places: those of a story.
    void setReplacesRuns(bool replaces);
    bool replacesRuns() const { return replaces_; }
    /// Starts these runs of the comparison, on their devices, else on the chosen one. `before`: the data of
    /// runs that were changed for the start.
    void begin(std::vector<RunPlan> plans, Training::Data before = {});

    /// Continues runs that failed or were interrupted from their newest checkpoints, without one from step 0,
    /// each in its recording; on that device, empty: the chosen one. They start together, when all of their
    /// checkpoints are read.
    void resumeRuns(const std::vector<std::string>& ids, const std::string& backend = {});
    /// Trains moreSteps() more of every run that has ended at its last step, each in its recording; on that
    /// device, empty: the chosen one. Undo restores the plan and keeps the rows.
    void trainFurther(const std::string& backend = {});
    /// Ids of the runs that failed, and a line on each.
    std::vector<std::pair<std::string, QString>> failedRuns() const;

    double stepMs() const;
    double probeOverhead() const;
    DeviceUse deviceUse() const;

  private:
    /// Runs that are resumed together, once the checkpoints of all are read.
    struct Resumption {
        std::string backend;
        int more_steps = 0;  ///< 0: up to their last step
        std::size_t unread = 0;
        std::vector<std::pair<std::string, CheckpointPtr>> runs;  ///< null: from step 0
    };
    struct ResumedRun {
        std::string id;
        std::shared_ptr<Resumption> with;
    };
    /// Whether this run can go into it, now.
    static bool belongs(const LabRun& run, const Resumption& resumption);
    void resume(const std::vector<std::string>& ids, const std::string& backend, int more_steps);
    void start(NewRuns runs, const QString& text);
    void applyStartRejected(quint64 token, const QString& id, const QString& message);
    void applyCheckpoint(quint64 token, const CheckpointPtr& checkpoint);
    void beginResumed(const Resumption& resumption);

    LabState& state_;
    Edits& edits_;
    const Devices& devices_;
    Pending<ResumedRun> resumptions_;
    bool replaces_ = false;
};

}  // namespace normscope::app
