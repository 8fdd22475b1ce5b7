// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the engine that measures initial states: what follows a knob.
#include "app/lab/engine/engine_worker.h"
#include "app/lab/engine/experiments.h"
#include "core/backend/cpu/host/available_cores.h"
#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/memory_need.h"
#include "core/run/probe_steps.h"

#include <QScopeGuard>
#include <QTimer>
#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

// During a drag.
constexpr auto kBackwardInterval = 80ms;
constexpr auto kBackwardPatience = 500ms;
constexpr double kShortBackward = 12;  // ms, less than between two moves
constexpr auto kRest = 60ms;           // more than between two moves that change a value
constexpr auto kBurst = 100ms;         // more than between two notches of a wheel or repeats of a key
constexpr int kDraftSequences = 2;     // the fewest with an error bar
constexpr double kDraftBudget = 8;     // ms, half a frame, with what is rebuilt for it
constexpr double kOneCoreBudget = 5;   // ms: the interface draws on the same core
constexpr double kMinBudget = 3;       // ms, where rebuilding takes the rest
constexpr double kDraftReserve = 0.3;  // below this share of it the draft grows: twice as large it fits still
constexpr int kMinDraftTokens = 16, kMaxDraftTokens = 1 << 16;

double milliseconds(std::chrono::steady_clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

/// The probes of a request, in the order in which they are measured.
struct RequestedProbes {
    std::vector<std::string> forward, backward, expensive;

    explicit RequestedProbes(const std::vector<std::string>& shown) {
        for (const ProbeInfo& probe : probe_registry()) {
            if (!std::count(shown.begin(), shown.end(), probe.id)) continue;
            if (probe.cost == ProbeCost::Expensive)
                expensive.push_back(probe.id);
            else if (probe.needs == ProbeNeeds::Nothing || probe.needs == ProbeNeeds::Forward)
                forward.push_back(probe.id);
            else
                backward.push_back(probe.id);
        }
    }
};

/// What the measurement of step 0 depends on, hot knobs set aside. The schedule's length and form come into
/// play after it; of what the step itself does, only the updates are measured.
Recipe stepZero(const Recipe& recipe, const std::vector<std::string>& probes) {
    Recipe initial = initial_state(recipe);
    if (std::count(probes.begin(), probes.end(), "updates")) return initial;
    const Recipe defaults;
    const double temperature_from = initial.train.schedule.temperature_from;
    const int temperature_warmup = initial.train.schedule.temperature_warmup;
    initial.train.steps = defaults.train.steps;
    initial.train.schedule = defaults.train.schedule;
    initial.train.schedule.temperature_from = temperature_from;
    initial.train.schedule.temperature_warmup = temperature_warmup;
    return initial;
}

}  // namespace

void EngineWorker::explore(ExploreRequest request) {
    {
        const std::lock_guard lock(mutex_);
        request_ = std::move(request);
        cancel_ = true;
    }
    QMetaObject::invokeMethod(this, &EngineWorker::takeExploreRequest, Qt::QueuedConnection);
}

void EngineWorker::takeExploreRequest() {
    ExploreRequest request;
    {
        const std::lock_guard lock(mutex_);
        if (!request_ || shutting_down_) return;  // already taken by an earlier wake-up
        request = std::move(*request_);
        request_.reset();
        cancel_ = false;
    }
    replied_ = request.generation;
    // Notches of a wheel and repeated keys are edits of their own: the whole batch waits for their end too.
    request.dragging |= Clock::now() - last_explored_ < kBurst;
    last_explored_ = Clock::now();
    try {
        answer(request);
    } catch (const Cancelled&) {
        // A newer request is pending: its reply replaces this one.
    } catch (const std::exception& error) {
        Q_EMIT rejected(request.generation, QString::fromUtf8(error.what()));
    }
}

