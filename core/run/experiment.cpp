// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/experiment.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/model/gate_warnings.h"
#include "core/probe/interface/places.h"
#include "core/probe/interface/token_labels.h"
#include "core/recipe/precision_warnings.h"
#include "core/run/probe_steps.h"
#include "core/run/watched_step.h"
#include "core/stack/warnings.h"
#include "core/train/overflow_event.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

namespace normscope {

namespace {

/// The label kTokensLabel of a batch.
std::vector<std::string> sequence_texts(const Batch& batch, const TokenTexts& texts) {
    std::vector<std::string> all;
    for (int b = 0; !texts.empty() && b < batch.sequences; ++b) {
        std::string& sequence = all.emplace_back();
        for (int t = 0; t < batch.length; ++t) {
            if (t > 0) sequence += kTokenDivider;
            sequence += texts.of(batch.tokens[static_cast<std::size_t>(b * batch.length + t)]);
        }
    }
    return all;
}

/// A larger tape is freed after each sample: on wide stacks, which are sampled rarely, it would be most of
/// the memory.
constexpr std::size_t kCachedTape = std::size_t{256} << 20;

constexpr double kCallSeconds = 0.008;
constexpr double kMaxSteps = 16;

}  // namespace

void append(RunData& run, const RunDelta& delta) {
    for (const auto& record : delta.steps) run.steps.append(record);
    for (const auto& probe : delta.probes) run.probes[probe.probe].push_back(probe);
    run.events.insert(run.events.end(), delta.events.begin(), delta.events.end());
    if (delta.outcome) run.outcome = *delta.outcome;
}

void append(Recorder& recorder, const RunDelta& delta) {
    for (const auto& probe : delta.probes) recorder.append(probe);
    for (const auto& record : delta.steps) recorder.append(record);
    for (const auto& event : delta.events) recorder.append(event);
    if (delta.outcome) recorder.set_state(*delta.outcome);
}

Experiment::Experiment(const Recipe& recipe, std::string id, std::string name,
                       std::shared_ptr<const Corpus> corpus, Device& device)
    : recipe_(recipe),
      id_(std::move(id)),
      name_(std::move(name)),
      corpus_(corpus ? std::move(corpus) : make_corpus(recipe.train.data, recipe.stack)),
      trainer_(make_trainer(recipe.stack, recipe.train, corpus_, device)),
      probe_steps_(probe_steps(recipe)),
      watch_(recipe.watch),
      interventions_(recipe.interventions),
      selections_(probe_selections(recipe)) {}

RunData Experiment::header() const {
    RunData run;
    run.id = id_;
    run.name = name_;
    run.recipe = recipe_;
    const DeviceCapabilities device = this->device().capabilities();
    run.backend = device.backend;
    run.device = device.backend == "cpu" ? cpu_name() : device.name;
    if (ranks_ > 1) run.device += ", " + std::to_string(ranks_) + " ranks";
    if (by_rank_) run.device += ", gradients added by rank";
    run.seed = recipe_.train.seed;
    run.outcome = outcome();
    static_cast<LossLevels&>(run) = corpus_->levels();
    run.ln_vocab = std::log(static_cast<double>(recipe_.stack.vocab));
    run.steps.names = columns(recipe_);
    run.steps.columns.resize(run.steps.names.size());
    return run;
}

Device& Experiment::device() const {
    return with_trainer(trainer_, [](const auto& t) -> Device& { return t.model().device(); });
}
void Experiment::join(Communicator& ranks, const RankRules& rules) {
    with_trainer(trainer_, [&](auto& t) { t.join(ranks, rules); });
    ranks_ = ranks.size();
    by_rank_ = rules.sum == RankSum::ByRank && ranks_ > 1;
    in_parts_ = rules.optimizer == OptimizerState::InParts && ranks_ > 1;
}
void Experiment::collect_state() {
    if (lost_) throw LostRank("a rank with a part of the optimizer's state was lost");
    with_trainer(trainer_, [](auto& t) { t.collect_state(); });
}
std::int64_t Experiment::steps_done() const {
    return with_trainer(trainer_, [](auto& t) { return t.steps_done(); });
}
const Outcome& Experiment::outcome() const {
    return with_trainer(trainer_, [](auto& t) -> const Outcome& { return t.outcome(); });
}
bool Experiment::ended() const {
    return with_trainer(trainer_, [](auto& t) { return t.ended(); });
}
std::vector<std::string> Experiment::warnings() const {
    std::vector<std::string> lines = normscope::warnings(recipe_.stack);
    const auto gates = with_trainer(trainer_, [](const auto& t) { return gate_warnings(t.model()); });
    lines.insert(lines.end(), gates.begin(), gates.end());
    const auto precision = precision_warnings(recipe_);
    lines.insert(lines.end(), precision.begin(), precision.end());
    return lines;
}

HotKnobs Experiment::knobs() const {
    return with_trainer(trainer_, [](auto& t) { return t.knobs(); });
}

void Experiment::measure(const std::vector<std::string>& probes, ThreadPool& pool,
                         const std::atomic<bool>* cancel, const std::function<void(ProbeResult)>& done,
                         int at_most, int at_most_tokens) {
    with_trainer(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        trainer.prepare_numerics();
        ProbeShape shape = probe_shape(recipe_);
        shape.sequences = std::min(shape.sequences, at_most);
        if (!recipe_.stack.of_images()) shape.length = std::min(shape.length, at_most_tokens);
        const Batch batch = trainer.probe_batch(shape.sequences, shape.length);
        auto& memory = std::get<ProbeMemory<Scalar>>(probe_memory_);
        ProbeInput<Scalar> input(trainer.model(), batch, pool, trainer.steps_done(), cancel,
                                 trainer.loss_scale(), &memory);
        input.update = [&] { return trainer.trial_update(pool); };
        input.sampled = sampled_text(shape);
        input.texts = [&] { return sequence_texts(batch, corpus_->texts()); };
        input.only = selections_;
        input.formats = probe_formats(recipe_);
        std::vector<const ProbeInfo*> known;
        for (const auto& id : probes) {
            known.push_back(find_probe(id));
            if (!known.back())
                throw InputError("probe", "\"" + id + "\" is not known", "see normscope-cli probe --help");
        }
        run_probes<Scalar>(known, input, [&](ProbeResult result) {
            stamp_training_batch(result);  // an update depends on the training batch
            done(std::move(result));
        });
        if (memory.tape.bytes() > kCachedTape) memory = {};
    });
}

