// SPDX-License-Identifier: GPL-3.0-or-later
// The lab's runs while they train: starting and stopping, and the frames that come back from the engine.
#include "app/lab/hot_knobs.h"
#include "app/lab/lab.h"
#include "core/probe/registry.h"
#include "core/run/checkpoint_memory.h"

#include <algorithm>

namespace normscope::app {

namespace {

using CheckpointPtrs = std::vector<CheckpointPtr>;

/// Adds to those known what training took, in the order of their steps.
void add(std::vector<KnownCheckpoint>& list, const std::string& id, const CheckpointPtrs& taken) {
    for (const CheckpointPtr& checkpoint : taken) {
        std::erase_if(list, [&](const KnownCheckpoint& known) { return known.step == checkpoint->step; });
        const auto after = std::find_if(list.begin(), list.end(),
                                        [&](const KnownCheckpoint& known) { return known.step > checkpoint->step; });
        list.insert(after, {checkpoint->step, {id, checkpoint}});
    }
}

}  // namespace

bool Lab::exploring() const {
    return std::none_of(runs_.begin(), runs_.end(), [](const LabRun& run) { return run.trained(); });
}

bool Lab::anyUnderWay() const {
    return std::any_of(runs_.begin(), runs_.end(), [](const LabRun& run) { return run.underWay(); });
}

bool Lab::changesPending() const {
    return std::any_of(runs_.begin(), runs_.end(), [](const LabRun& run) {
        return (run.trained() || run.underWay()) && !run.pinned && !sameRecipe(run.recipe, run.live);
    });
}

qint64 Lab::lastStep() const {
    qint64 last = -1;
    for (const LabRun& run : runs_)
        if (run.trained()) last = std::max<qint64>(last, run.data->steps.step.back());
    return last;
}

void Lab::begin(const std::vector<RunPlan>& plans) {
    for (const RunPlan& p : plans) {
        LabRun* run = find(p.id);
        run->data = std::make_shared<RunData>(*run->data);  // an undo entry may hold the one before training
        run->data->outcome = {RunState::Running, -1, "", -1};
        run->not_recorded.clear();
        used_ids_.insert(run->id);
        run->not_recorded.clear();
    }
    train_generation_ = ++generation_;
    playing_ = true;
    step_ = kNewest;
    engine_->train(train_generation_, plans);
    Q_EMIT runsChanged();
    Q_EMIT trainingChanged();
}

void Lab::play() {
    if (playing_) return;
    if (anyUnderWay()) {
        playing_ = true;
        step_ = kNewest;
        engine_->setPaused(false);
        Q_EMIT trainingChanged();
        return;
    }
    std::vector<RunPlan> plans;
    for (const LabRun& run : runs_)
        if (!run.trained() && !run.pinned) plans.push_back(plan(run));
    if (!plans.empty())
        begin(plans);
    else if (changesPending())
        startAsNewRun();
    else
        Q_EMIT problem(tr("Every run has ended: move a knob and start it as a new run, or fork one (K)"));
}

void Lab::pause() {
    if (!playing_) return;
    playing_ = false;
    engine_->setPaused(true);
    Q_EMIT trainingChanged();
}

void Lab::togglePlay() {
    playing_ ? pause() : play();
}

void Lab::singleStep() {
    if (!anyUnderWay()) {
        play();
        if (!playing_) return;
    }
    playing_ = false;
    step_ = kNewest;
    engine_->singleStep();
    Q_EMIT trainingChanged();
}

void Lab::stop() {
    playing_ = false;
    engine_->stop();
    Q_EMIT trainingChanged();
}

void Lab::startAsNewRun() {
    std::vector<LabRun> after = runs_;
    std::vector<RunPlan> plans;
    if (std::any_of(after.begin(), after.end(),
                    [](const LabRun& run) { return run.underWay() && !sameRecipe(run.recipe, run.live); }))
        stop();
    for (LabRun& run : after) {
        if (run.pinned || !(run.trained() || run.underWay()) || sameRecipe(run.recipe, run.live)) continue;
        LabRun fresh = makeRun(freshId(), run.recipe);
        fresh.weights = run.weights;
        used_ids_.insert(fresh.id);
        if (run.preview) {
            fresh.data->probes = run.preview->probes;  // its step 0 is on screen already
            fresh.data->ln_vocab = run.preview->ln_vocab;
            fresh.data->unigram_entropy = run.preview->unigram_entropy;
            fresh.data->entropy_rate = run.preview->entropy_rate;
        }
        plans.push_back(plan(fresh));
        run = std::move(fresh);
    }
    if (plans.empty()) return;
    changeRuns(std::move(after), tr("start as new run"));
    for (RunPlan& p : plans) p.name = find(p.id)->data->name;
    begin(plans);
}

// --- frames

void Lab::takeFrame(const FramePtr& frame) {
    engine_->frameShown();
    QSet<QString> panels;
    const bool explored = frame->kind == Frame::Kind::Explore;
    const bool stale =
        explored ? frame->generation != explore_generation_ : frame->generation < oldest_training_;
    if (stale) return;
    if (explored)
        takeExplored(*frame, panels);
    else
        takeTrained(*frame, panels);
    Q_EMIT dataChanged(QStringList(panels.begin(), panels.end()));
    Q_EMIT frameTaken(frame);
    if (explored) firstFrameCame();
}

void Lab::firstFrameCame() {
    first_frame_due_ = false;
    if (explore_again_) requestExplore();
}

void Lab::takeExplored(const Frame& frame, QSet<QString>& panels) {
    explore_ms_ = frame.ms;
    exact_ = frame.complete;
    bool names_or_floors = false, notices = false;
    for (const RunFrame& part : frame.runs) {
        LabRun* run = find(part.id);
        if (!run) continue;
        const bool committed = run->trained() || run->underWay();
        if (committed && sameRecipe(run->recipe, run->live))
            continue;  // training began while this was measured
        if (!part.refused.empty()) {
            refuse(*run, QString::fromStdString(part.refused));
            // What it showed before stays, drawn as a draft.
            for (const std::string& probe : probes_) panels.insert(QString::fromStdString(probe));
            continue;
        }
        if (part.header) {
            notices |= !run->refusal.empty() || (!committed && run->gate_warnings != part.gate_warnings);
            run->refusal.clear();
            if (!committed) run->gate_warnings = part.gate_warnings;
        }
        const RunData& old = committed && run->preview ? *run->preview : *run->data;
        auto next = std::make_shared<RunData>(part.header ? *part.header : old);
        if (!committed || run->preview) next->probes = old.probes;
        for (const ProbeResult& result : part.delta.probes) {
            next->probes[result.probe] = {result};
            run->measured_for[result.probe] = frame.generation;
            panels.insert(QString::fromStdString(result.probe));
        }
        if (committed) {
            run->preview = std::move(next);
        } else {
            next->name = run->data->name;
            names_or_floors |= std::isnan(run->data->ln_vocab) != std::isnan(next->ln_vocab) ||
                               run->data->ln_vocab != next->ln_vocab;
            run->data = std::move(next);
        }
    }
    panels.insert(QStringLiteral("training"));  // floors, names, the hint
    if (!frame.complete)
        for (const std::string& probe : probes_)  // redrawn once as drafts, until their own frame comes
            if (std::any_of(runs_.begin(), runs_.end(), [&](const LabRun& run) {
                    const auto measured = run.measured_for.find(probe);
                    return measured != run.measured_for.end() && measured->second < frame.generation &&
                           !drafts_drawn_.count(probe);
                })) {
                drafts_drawn_.insert(probe);
                panels.insert(QString::fromStdString(probe));
            }
    for (const RunFrame& part : frame.runs)
        for (const ProbeResult& result : part.delta.probes) drafts_drawn_.erase(result.probe);
    if (names_or_floors) Q_EMIT runsChanged();
    if (notices) Q_EMIT noticesChanged();
    Q_EMIT trainingChanged();
}

void Lab::refuse(LabRun& run, const QString& reason) {
    if (run.refusal == reason.toStdString()) return;  // said already
    run.refusal = reason.toStdString();
    Q_EMIT noticesChanged();
    Q_EMIT problem(reason);
}

void Lab::takeTrained(const Frame& frame, QSet<QString>& panels) {
    step_ms_ = frame.ms;
    probe_overhead_ = frame.probe_overhead;
    bool outcome = false, notices = false, saved = false;
    for (const RunFrame& part : frame.runs) {
        LabRun* run = find(part.id);
        if (!run) continue;
        if (part.header) {
            const RunData shown = *run->data;
            run->data = std::make_shared<RunData>(*part.header);
            if (part.header->probes.empty()) run->data->probes = shown.probes;
            outcome = true;
        }
        if (!(part.delta.steps.empty() && part.delta.probes.empty()) && run->data->steps.rows() == 0) {
            // From its first step on what training measures comes from there; what only a panel asked for
            // stays at step 0, where it was measured of the same weights.
            const Recipe recorded = parse_recipe(run->data->recipe_json, "run " + run->id);
            std::erase_if(run->data->probes, [&](const auto& probe) {
                return run->measured_for[probe.first] < explore_generation_ ||
                       std::any_of(recorded.probes.begin(), recorded.probes.end(),
                                   [&](const ProbePlan& p) { return p.id == probe.first; });
            });
            for (const auto& panel : probes_) panels.insert(QString::fromStdString(panel));
        }
        append(*run->data, part.delta);
        if (!part.delta.empty()) ++results_;
        add(run->checkpoints, run->id, part.checkpoints);
        saved |= !part.checkpoints.empty();
        notices |= run->gate_warnings != part.gate_warnings;
        run->gate_warnings = part.gate_warnings;
        for (const ProbeResult& result : part.delta.probes)
            panels.insert(QString::fromStdString(result.probe));
        if (!part.delta.steps.empty() || part.delta.outcome) panels.insert(QStringLiteral("training"));
        if (part.delta.outcome) {
            outcome = true;
            for (const ProbeInfo& probe : probe_registry()) panels.insert(QLatin1String(probe.id));
        }
    }
    if (saved) thinCheckpoints();
    if (frame.complete) playing_ = false;
    if (outcome) Q_EMIT runsChanged();
    if (notices) Q_EMIT noticesChanged();
    Q_EMIT trainingChanged();
}

/// One budget for the checkpoints that all runs hold in memory; those that lie in files cost none.
void Lab::thinCheckpoints() {
    std::vector<HeldCheckpoints> held(runs_.size());
    std::vector<std::vector<std::int64_t>> gone(runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        held[i].keep = runs_[i].recipe.train.checkpoint_keep;
        for (const KnownCheckpoint& known : runs_[i].checkpoints)
            if (const auto* memory = std::get_if<CheckpointPtr>(&known.source.from))
                held[i].held.push_back({known.step, bytes_of(**memory)});
        for (const RunEvent& event : runs_[i].data->events)
            if (event.kind == "spike") held[i].spikes.push_back(event.step);
    }
    for (const auto& [run, place] : excess_checkpoints(held)) gone[run].push_back(held[run].held[place].step);
    for (std::size_t i = 0; i < runs_.size(); ++i)
        std::erase_if(runs_[i].checkpoints, [&](const KnownCheckpoint& known) {
            return std::count(gone[i].begin(), gone[i].end(), known.step) > 0;
        });
}

void Lab::takeNotRecorded(const QString& id, const QString& line) {
    Q_EMIT problem(line);
    LabRun* run = find(id.toStdString());
    if (!run) return;
    run->not_recorded = line.toStdString();
    Q_EMIT noticesChanged();
}

}  // namespace normscope::app
