// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/remote/open_requests.h"

#include "app/lab/remote/overloaded.h"

#include <limits>
#include <utility>

namespace normscope::app {

void OpenRequests::asked(const ask::Any& message) {
    std::visit(Overloaded{[&](const ask::Explore& asked) { exploring_ = asked.request.generation; },
                          [&](const ask::Train& asked) {
                              for (const RunPlan& plan : asked.runs)
                                  starting_[{asked.token, plan.id}] = plan.recording;
                          },
                          [&](const ask::Measure& asked) {
                              measuring_ = asked.request.token;
                              measured_runs_.clear();
                              for (const MeasurePlan& plan : asked.request.runs)
                                  measured_runs_.insert(plan.replay.header.id);
                          },
                          [&](const ask::Branch& asked) { branches_.insert(asked.request.token); },
                          [&](const ask::Follow& asked) { followed_[asked.request.token] = asked.request; },
                          [&](const ask::Sweep& asked) { sweeps_.insert(asked.request.token); },
                          [&](const ask::CancelBranches&) { branches_.clear(); },
                          [&](const ask::Draft& asked) {
                              drafting_ = asked.request.token;
                              drafts_.clear();
                              for (const DraftRequest::Item& item : asked.request.items)
                                  drafts_.insert(item.index);
                          },
                          [](const auto&) {}},
               message);
}

void OpenRequests::answered(const reply::Any& message) {
    std::visit(Overloaded{[&](const reply::Framed& answer) { frame(answer.frame); },
                          [&](const reply::Rejected& answer) {
                              if (exploring_ == answer.generation) exploring_.reset();
                          },
                          [&](const reply::StartRejected& answer) {
                              starting_.erase({answer.token, answer.id});
                          },
                          [&](const reply::Measured& answer) {
                              if (answer.token == measuring_) measured_runs_.erase(answer.id);
                          },
                          [&](const reply::Followed& answer) { followed_.erase(answer.reply.token); },
                          [&](const reply::Swept& answer) {
                              if (std::holds_alternative<SweepReply::Over>(answer.reply.what))
                                  sweeps_.erase(answer.reply.token);
                          },
                          [&](const reply::Branched& answer) { branches_.erase(answer.token); },
                          [&](const reply::Drafted& answer) {
                              if (answer.token == drafting_) drafts_.erase(answer.index);
                          },
                          [](const auto&) {}},
               message);
}

void OpenRequests::frame(const Frame& frame) {
    if (frame.kind == Frame::Kind::Explore) {
        if (frame.complete && exploring_ == frame.generation) exploring_.reset();
        return;
    }
    for (const RunFrame& run : frame.runs) {
        if (run.header) {
            starting_.erase({run.training, run.id});
            const StepTable& before = run.header->steps;
            running_[run.id] = {run.training, before.rows() > 0 ? before.step.back() : -1};
        }
        const auto found = running_.find(run.id);
        if (found == running_.end() || found->second.training != run.training) continue;
        if (!run.delta.steps.empty()) found->second.last_step = run.delta.steps.back().step;
        if (run.delta.outcome && run.delta.outcome->state != RunState::Running &&
            run.delta.outcome->state != RunState::Paused)
            running_.erase(found);
    }
}

std::string OpenRequests::recording(std::uint64_t training, const std::string& id) const {
    const auto found = starting_.find({training, id});
    return found == starting_.end() ? std::string() : found->second;
}

std::vector<reply::Any> OpenRequests::fail(const std::string& line) {
    std::vector<reply::Any> replies;
    if (exploring_) replies.push_back(reply::Rejected{*exploring_, line});
    for (const auto& [start, recording] : starting_)
        replies.push_back(reply::StartRejected{start.first, start.second, line});
    for (const std::string& id : measured_runs_)
        replies.push_back(reply::Measured{measuring_, id, nullptr, line});
    for (const std::uint64_t token : branches_) replies.push_back(reply::Branched{token, nullptr, line});
    for (const std::uint64_t index : drafts_)
        replies.push_back(reply::Drafted{drafting_, index, infeasible_draft(line)});
    for (const auto& [token, request] : followed_) {
        FollowReply reply{token, {}, 0};
        for (const FollowRequest::Run& run : request.runs) reply.runs.push_back({run.id, run.path, {}, line});
        replies.push_back(reply::Followed{std::move(reply)});
    }
    for (const std::uint64_t token : sweeps_)
        replies.push_back(reply::Swept{{token, SweepReply::Over{{}, line}}});
    auto running = std::move(running_);
    *this = {};
    running_ = std::move(running);
    return replies;
}

std::vector<reply::Any> OpenRequests::end(const std::string& line) {
    std::vector<reply::Any> replies = fail(line);
    if (!running_.empty()) {
        Frame last;
        last.kind = Frame::Kind::Train;
        last.complete = true;
        for (const auto& [id, run] : running_) {
            RunFrame& ended = last.runs.emplace_back(RunFrame{id});
            ended.training = run.training;
            ended.delta.events.push_back({run.last_step + 1, "outcome", "interrupted: " + line});
            ended.delta.outcome = Outcome{RunState::Interrupted, run.last_step + 1, line, -1};
        }
        replies.push_back(reply::Framed{std::move(last)});
    }
    running_.clear();
    return replies;
}

}  // namespace normscope::app
