// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled by nvcc for the plug-in, and by the host's compiler for the emulated grid.
#include "core/backend/cuda/launch/replicas.h"

#include <algorithm>
#include <utility>

namespace normscope::cuda {

Replicas::Step::Step(std::shared_ptr<Replicas> group, int replica, Maker& device, Calls calls,
                     const std::atomic<std::uint64_t>& moves)
    : group_(std::move(group)),
      replica_(replica),
      device_(device),
      calls_(std::move(calls)),
      moves_(moves),
      at_(moves) {
    for (const auto& call : calls_) signature_ += call->signature() + '\n';
    std::lock_guard lock(group_->mutex_);
    auto& steps = group_->steps_;
    steps.insert(std::upper_bound(steps.begin(), steps.end(), this,
                                  [](const Step* a, const Step* b) { return a->replica_ < b->replica_; }),
                 this);
}

Replicas::Step::~Step() {
    {
        std::lock_guard lock(group_->mutex_);
        std::erase(group_->steps_, this);
        std::erase_if(group_->joined_, [this](const auto& graph) {
            return std::find(graph.first.begin(), graph.first.end(), this) != graph.first.end();
        });
    }
    group_->changed_.notify_all();  // those that wait for it wait no longer
}

Replicas::Members Replicas::those_of(const std::string& signature) const {
    Members members;
    for (Step* step : steps_)
        if (step->signature_ == signature && !step->away_) members.push_back(step);
    return members;
}

void Replicas::launch(Step& step) {
    std::unique_lock lock(mutex_);
    step.waits_ = true;
    step.away_ = false;
    const std::uint64_t before = step.launches_;
    auto until = std::chrono::steady_clock::now() + patience_;
    while (step.launches_ == before) {
        const Members members = those_of(step.signature_);
        if (std::all_of(members.begin(), members.end(), [](const Step* one) { return one->waits_; })) {
            launch_all(members);
        } else if (changed_.wait_until(lock, until) == std::cv_status::timeout) {
            for (Step* one : members) one->away_ = !one->waits_;
            until = std::chrono::steady_clock::now() + patience_;
        }
    }
    if (const std::exception_ptr error = std::exchange(step.error_, nullptr)) std::rethrow_exception(error);
}

/// Under the lock: all others wait for it anyway.
void Replicas::launch_all(const Members& members) {
    std::exception_ptr error;
    std::size_t count = 0;
    try {
        if (members.size() == 1) {
            Step& one = *members.front();
            if (!one.alone_) one.alone_ = one.device_.executable(pointers_to(one.calls_));
            count = one.calls_.size();
            one.alone_->launch();
        } else {
            auto known = joined_.find(members);
            if (known == joined_.end()) {
                if (joined_.size() == kKept) joined_.clear();
                known = joined_.emplace(members, join(members)).first;
            }
            count = known->second.count;
            known->second.graph->launch();
        }
    } catch (...) {
        error = std::current_exception();
    }
    for (Step* step : members) {
        last_[step->replica_] = {members.size(), count};
        step->waits_ = false;
        step->error_ = error;
        ++step->launches_;
    }
    changed_.notify_all();
}

Replicas::Joined Replicas::join(const Members& members) {
    Maker& device = members.front()->device_;
    Joined joined;
    joined.tables = device.tables();
    std::vector<const Call*> all;
    for (std::size_t i = 0; i < members.front()->calls_.size(); ++i) {
        std::vector<const Call*> of_all;
        for (const Step* step : members) of_all.push_back(step->calls_[i].get());
        if (auto one = of_all.front()->together(of_all, *joined.tables)) {
            all.push_back(one.get());
            joined.calls.push_back(std::move(one));
        } else {
            all.insert(all.end(), of_all.begin(), of_all.end());
        }
    }
    joined.count = all.size();
    joined.graph = device.executable(std::move(all));
    return joined;
}

}  // namespace normscope::cuda
