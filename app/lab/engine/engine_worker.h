// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/engine.h"
#include "core/backend/cpu/host/thread_pool.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace normscope::app {

/// The engine of this process: owns the experiments and lives in its own thread (the thread it was moved to).
///
/// Exploring: the latest request wins, one is in flight. Experiments are kept while only hot knobs move, so
/// that no weights are drawn again; a run whose recipe did not change is not measured again. Runs are built
/// and measured at the same time, each on one thread, with one thread more than trains: the interface waits.
/// The first frame has the cheap probes of all runs; expensive ones follow, and the next request cancels
/// them. A recipe that cannot be built is rejected in the first frame, and the other runs are still measured.
///
/// The first frames are drafts, measured on two sequences of the probe batch: first the probes that need the
/// forward pass alone, then those of the backward pass, which is twice as long (during a drag at most at 20
/// Hz, at least at 5). The whole batch and the expensive probes follow at once, or as soon as the dragged
/// knob rests for 25 ms.
///
/// Exploring is always on the CPU: it follows a drag, and needs no memory of a device that may train.
///
/// Training: each run on the device of its plan. A device that fails ends its runs, each with its outcome;
/// the others continue. A round is one step of every run (of a fast device a few steps); rounds are computed
/// in chunks of about 16 ms, with the event loop in between. A pause takes effect at the end of a round, so
/// that runs that started together stay at the same step; a run that is added joins at the next round.
/// Frames are sent at most every 16 ms and only while fewer than two of them wait to be shown; meanwhile
/// changes are collected in the next. Data to record bypasses the interface, through recordings(): a busy
/// interface does not delay it.
///
/// Measuring afterwards, and branching off: runs are replayed in separate experiments, in slices of about
/// 16 ms between those of the training, which is slowed down but not changed.
class EngineWorker final : public Engine {
    Q_OBJECT
  public:
    /// `threads` of the computation, including this one.
    explicit EngineWorker(int threads, QObject* parent = nullptr);
    ~EngineWorker() override;

