// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/claims_check.h"

#include "app/lab/lab.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

/// The same weights, data and recorded samples.
bool same(const ClaimsSubject& a, const ClaimsSubject& b) {
    return a.run == b.run && a.trained == b.trained && a.weights == b.weights && a.step == b.step &&
           a.last == b.last && same_recipe(a.recipe, b.recipe);
}

/// It measures a run and a recipe; while a run trains or is scrubbed, its step changes.
bool sameRecipe(const ClaimsSubject& a, const ClaimsSubject& b) {
    return a.run == b.run && a.weights == b.weights && same_recipe(a.recipe, b.recipe);
}

}  // namespace

ClaimsCheck::ClaimsCheck(Lab& lab, PendingRequests& requests, int threads, FileCalls files,
                         std::function<void(std::function<void()>)> deliver)
    : lab_(lab),
      threads_(threads),
      files_(std::move(files)),
      deliver_(std::move(deliver)),
      running_(requests, "claims", Pending<Running>::Replies::OfNewest, PendingKind::Owner::Window) {
    connect(&lab_, &Lab::runsChanged, this, &ClaimsCheck::follow);
    connect(&lab_, &Lab::viewChanged, this, &ClaimsCheck::follow);
    connect(&lab_, &Lab::trainingChanged, this, &ClaimsCheck::follow);
    // Its runs may have the ids of those before it.
    connect(&lab_.session(), &LabSession::opened, this, [this] {
        cancel();
        stored_.clear();
        failures_.clear();
        Q_EMIT changed();
    });
}

ClaimsCheck::~ClaimsCheck() {
    if (worker_) (*worker_)->cancel();
}

ClaimsSubject ClaimsCheck::subject() const {
    const LabRun& run = lab_.comparison().selectedRun();
    ClaimsSubject now{run.id, run.committed() ? run.live : run.recipe, run.trained(), 0, 0, {}};
    if (now.trained) {
        now.last = run.lastStep();
        now.step = std::min<std::int64_t>(lab_.view().step(), now.last);
    } else {
        now.weights = run.weights;
    }
    return now;
}

QString ClaimsCheck::obstacle() const {
    const LabRun& run = lab_.comparison().selectedRun();
    if (run.data->unread) return notReadYet(lab_.comparison());
    if (run.trained()) return {};
    if (run.needsFile()) return tr("The file of its text is not chosen yet");
    return QString::fromStdString(run.rejection);
}

std::size_t ClaimsCheck::wanted() const {
    return only_.empty() ? claims().size() : only_.size();
}

const CheckedClaims* ClaimsCheck::shown() const {
    const auto kept = stored_.find(lab_.comparison().selectedRun().id);
    if (kept == stored_.end() || kept->second.empty()) return nullptr;
    const std::vector<CheckedClaims>& all = kept->second;
    if (const Running* now = running_.newest(); now && now->run == kept->first) return &all[now->kept];
    const ClaimsSubject now = subject();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const CheckedClaims& one) { return same(one.subject, now); });
    return found == all.end() ? &all.back() : &*found;
}

QString ClaimsCheck::outdated() const {
    const CheckedClaims* one = shown();
    if (!one) return {};
    const ClaimsSubject now = subject(), &then = one->subject;
    if (!then.trained && now.trained) return tr("it has been trained since");
    if (then.trained && !now.trained) return tr("its training is no longer there");
    if (!sameRecipe(then, now)) return tr("the recipe has changed since");
    if (then.last != now.last) return tr("it has trained further since");
    if (then.step != now.step) return tr("the window shows step %1").arg(now.step);
    return {};
}

QString ClaimsCheck::failure() const {
    const auto found = failures_.find(lab_.comparison().selectedRun().id);
    return found == failures_.end() ? QString() : found->second;
}

