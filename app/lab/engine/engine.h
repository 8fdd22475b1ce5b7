// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/draft_request.h"
#include "app/lab/engine/frame.h"
#include "app/lab/engine/measure_request.h"
#include "core/run/recording_queue.h"

#include <QObject>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// What a laboratory asks of its engine, and the replies: an engine of this process (EngineWorker), one on
/// another machine (remote/remote_engine.h), or several of them as one (remote/engines.h). All requests
/// are values, so that they can be sent. The functions may be called from any thread and return at once;
/// replies are signals, in the thread of the engine.
class Engine : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;

    /// Lists the devices, in devicesFound().
    virtual void findDevices() = 0;
    virtual void explore(ExploreRequest request) = 0;
    /// Adds runs to those in training. One that cannot be built is rejected (startRejected); the others of
    /// the same call start.
    virtual void train(std::uint64_t token, std::vector<RunPlan> runs) = 0;
    virtual void setKnobs(const std::string& id, const HotKnobs& knobs) = 0;
    /// Other watchpoints for a run in training. Where one triggers, all runs pause at the end of that round.
    virtual void setWatch(const std::string& id, const std::vector<WatchSpec>& watch) = 0;
    virtual void setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) = 0;
    virtual void setPaused(bool paused) = 0;
    /// One step of every run, then pause.
    virtual void singleStep() = 0;
    /// Ends the training of these runs: those that have not ended become interrupted, with a checkpoint. The
    /// others continue.
    virtual void stop(const std::vector<std::string>& ids) = 0;
    /// The same for all of them.
    virtual void stop() = 0;
    /// Replays and measures (the checkpoints are in memory); the latest request wins, an empty one cancels
    /// the running one.
    virtual void measureAt(MeasureRequest request) = 0;
    /// Replays a run and returns its state; one request after the other.
    virtual void branch(BranchRequest request) = 0;
    virtual void cancelBranches() = 0;
    /// Drafts, in slices between everything else; the latest request wins, an empty one cancels.
    virtual void draft(DraftRequest request) = 0;
    /// Called when the receiver has processed one frame of the engine with this number (Frame::engine).
    virtual void frameShown(std::uint64_t engine) = 0;
    /// Cancels running work; nothing is started afterwards. Called before the thread quits.
    virtual void shutDown() = 0;

  Q_SIGNALS:
    void devicesFound(const normscope::app::DevicesPtr& devices);
    void frameReady(const normscope::app::FramePtr& frame);
    /// A request to explore or train failed: one line.
    void rejected(quint64 generation, const QString& message);
    /// Of train(): this run does not start.
    void startRejected(quint64 token, const QString& id, const QString& message);
    /// Of a MeasureRequest: progress of a run's replay; the results, run by run (`failed`: the reason, in one
    /// line; with results a remark on them).
    void replayed(quint64 token, const QString& id, qint64 steps_done);
    void measured(quint64 token, const QString& id, const normscope::app::ProbeResultsPtr& results,
                  const QString& failed);
    /// Of a BranchRequest: progress; the checkpoint, or null with the reason in one line (with a checkpoint,
    /// a remark on it).
    void branching(quint64 token, qint64 steps_done);
    void branched(quint64 token, const normscope::app::CheckpointPtr& checkpoint, const QString& failed);
    /// Of a DraftRequest: one of its drafts.
    void drafted(quint64 token, qulonglong index, const normscope::app::DraftResultPtr& result);
    /// This queue of data to record is no longer empty. To be received without the interface's thread.
    void recordingWaits(const std::shared_ptr<normscope::RecordingQueue>& queue);
};

}  // namespace normscope::app