    int threads() const { return pool_.threads(); }
    /// The first call loads the CUDA plug-in.
    void findDevices() override;
    void explore(ExploreRequest request) override;
    void train(std::uint64_t token, std::vector<RunPlan> runs) override;
    void setKnobs(const std::string& id, const HotKnobs& knobs) override;
    void setWatch(const std::string& id, const std::vector<WatchSpec>& watch) override;
    void setInterventions(const std::string& id, const std::vector<InterventionSpec>& list) override;
    void setPaused(bool paused) override;
    void singleStep() override;
    void stop(const std::vector<std::string>& ids) override;
    void stop() override;
    void measureAt(MeasureRequest request) override;
    void branch(BranchRequest request) override;
    void cancelBranches() override;
    void draft(DraftRequest request) override;
    void frameShown(std::uint64_t /*engine*/) override { frames_waiting_.fetch_sub(1); }
    void shutDown() override;
    /// The queue of data to record, to be taken on recordingWaits().
    const std::shared_ptr<RecordingQueue>& recordings() const { return recordings_; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Explored {
        std::string id;
        Recipe initial;  ///< what its measurement depends on
        std::unique_ptr<Experiment> experiment;
        StartWeightsPtr weights;
        std::optional<Recipe> measured = {};              ///< of `results`; nullopt: none
        std::map<std::string, ProbeResult> results = {};  ///< of the cheap probes, by id
        std::map<std::string, ProbeResult> drafts =
            {};                   ///< the same, of a few sequences, where not in `results`
        double draft_ms = 0;      ///< of the last draft's forward pass and its probes
        std::string failed = {};  ///< why it cannot be measured, in one line; it is built again the next time

        bool measured_all(const std::vector<std::string>& probes) const;
        /// Their results, else drafts.
        std::vector<ProbeResult> of(const std::vector<std::string>& probes) const;
        void report(RunFrame& frame, std::vector<ProbeResult> found) const;
    };
    /// What of a request is still to be measured, once no newer one comes.
    struct Rest {
        std::uint64_t generation = 0;
        Clock::time_point begin{};  ///< of its answer
        std::vector<std::string> cheap, expensive;
    };
    /// A run in training: its output goes into the next frame and its recording.
    struct Trained final : RunSink {
        Trained(EngineWorker& engine, RunPlan& plan);
        void add(const RunDelta& delta) override;
        void save(const CheckpointPtr& checkpoint) override;
        bool ended() const { return run->ended(); }
        /// Nothing of it waits for the next frame.
        bool reported() const {
            return !pending.header && pending.delta.empty() && pending.checkpoints.empty();
        }

        EngineWorker& engine;
        std::string id;
        std::uint64_t token;
        RunFrame pending;
        bool recorded = true;
        std::int64_t due = 0;  ///< steps of the present round that are left
        std::unique_ptr<Run> run;
    };

    void takeExploreRequest();
    void answer(const ExploreRequest& request);
    std::vector<RunFrame> prepare(const ExploreRequest& request);
    void measureCheap(std::size_t run, const std::vector<std::string>& first,
                      const std::vector<std::string>& then, ThreadPool& pool, bool draft,
                      const std::atomic<bool>& cancel, const std::function<void()>& first_measured);
    bool inTurns() const;
    void fitDraft(double rebuilding_ms);
    template <class Measure>
    static void attempt(Explored& run, Measure&& measure);
    template <class Measure>
    void forEachExplored(Measure&& measure);
    void refine(const Rest& rest);
    void start(std::uint64_t token, std::vector<RunPlan> plans);
    template <class Which>
    void interrupt(Which&& which);
    void send(Frame frame);
    void scheduleChunk();
    void chunk();
    bool advanceOne();
    void beginRound();
    bool roundEnded() const;
    bool mayStep() const;
    void pauseAfterRound();
    template <class Work>
    void drive(Trained& trained, Work&& work);
    /// Asks the worker's thread to change a run in training, if it is still there.
    void change(const std::string& id, std::function<void(Run&)> what);
    void wakeRecorder(bool first);
    void takeMeasureRequest();
    void scheduleReplay();
    void replaySlice();
    void advanceReplay();
    void scheduleBranch();
    void branchSlice();
    void scheduleDraft(std::chrono::milliseconds after);
    void draftSlice();
    void sendTrainFrame(bool always);
    template <class Which>
    void drop(Which&& which);
    const DeviceUse& deviceUse();
    bool allEnded() const;

    ThreadPool pool_;
    ThreadPool explore_pool_;  ///< of the cheap probes
    Corpora corpora_;
    std::mutex mutex_;
    std::optional<ExploreRequest> request_;          ///< guarded by mutex_
    std::optional<MeasureRequest> measure_request_;  ///< guarded by mutex_
    std::atomic<bool> cancel_{false}, shutting_down_{false};
    std::atomic<bool> cancel_measuring_{false};  ///< a newer request exists
    std::atomic<int> frames_waiting_{0};

    std::vector<Explored> explored_;
    int draft_tokens_ = 1 << 16;         ///< of each sequence of a draft, of text; all where it has fewer
    Clock::time_point last_backward_{};  ///< of the explored runs, that ended
    Clock::time_point last_begun_backward_{};  ///< that ended or was cancelled, its end
    double backward_ms_ = 0;                   ///< how long that took, after the forward pass
    std::uint64_t replied_ = 0;                ///< the newest generation
    std::vector<std::unique_ptr<Trained>> trained_;
    std::shared_ptr<RecordingQueue> recordings_ = std::make_shared<RecordingQueue>();
    bool watch_triggered_ = false;  ///< in this round
    bool save_when_paused_ = false;
    std::uint64_t frame_number_ = 0;
    bool paused_ = false, chunk_scheduled_ = false;
    int single_rounds_ = 0;                      ///< to be computed while paused
    MeasureRequest measuring_;                   ///< its first run is the current one
    std::unique_ptr<Replay> replay_;             ///< null: not built yet
    std::vector<ProbeResult> replayed_results_;  ///< of its steps so far
    bool replay_scheduled_ = false;
    std::deque<BranchRequest> branches_;     ///< the first is the current one
    std::unique_ptr<Replay> branch_replay_;  ///< its own; null: not built yet
    bool branch_scheduled_ = false;
    DraftRequest drafting_;         ///< its first item is the current one
    std::unique_ptr<Draft> draft_;  ///< null: not built yet
    bool draft_scheduled_ = false;
    Clock::time_point last_explored_{};
    Clock::time_point last_frame_{}, last_device_use_{};
    DeviceUse device_use_;
};

}  // namespace normscope::app