std::vector<RunFrame> EngineWorker::prepare(const ExploreRequest& request) {
    struct Prepared {
        RunFrame frame;
        Recipe recipe;
        std::shared_ptr<const Corpus> corpus = {};
        Explored run = {};
    };
    std::vector<Prepared> all;
    for (const RunPlan& plan : request.runs) {
        Prepared& now = all.emplace_back(Prepared{{plan.id}, plan.recipe});
        const Recipe initial = stepZero(plan.recipe, request.probes);
        const auto same = std::find_if(explored_.begin(), explored_.end(), [&](const Explored& e) {
            return e.experiment && e.failed.empty() && e.id == plan.id && e.initial == initial &&
                   e.weights == plan.weights;
        });
        try {
            if (same != explored_.end()) {
                const Recipe& completed = same->experiment->recipe();
                now.recipe.stack = completed.stack;  // as completed
                set_hot_knobs(now.recipe, hot_knobs(plan.recipe));
                if (now.recipe.probes.empty()) now.recipe.probes = completed.probes;
                plan_probe_steps(now.recipe);
                now.run = std::move(*same);
                now.run.experiment->set_knobs(hot_knobs(plan.recipe));
                now.run.experiment->select(probe_selections(now.recipe));
            } else {
                now.run = {plan.id, initial, nullptr, plan.weights};
                now.corpus = complete_and_validate(now.recipe, &corpora_);
                require_memory(now.recipe, pool_.threads());
            }
        } catch (const std::exception& error) {
            now.frame.rejected = error.what();
        }
    }
    explored_.clear();
    explore_pool_.run(static_cast<int>(all.size()), [&](int i) {
        Prepared& now = all[static_cast<std::size_t>(i)];
        if (now.run.experiment || !now.frame.rejected.empty()) return;
        try {
            now.run.experiment = buildExperiment(now.recipe, request.runs[static_cast<std::size_t>(i)],
                                                 std::move(now.corpus), cpu_device());
        } catch (const std::exception& error) {
            now.frame.rejected = error.what();
        }
    });
    std::vector<RunFrame> frames;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto& [frame, recipe, _, run] = all[i];
        if (frame.rejected.empty()) {
            RunData header = run.experiment->header();
            header.name = request.runs[i].name;
            header.recipe = recipe;
            frame.header = std::make_shared<const RunData>(std::move(header));
            frame.gate_warnings = gateWarnings(*run.experiment);
            // The results of an unchanged recipe are kept: a knob may act on one run of several.
            if (run.measured != recipe) {
                run.results.clear();
                run.drafts.clear();
                run.measured = recipe;
            }
            explored_.push_back(std::move(run));
        }
        frames.push_back(std::move(frame));
    }
    return frames;
}

bool EngineWorker::Explored::measured_all(const std::vector<std::string>& probes) const {
    return std::all_of(probes.begin(), probes.end(),
                       [&](const auto& probe) { return results.count(probe) > 0; });
}

std::vector<ProbeResult> EngineWorker::Explored::of(const std::vector<std::string>& probes) const {
    std::vector<ProbeResult> found;
    for (const std::string& probe : probes) {
        const auto result = results.find(probe);
        found.push_back(result != results.end() ? result->second : drafts.at(probe));
    }
    return found;
}