ProbeResult Experiment::measure(const std::string& probe, ThreadPool& pool, const std::atomic<bool>* cancel) {
    ProbeResult result;
    measure(std::vector<std::string>{probe}, pool, cancel, [&](ProbeResult r) { result = std::move(r); });
    return result;
}

std::vector<std::string> Experiment::due_at(std::int64_t step) const {
    std::vector<std::string> due;
    for (std::size_t i = 0; i < recipe_.probes.size(); ++i)
        if (probe_steps_[i].contains(step)) due.push_back(recipe_.probes[i].id);
    return due;
}

std::int64_t Experiment::steps_a_call() const {
    if (device().capabilities().host_readable || ranks_ > 1 || !watch_.empty()) return 1;
    return last_step_seconds_ > 0 ? steps_of_a_call(last_step_seconds_) : 1;
}

void Experiment::watch_step(RunDelta& delta, const StepNumbers& now) {
    if (watch_.empty()) return;
    WatchedStep step{now.loss, now.grad_norm, now.gradient_ratio, now.hidden_rms, nullptr};
    for (const ProbeResult& result : delta.probes)
        if (result.probe == "attention" && result.step == now.step) step.attention = &result;
    for (std::string& line : watch_.add(step))
        delta.events.push_back({now.step, kWatchEvent, std::move(line)});
}

void Experiment::intervene(RunDelta& delta, ThreadPool& pool) {
    std::string what = with_trainer(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        return interventions_.apply(trainer, recipe_, pool, std::get<ProbeMemory<Scalar>>(probe_memory_));
    });
    if (!what.empty()) delta.events.push_back({steps_done(), kInterventionEvent, std::move(what)});
}

void Experiment::undo_interventions(RunDelta& delta, std::int64_t step) {
    std::string what = with_trainer(trainer_, [](auto& trainer) { return Interventions::undo(trainer); });
    if (!what.empty()) delta.events.push_back({step, kInterventionEvent, std::move(what)});
}

