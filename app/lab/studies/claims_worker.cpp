// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/studies/claims_worker.h"

#include "core/base/error.h"
#include "core/claims/initial_input.h"
#include "core/probe/interface/probe_input.h"
#include "core/run/checkpoints/replay.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

ClaimsWorker::ClaimsWorker(int threads, FileCalls files) : threads_(threads), files_(std::move(files)) {}

void ClaimsWorker::check(ClaimsRequest request) {
    {
        const std::lock_guard lock(mutex_);
        request_ = std::move(request);
        cancel_ = true;
    }
    QMetaObject::invokeMethod(this, &ClaimsWorker::takeRequest, Qt::QueuedConnection);
}

void ClaimsWorker::cancel() {
    const std::lock_guard lock(mutex_);
    request_.reset();
    cancel_ = true;
}

void ClaimsWorker::takeRequest() {
    ClaimsRequest request;
    {
        const std::lock_guard lock(mutex_);
        if (!request_) return;  // cancelled, or taken by an earlier wake-up
        request = std::move(*request_);
        request_.reset();
        cancel_ = false;
    }
    try {
        measureAll(request);
        Q_EMIT ended(request.token, {});
    } catch (const Cancelled&) {
        // Not requested any more.
    } catch (const std::exception& error) {
        Q_EMIT ended(request.token, QString::fromUtf8(error.what()));
    }
}

void ClaimsWorker::measureAll(const ClaimsRequest& request) {
    if (!pool_) pool_.emplace(threads_);
    const Opened opened = open(request);
    Q_EMIT began(request.token, opened.step, opened.remark);
    for (const std::string& id : request.ids) {
        const Claim* claim = find_claim(id);
        if (!claim) throw InputError("claims", "\"" + id + "\" is not a claim", "an id of the table");
        const ClaimResult result = check_claim(*claim, *opened.input);
        if (cancel_) throw Cancelled{};
        Q_EMIT measured(request.token, QString::fromStdString(id), result);
    }
}

ClaimsWorker::Opened ClaimsWorker::open(const ClaimsRequest& request) {
    if (!request.run) {
        if (!request.weights) return {initial_claim_input(request.recipe, *pool_, nullptr, &cancel_), 0, {}};
        return {loaded_claim_input(request.recipe, request.weights->tensors, request.weights->source, *pool_,
                                   &cancel_),
                0,
                {}};
    }
    QString remark;
    try {
        const RunCheckpoint at = atItsStep(request);
        return {recorded_claim_input(at, request.run->name, *pool_, *request.run, &cancel_),
                at.checkpoint.step,
                {}};
    } catch (const InputError& error) {
        remark = QString::fromUtf8(error.what());
    } catch (const SystemError& error) {
        remark = QString::fromUtf8(error.what());
    }
    // Weights that no seed draws are known from a checkpoint alone.
    if (startedFromWeights(*request.run)) throw InputError(remark.toStdString());
    return {initial_claim_input(request.recipe, *pool_, nullptr, &cancel_, request.run.get()), 0, remark};
}

/// The newest checkpoint where no row is after the step, else the nearest one before it and a replay.
RunCheckpoint ClaimsWorker::atItsStep(const ClaimsRequest& request) {
    const RunData& run = *request.run;
    const std::int64_t last = run.steps.step.empty() ? 0 : run.steps.step.back();
    const bool newest = request.step >= last;
    const KnownCheckpoint* from = nullptr;
    for (const KnownCheckpoint& known : request.checkpoints)
        if ((newest || known.step <= request.step) && (!from || known.step > from->step)) from = &known;
    const auto checkpoint = from ? loaded(from->source) : nullptr;
    if (checkpoint && (newest || checkpoint->step == request.step))
        return at_checkpoint(*checkpoint, run.name);

    const std::int64_t target = std::min(request.step, last);
    const std::string obstacle = replay_obstacle(run.events, checkpoint.get(), target);
    if (!obstacle.empty()) throw InputError(obstacle);
    RunData header = run;
    header.steps = {};
    header.probes.clear();
    Device& device = replay_device(header);
    Replay replay({std::move(header), checkpoint, target, {}}, device);
    while (!replay.arrived()) {
        if (cancel_) throw Cancelled{};
        Q_EMIT replayed(request.token, replay.steps_done(), target);
        replay.advance(*pool_);
    }
    return at_checkpoint(replay.checkpoint(), run.name);
}

std::shared_ptr<const Checkpoint> ClaimsWorker::loaded(const CheckpointSource& source) {
    if (const auto* memory = std::get_if<std::shared_ptr<const Checkpoint>>(&source.from)) return *memory;
    std::shared_ptr<const Checkpoint> read;
    files_([&] {
        if (const auto* path = std::get_if<std::string>(&source.from)) {
            read = std::make_shared<const Checkpoint>(read_checkpoint(*path));
        } else {
            const auto& inside = std::get<EmbeddedCheckpoint>(source.from);
            read = std::make_shared<const Checkpoint>(
                load_checkpoint(inside.session_path, inside.run_id, inside.step));
        }
    });
    return read;
}

}  // namespace normscope::app