/// Measures a run; one that fails does not keep the others from being measured.
template <class Measure>
void EngineWorker::attempt(Explored& run, Measure&& measure) {
    if (!run.failed.empty()) return;
    try {
        measure();
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {
        run.failed = error.what();
    }
}

/// Its results, or why there are none.
void EngineWorker::Explored::report(RunFrame& frame, std::vector<ProbeResult> found) const {
    if (failed.empty()) {
        for (ProbeResult& result : found) frame.delta.probes.push_back(std::move(result));
    } else {
        frame = RunFrame{id};
        frame.rejected = failed;
    }
}

/// Both lists, without what is known; the function is called when the first is complete.
void EngineWorker::measureCheap(std::size_t index, const std::vector<std::string>& first,
                                const std::vector<std::string>& then, ThreadPool& pool, bool draft,
                                const std::atomic<bool>& cancel,
                                const std::function<void()>& first_measured) {
    Explored& run = explored_[index];
    std::vector<std::string> missing;
    const auto add = [&](const std::vector<std::string>& probes) {
        for (const std::string& probe : probes)
            if (!run.results.count(probe)) missing.push_back(probe);
    };
    add(first);
    std::size_t left = missing.size();
    if (left == 0) first_measured();
    add(then);
    if (missing.empty()) return;
    const ProbeShape whole = probe_shape(run.experiment->recipe());
    const int tokens = draft && !run.experiment->recipe().stack.of_images() ? draft_tokens_ : whole.length;
    const bool part = draft && (whole.sequences > kDraftSequences || whole.length > tokens);
    const auto begin = Clock::now();
    run.experiment->measure(
        missing, pool, &cancel,
        [&](ProbeResult result) {
            const std::string probe = result.probe;
            (part ? run.drafts : run.results).insert_or_assign(probe, std::move(result));
            if (left > 0 && --left == 0) {
                if (draft) run.draft_ms = milliseconds(Clock::now() - begin);
                first_measured();
            }
        },
        draft ? kDraftSequences : kProbeSequences, tokens);
}

template <class Measure>
void EngineWorker::forEachExplored(Measure&& measure) {
    if (explored_.size() == 1) return measure(std::size_t{0}, explore_pool_);
    explore_pool_.run(static_cast<int>(explored_.size()), [&](int i) {
        ThreadPool alone(1);
        measure(static_cast<std::size_t>(i), alone);
    });
}

bool EngineWorker::inTurns() const {
    return explore_pool_.threads() < static_cast<int>(explored_.size());
}

/// The next draft fits into its budget on this machine: its tokens follow from the time of this one.
void EngineWorker::fitDraft(double rebuilding_ms) {
    double taken = 0;
    int longest = 0;
    for (Explored& run : explored_) {
        const double ms = std::exchange(run.draft_ms, 0.0);
        taken = inTurns() ? taken + ms : std::max(taken, ms);
        longest = std::max(longest, probe_shape(run.experiment->recipe()).length);
    }
    if (taken == 0) return;  // known from before
    const double all = available_cores() > 1 ? kDraftBudget : kOneCoreBudget;
    const double budget = std::max(kMinBudget, all - rebuilding_ms);
    const int now = std::min(draft_tokens_, longest);
    if (taken > budget)
        draft_tokens_ = std::max(kMinDraftTokens, now / 2);
    else if (taken < kDraftReserve * budget)
        draft_tokens_ = std::min(2 * now, kMaxDraftTokens);
}

void EngineWorker::answer(const ExploreRequest& request) {
    const auto begin = Clock::now();
    std::vector<RunFrame> first = prepare(request);
    const auto prepared = Clock::now();
    // Rejected runs are reported once, in the first frame; explored_ has the others, in their order.
    std::vector<RunFrame> runs;
    std::vector<RunFrame> rejected;
    for (RunFrame& run : first) (run.rejected.empty() ? runs : rejected).push_back(std::move(run));
    const RequestedProbes wanted(request.probes);
    Rest rest{request.generation, begin, {}, wanted.expensive};

    const auto answered = [&](std::vector<RunFrame> content, bool complete) {
        const auto now = Clock::now();
        Frame frame{request.generation, Frame::Kind::Explore, std::move(content), complete,
                    milliseconds(now - begin)};
        frame.times = {begin, prepared, now};
        send(std::move(frame));
    };
    // Drafts come first, and of them those of the forward pass alone; the whole batch follows a drag once it
    // rests.
    const bool draft = !runs.empty();
    const bool in_parts = draft && !wanted.forward.empty();
    // A newer request, which comes after the first reply, cancels the backward pass; but not for long. What
    // is cancelled ends with its layers: where they take longer than the next move, none is begun that is not
    // due.
    const bool overdue = begin - last_backward_ >= kBackwardPatience;
    const auto interval = backward_ms_ < kShortBackward ? kBackwardInterval : kBackwardPatience;
    const bool backward = !in_parts || !request.dragging || begin - last_begun_backward_ >= interval;
    const std::vector<std::string> then = backward ? wanted.backward : std::vector<std::string>{};
    if (draft) {
        rest.cheap = wanted.forward;
        rest.cheap.insert(rest.cheap.end(), wanted.backward.begin(), wanted.backward.end());
    }
    const bool nothing_left = runs.empty() || (rest.cheap.empty() && rest.expensive.empty());
    std::vector<RunFrame> content = runs;
    const auto add = [&](std::size_t i, const std::vector<std::string>& probes) {
        const Explored& run = explored_[i];
        content[i].draft |= !run.measured_all(probes);
        run.report(content[i], run.failed.empty() ? run.of(probes) : std::vector<ProbeResult>{});
    };
    // Runs that are measured in turn on one thread: the first one's backward pass would delay the first
    // reply.
    const bool forward_first = in_parts && !then.empty() && inTurns();
    std::atomic<std::size_t> left{runs.size()};
    Clock::time_point forward_done = prepared;
    {
        const auto timed = qScopeGuard([&] {  // also where it is cancelled
            if (then.empty() || !in_parts) return;
            last_begun_backward_ = Clock::now();
            backward_ms_ = milliseconds(last_begun_backward_ - forward_done);
        });
        if (!runs.empty())
            forEachExplored([&](std::size_t i, ThreadPool& pool) {
                bool first_done = false;
                const auto first_measured = [&] {
                    first_done = true;
                    add(i, wanted.forward);
                    // The last run whose forward pass ends; the others may be in their backward pass.
                    if (--left > 0 || !in_parts) return;
                    forward_done = Clock::now();
                    std::vector<RunFrame> all = content;
                    all.insert(all.end(), rejected.begin(), rejected.end());
                    answered(std::move(all), nothing_left);
                };
                attempt(explored_[i], [&] {
                    measureCheap(i, wanted.forward, forward_first ? std::vector<std::string>{} : then, pool,
                                 draft, overdue ? shutting_down_ : cancel_, first_measured);
                });
                if (!first_done) first_measured();  // it failed before
            });
        if (forward_first)
            forEachExplored([&](std::size_t i, ThreadPool& pool) {
                attempt(explored_[i], [&] {
                    measureCheap(i, {}, then, pool, draft, overdue ? shutting_down_ : cancel_, [] {});
                });
            });
    }
    if (in_parts) {
        for (RunFrame& run : runs) run.header.reset();
        content = runs;
    }
    if (in_parts) fitDraft(milliseconds(prepared - begin));
    if (!then.empty() || !in_parts) {
        for (std::size_t i = 0; i < runs.size(); ++i) add(i, then);
        if (!in_parts) content.insert(content.end(), rejected.begin(), rejected.end());
        answered(std::move(content), nothing_left);
        last_backward_ = Clock::now();
    }
    if (nothing_left) return;
    if (!request.dragging) return refine(rest);
    QTimer::singleShot(kRest, this, [this, rest] {
        if (rest.generation != replied_ || cancel_) return;  // a newer request replaces it
        try {
            refine(rest);
        } catch (const Cancelled&) {
        } catch (const std::exception& error) {
            Q_EMIT EngineWorker::rejected(rest.generation, QString::fromUtf8(error.what()));
        }
    });
}

/// The rest of an answer; the next request cancels it.
void EngineWorker::refine(const Rest& rest) {
    const auto answered = [&](const auto& results_of, bool complete) {
        Frame frame{
            rest.generation, Frame::Kind::Explore, {}, complete, milliseconds(Clock::now() - rest.begin)};
        for (std::size_t i = 0; i < explored_.size(); ++i) {
            const Explored& run = explored_[i];
            frame.runs.push_back({run.id});
            frame.runs.back().gate_warnings = gateWarnings(*run.experiment);
            run.report(frame.runs.back(), run.failed.empty() ? results_of(i) : std::vector<ProbeResult>{});
        }
        send(std::move(frame));
    };
    if (!rest.cheap.empty()) {
        forEachExplored([&](std::size_t i, ThreadPool& pool) {
            attempt(explored_[i], [&] { measureCheap(i, {}, rest.cheap, pool, false, cancel_, [] {}); });
        });
        answered([&](std::size_t i) { return explored_[i].of(rest.cheap); }, rest.expensive.empty());
        last_backward_ = Clock::now();
        if (cancel_) throw Cancelled{};
    }
    for (std::size_t p = 0; p < rest.expensive.size(); ++p) {
        std::vector<ProbeResult> results(explored_.size());
        for (std::size_t i = 0; i < explored_.size(); ++i)
            attempt(explored_[i], [&] {
                results[i] = explored_[i].experiment->measure(rest.expensive[p], pool_, &cancel_);
            });
        answered([&](std::size_t i) { return std::vector<ProbeResult>{results[i]}; },
                 p + 1 == rest.expensive.size());
    }
}

}  // namespace normscope::app