void Experiment::add_step(RunDelta& delta, StepNumbers now, double probe_ms) {
    if (now.step == kDenseSteps) training_seconds_ = probe_seconds_ = 0;
    training_seconds_ += now.seconds;
    probe_seconds_ += probe_ms / 1e3;
    last_step_seconds_ = now.seconds;
    watch_step(delta, now);
    flight_.add(now.step, std::move(now.hidden_rms), std::move(now.hidden_gradient));
    const double tokens =
        static_cast<double>(recipe_.train.batch) * recipe_.train.accumulate * recipe_.stack.context;
    delta.steps.push_back({now.step,
                           {{"loss", now.loss},
                            {"val_loss", now.val_loss},
                            {"val_loss_error", now.val_loss_error},
                            {"grad_norm", now.grad_norm},
                            {"grad_ratio", now.gradient_ratio},
                            {"lr", now.lr},
                            {"temperature", now.temperature},
                            {"tokens_per_s", tokens / now.seconds},
                            {"step_ms", now.seconds * 1e3},
                            {"probe_ms", probe_ms},
                            {"batch_hash", now.batch_hash}}});
    if (recipe_.stack.of_images()) {
        delta.steps.back().values.emplace_back("val_accuracy", now.val_accuracy);
        delta.steps.back().values.emplace_back("accuracy", now.accuracy);
    }
    if (recipe_.train.precision == Precision::Fp16)
        delta.steps.back().values.emplace_back("loss_scale", now.loss_scale);
    if (now.overflowed)
        delta.events.push_back({now.step, kOverflowEvent, overflow_text(now.overflow_place, now.loss_scale)});
    if (const auto spike = spikes_.add(now.loss, now.grad_norm))
        delta.events.push_back({now.step, "spike", *spike});
}

RunDelta Experiment::advance(ThreadPool& pool, std::int64_t at_most) {
    RunDelta delta;
    const std::int64_t first = steps_done();
    const std::vector<std::string> due = due_at(first);
    double probe_ms = 0;
    const auto selected = selections_.find(kUpdatesProbe);
    const PlaceSelection of_updates = selected == selections_.end() ? PlaceSelection() : selected->second;
    const auto keep = [&](ProbeResult result) {
        if (result.probe == kUpdatesProbe) apply_selection(*find_probe(kUpdatesProbe), of_updates, result);
        probe_ms += result.cost_ms;
        delta.probes.push_back(std::move(result));
    };
    std::vector<std::string> of_weights = due;
    const bool watched = std::erase(of_weights, kUpdatesProbe) > 0;
    measure(of_weights, pool, nullptr, keep);
    const std::vector<double> eps_before = with_trainer(trainer_, [](auto& t) { return t.raised_eps(); });
    const std::vector<std::vector<double>> rules_before = interventions_.state();
    intervene(delta, pool);

    std::int64_t count = 1;
    const auto measured = [&](std::int64_t step) {
        const std::int64_t every = recipe_.train.validate_every;
        return (every > 0 && step % every == 0) || !due_at(step).empty() || interventions_.due_at(step);
    };
    while (count < at_most && !watched && watch_.empty() && !measured(first + count)) ++count;
    const RunState before = outcome().state;
    std::vector<StepNumbers> made;
    try {
        made = with_trainer(trainer_, [&](auto& t) {
            return watched ? std::vector{watched_step(t, pool, of_updates, keep)} : t.steps(pool, count);
        });
    } catch (const LostRank&) {
        lost_ = in_parts_;
        // A run that resumes here intervenes again.
        with_trainer(trainer_, [&](auto& t) { t.raise_eps(eps_before); });
        for (std::size_t i = 0; i < rules_before.size(); ++i) interventions_.restore(i, rules_before[i]);
        throw;
    }
    const std::int64_t last = made.back().step;
    const double first_ms = std::exchange(probe_ms, 0);
    // The last step was not known in advance: the remaining probes are measured now, on the final weights.
    if (outcome().state == RunState::Diverged) {
        std::vector<std::string> missed;
        for (const auto& plan : recipe_.probes)
            if (last > first || std::find(due.begin(), due.end(), plan.id) == due.end())
                missed.push_back(plan.id);
        const bool no_update = std::erase(missed, kUpdatesProbe) > 0;
        measure(missed, pool, nullptr, keep);
        if (no_update) with_trainer(trainer_, [&](auto& t) { keep(skipped_update(t, last)); });
    }
    for (StepNumbers& now : made) {
        const double ms = (now.step == first ? first_ms : 0) + (now.step == last ? probe_ms : 0);
        add_step(delta, std::move(now), ms);
    }
    if (outcome().state != before) {
        delta.outcome = outcome();
        if (ended()) {
            const std::string why = outcome().text.empty() ? "" : ": " + outcome().text;
            undo_interventions(delta, last);
            delta.events.push_back({last, "outcome", run_state_word(outcome().state) + why});
        }
    }
    complete(delta);
    return delta;
}

