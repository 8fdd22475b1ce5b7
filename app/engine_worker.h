// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame.h"
#include "core/backend/cpu/thread_pool.h"

#include <QObject>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

namespace normscope::app {

/// The engine: owns the experiments and lives in a thread of its own (the thread it was moved to). The public
/// functions may be called from any thread and return at once; answers come as signals.
///
/// Exploring: the latest request wins, one is in flight. Experiments are kept while only hot knobs move, so
/// that no weights are drawn again. Cheap probes of all runs make the first frame; dearer ones follow, and
/// the next request cancels them. A recipe that can not be built is refused in the first frame, and the other
/// runs are measured all the same.
///
/// Training: all runs step in turn, chunk by chunk of about 16 ms, with the event loop in between. Frames are
/// sent at most every 16 ms and only while fewer than two of them wait to be shown; meanwhile what happens
/// gathers in the next.
class EngineWorker : public QObject {
    Q_OBJECT
  public:
    /// `threads` of the matrix products, this one included.
    explicit EngineWorker(int threads, QObject* parent = nullptr);
    ~EngineWorker() override;

    void explore(ExploreRequest request);
    /// Adds runs to those in training.
    void train(std::uint64_t generation, std::vector<RunPlan> runs);
    void setKnobs(const std::string& id, const HotKnobs& knobs);
    void setPaused(bool paused);
    /// One step of every run, then pause.
    void singleStep();
    /// Ends all training: runs that have not ended become interrupted, with a checkpoint of where they were.
    void stop();
    /// The receiver has dealt with one frame.
    void frameShown() { frames_waiting_.fetch_sub(1); }
    /// Makes the work under way end soon; nothing is started afterwards. Called before the thread is asked to
    /// quit.
    void shutDown();

  Q_SIGNALS:
    void frameReady(const normscope::app::FramePtr& frame);
    /// A request could not be carried out: one line. The generation is that of the request.
    void refused(quint64 generation, const QString& message);
    // For the recording, in this order for each run:
    void runStarted(const normscope::app::RunDataPtr& header);
    void advanced(const QString& id, const normscope::app::RunDeltaPtr& delta);
    void checkpointed(const QString& id, const normscope::app::CheckpointPtr& checkpoint);
    void runEnded(const QString& id);

  private:
    using Clock = std::chrono::steady_clock;
    struct Explored {
        std::string key, id;
        std::unique_ptr<Experiment> experiment;
        StartWeightsPtr weights;
    };
    struct Trained {
        std::unique_ptr<Experiment> experiment;
        std::string id;
        RunFrame pending;
        Clock::time_point last_checkpoint;
        bool failed = false, announced = false, from_weights = false;
        bool ended() const { return failed || experiment->ended(); }
    };

    void takeExploreRequest();
    void answer(const ExploreRequest& request);
    std::vector<RunFrame> prepare(const ExploreRequest& request);
    void start(std::uint64_t generation, std::vector<RunPlan> plans);
    void scheduleChunk();
    void chunk();
    bool advanceOne();
    void take(Trained& run, RunDelta delta);
    void checkpointIfDue(Trained& run, bool now);
    void sendTrainFrame(bool always);
    bool allEnded() const;

    ThreadPool pool_;
    std::mutex mutex_;
    std::optional<ExploreRequest> request_;  ///< guarded by mutex_
    std::atomic<bool> cancel_{false}, shutting_down_{false};
    std::atomic<int> frames_waiting_{0};

    std::vector<Explored> explored_;
    std::vector<Trained> trained_;
    std::size_t turn_ = 0;  ///< whose step is next
    std::uint64_t train_generation_ = 0;
    bool paused_ = false, chunk_scheduled_ = false;
    int single_steps_ = 0;  ///< advances still allowed although paused
    Clock::time_point last_frame_{};
};

}  // namespace normscope::app
