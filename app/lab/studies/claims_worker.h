// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "core/claims/claims.h"
#include "core/run/checkpoints/run_checkpoint.h"
#include "core/sweep/sweep_work.h"

#include <QMetaType>
#include <QObject>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// What claims are measured on: a recipe at its start weights, or a recorded run at a step.
struct ClaimsRequest {
    std::uint64_t token = 0;  ///< of its replies
    Recipe recipe;
    StartWeightsPtr weights = {};              ///< imported start weights; null: drawn from the seed
    std::shared_ptr<const RunData> run = {};   ///< null: not trained
    std::int64_t step = 0;                     ///< of the run; from its last row on its newest checkpoint
    std::vector<KnownCheckpoint> checkpoints;  ///< of the run
    std::vector<std::string> ids;              ///< of the claims, in the order of their measurement
};

/// Measures claims one after the other, in its own thread (the thread it was moved to) with its own pool. The
/// public functions may be called from any thread and return at once; replies are signals.
///
/// A recorded run is measured as by `normscope-cli check RUN.h5@STEP`: at the checkpoint of the step, else
/// after a replay from the nearest one before it. Where the run cannot be replayed (a knob was moved in
/// between, a checkpoint cannot be read), at its weights of step 0, which began() states.
///
/// The latest request wins. A newer one and cancel() end the running one: between two claims, inside probes
/// and dense maps, and between the steps of a replay; replies that were sent before have their own token.
class ClaimsWorker : public QObject {
    Q_OBJECT
  public:
    /// `files` executes calls to HDF5.
    ClaimsWorker(int threads, FileCalls files);

    void check(ClaimsRequest request);
    void cancel();

  Q_SIGNALS:
    /// The replay of a run towards its step.
    void replayed(quint64 token, qint64 steps_done, qint64 of);
    /// The step of the weights that are measured; `remark`: why they are not those of the requested step.
    void began(quint64 token, qint64 step, const QString& remark);
    void measured(quint64 token, const QString& id, const normscope::ClaimResult& result);
    /// The last reply to a request that was not cancelled. `failed`: why it measured nothing, or no more, in
    /// one line.
    void ended(quint64 token, const QString& failed);

  private:
    struct Opened {
        std::unique_ptr<ClaimInput> input;
        std::int64_t step = 0;
        QString remark;
    };
    void takeRequest();
    void measureAll(const ClaimsRequest& request);
    Opened open(const ClaimsRequest& request);
    RunCheckpoint atItsStep(const ClaimsRequest& request);
    std::shared_ptr<const Checkpoint> loaded(const CheckpointSource& source);

    const int threads_;
    const FileCalls files_;
    std::optional<ThreadPool> pool_;  ///< built for the first request
    std::mutex mutex_;
    std::optional<ClaimsRequest> request_;  ///< guarded by mutex_
    std::atomic<bool> cancel_{false};
};

}  // namespace normscope::app

Q_DECLARE_METATYPE(normscope::ClaimResult)