void Experiment::complete(RunDelta& delta) {
    if (!delta.events.empty())
        for (ProbeResult& sample : flight_.take()) delta.probes.push_back(std::move(sample));
    if (!known_series_) return;
    for (StepRecord& record : delta.steps) known_series_->fit(record);
    for (ProbeResult& result : delta.probes) known_series_->fit(result, delta.events);
}

RunDelta Experiment::set_knobs(const HotKnobs& knobs) {
    RunDelta delta;
    const std::string what = knob_changes(this->knobs(), knobs);
    if (!what.empty()) delta.events.push_back({steps_done(), "knob", what});
    with_trainer(trainer_, [&](auto& t) {
        t.set_knobs(knobs);
        t.prepare_numerics();
    });
    complete(delta);
    return delta;
}

RunDelta Experiment::set_watch(const std::vector<WatchSpec>& watch) {
    RunDelta delta;
    if (watch == watch_.list()) return delta;
    Recipe changed = recipe_;
    changed.watch = watch;
    validate_watch(changed);
    recipe_ = std::move(changed);
    watch_.set(watch);
    delta.events.push_back({steps_done(), kWatchesEvent, "watches " + watch_text(watch)});
    complete(delta);
    return delta;
}

RunDelta Experiment::set_interventions(const std::vector<InterventionSpec>& list) {
    RunDelta delta;
    if (list == recipe_.interventions) return delta;
    Recipe changed = recipe_;
    changed.interventions = list;
    validate_interventions(changed);
    delta.events.push_back({steps_done(), "knob", interventions_change(recipe_.interventions, list)});
    recipe_ = std::move(changed);
    interventions_ = Interventions(list);
    undo_interventions(delta, steps_done());
    complete(delta);
    return delta;
}

std::vector<std::string> Experiment::columns(const Recipe& recipe) {
    std::vector<std::string> names{"loss",       "val_loss", "val_loss_error", "grad_norm",
                                   "grad_ratio", "lr",       "temperature",    "tokens_per_s",
                                   "step_ms",    "probe_ms", "batch_hash"};
    if (recipe.stack.of_images()) names.insert(names.end(), {"val_accuracy", "accuracy"});
    if (recipe.train.precision == Precision::Fp16) names.push_back("loss_scale");
    return names;
}

RecordingSchema recording_schema(const RunData& header, const std::vector<ProbeResult>& first) {
    RecordingSchema schema{header_of(header), header.steps.names, {}};
    for (const auto& result : first) schema.probes.push_back(schema_of(result));
    const bool flown = std::any_of(first.begin(), first.end(), [](const ProbeResult& result) {
        return result.probe == FlightRecorder::kId;
    });
    if (!flown) {
        schema.probes.push_back(FlightRecorder::schema(header.recipe.value("run " + header.id).stack.depth));
    }
    return schema;
}

RecordingSchema recording_schema(const RunData& history) {
    std::vector<ProbeResult> first;
    for (const auto& [probe, samples] : history.probes)
        if (!samples.empty()) first.push_back(samples.front());
    return recording_schema(history, first);
}

std::string default_run_name(const Recipe& recipe) {
    std::string name = scheme_row(recipe.stack.scheme).title;
    if (recipe.stack.gpas.enabled) name += " + GPAS";
    if (recipe.stack.residual_step != 1) name += " Δt " + plain_number(recipe.stack.residual_step);
    if (recipe.stack.temperature != 1) name += " τ " + plain_number(recipe.stack.temperature);
    return name;
}

std::int64_t steps_of_a_call(double step_seconds) {
    return static_cast<std::int64_t>(std::clamp(std::round(kCallSeconds / step_seconds), 1.0, kMaxSteps));
}

std::string change_of_device(const RunData& history, const std::string& backend) {
    if (history.backend.empty() || history.backend == backend) return {};
    return ", on " + backend + " instead of " + history.backend;
}

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0)
            return line.substr(line.find(':') + 2) + " (" + isa_name(best_isa()) + ")";
    return std::string("CPU (") + isa_name(best_isa()) + ")";
}

}  // namespace normscope