void ClaimsCheck::connectWorker() {
    worker_ = std::make_unique<WorkerThread<ClaimsWorker>>("claims", threads_, files_);
    const auto on = [this](auto signal, auto member) {
        connect(worker_->get(), signal, this, [this, member](const auto&... arguments) {
            deliver_([this, member, arguments...] { (this->*member)(arguments...); });
        });
    };
    on(&ClaimsWorker::replayed, &ClaimsCheck::applyReplayed);
    on(&ClaimsWorker::began, &ClaimsCheck::applyBegan);
    on(&ClaimsWorker::measured, &ClaimsCheck::applyMeasured);
    on(&ClaimsWorker::ended, &ClaimsCheck::applyEnded);
}

void ClaimsCheck::start() {
    if (!obstacle().isEmpty()) return;
    cancel();
    const LabRun& run = lab_.comparison().selectedRun();
    const ClaimsSubject now = subject();
    std::vector<CheckedClaims>& all = stored_[run.id];
    const auto old = std::find_if(all.begin(), all.end(),
                                  [&](const CheckedClaims& one) { return same(one.subject, now); });
    CheckedClaims next{now};
    if (old != all.end()) {
        if (old->results.size() < wanted()) next = std::move(*old);
        all.erase(old);
    } else if (all.size() >= kStored) {
        all.erase(all.begin());
    }
    ClaimsRequest request;
    request.recipe = now.recipe;
    request.weights = now.weights;
    if (now.trained) {
        request.run = std::make_shared<const RunData>(*run.data);  // it may grow meanwhile
        request.step = now.step;
        request.checkpoints = run.checkpoints;
    }
    for (const Claim& claim : claims()) {
        const bool asked = only_.empty() || std::count(only_.begin(), only_.end(), claim.id);
        if (asked && !next.results.count(claim.id)) request.ids.push_back(claim.id);
    }
    all.push_back(std::move(next));
    failures_.erase(run.id);
    request.token = running_.ask({run.id, all.size() - 1, {}});
    if (!worker_) connectWorker();
    (*worker_)->check(std::move(request));
    Q_EMIT changed();
}

void ClaimsCheck::cancel() {
    const Running* now = running_.newest();
    if (!now) return;
    // What arrived before the first result states nothing.
    std::vector<CheckedClaims>& all = stored_[now->run];
    if (all[now->kept].results.empty()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(now->kept));
    running_.drop();
    (*worker_)->cancel();
    Q_EMIT changed();
}

void ClaimsCheck::follow() {
    if (const Running* running = running_.newest()) {
        const ClaimsSubject now = subject(), &measured = stored_[running->run][running->kept].subject;
        if (!sameRecipe(measured, now) || measured.trained != now.trained) return cancel();
    }
    Q_EMIT changed();
}

CheckedClaims* ClaimsCheck::target(quint64 token) {
    const Running* running = running_.find(token);
    return running ? &stored_[running->run][running->kept] : nullptr;
}

void ClaimsCheck::applyReplayed(quint64 token, qint64 done, qint64 of) {
    Running* running = running_.find(token);
    if (!running) return;
    running->replaying = tr("replay at %1 of %2").arg(done).arg(of);
    Q_EMIT changed();
}

void ClaimsCheck::applyBegan(quint64 token, qint64 step, const QString& remark) {
    CheckedClaims* now = target(token);
    if (!now) return;
    running_.find(token)->replaying.clear();
    now->measured_at = step;
    now->remark = remark;
    Q_EMIT changed();
}

void ClaimsCheck::applyMeasured(quint64 token, const QString& id, const ClaimResult& result) {
    CheckedClaims* now = target(token);
    if (!now) return;
    now->results.insert_or_assign(id.toStdString(), result);
    Q_EMIT measured(id);
}

void ClaimsCheck::applyEnded(quint64 token, const QString& failed) {
    const std::optional<Running> ended = running_.take(token);
    if (!ended) return;
    if (!failed.isEmpty()) failures_[ended->run] = failed;
    auto& all = stored_[ended->run];
    const auto now = all.begin() + static_cast<std::ptrdiff_t>(ended->kept);
    if (now->results.empty()) all.erase(now);
    Q_EMIT changed();
}

}  // namespace normscope::app
