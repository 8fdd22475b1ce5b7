// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the engine that drafts remedies of failed runs.
#include "app/lab/engine/engine_worker.h"
#include "core/run/checkpoints/replay.h"

#include <QTimer>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kEngineDraftSlice = 16ms;
constexpr auto kAfterExploring = 250ms;  // a drag is answered without waiting for a step of a draft

}  // namespace

void EngineWorker::draft(DraftRequest request) {
    QMetaObject::invokeMethod(
        this,
        [this, request = std::move(request)]() mutable {
            drafting_ = std::move(request);
            draft_.reset();
            scheduleDraft(0ms);
        },
        Qt::QueuedConnection);
}

void EngineWorker::scheduleDraft(std::chrono::milliseconds after) {
    if (draft_scheduled_ || shutting_down_) return;
    draft_scheduled_ = true;
    QTimer::singleShot(after, this, [this] {
        draft_scheduled_ = false;
        draftSlice();
    });
}

void EngineWorker::draftSlice() {
    if (shutting_down_ || drafting_.items.empty()) return;
    if (Clock::now() - last_explored_ < kAfterExploring) return scheduleDraft(kAfterExploring);
    const DraftRequest::Item& item = drafting_.items.front();
    std::shared_ptr<const DraftResult> result;
    try {
        const auto end = Clock::now() + kEngineDraftSlice;
        if (!draft_) {
            RunData recorded;
            recorded.backend = drafting_.backend;
            draft_ =
                std::make_unique<Draft>(item.recipe, pool_.threads(), &corpora_, replay_device(recorded));
        }
        while (!draft_->ended() && !shutting_down_ && Clock::now() < end) draft_->advance(pool_);
        if (!draft_->ended()) return scheduleDraft(0ms);
        result = std::make_shared<const DraftResult>(
            evaluate_draft(draft_->first(), draft_->outcome(), drafting_.control));
    } catch (const std::exception& error) {
        result = std::make_shared<const DraftResult>(infeasible_draft(error.what()));
    }
    const auto index = static_cast<qulonglong>(item.index);
    const quint64 token = drafting_.token;
    drafting_.items.erase(drafting_.items.begin());
    draft_.reset();
    Q_EMIT drafted(token, index, result);
    scheduleDraft(0ms);
}

}  // namespace normscope::app
