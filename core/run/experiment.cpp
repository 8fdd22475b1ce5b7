// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/experiment.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/model/gate_warnings.h"
#include "core/probe/interface/places.h"
#include "core/probe/interface/token_labels.h"
#include "core/recipe/precision_warnings.h"
#include "core/run/evaluation.h"
#include "core/run/probe_steps.h"
#include "core/run/watched_step.h"
#include "core/stack/warnings.h"
#include "core/train/overflow_event.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
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

/// Calls f with the trainer of whichever precision.
template <class F>
decltype(auto) with(const AnyTrainer& any, F&& f) {
    return std::visit([&](const auto& trainer) -> decltype(auto) { return f(*trainer); }, any);
}

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
    run.seed = recipe_.train.seed;
    run.outcome = outcome();
    static_cast<LossLevels&>(run) = corpus_->levels();
    run.ln_vocab = std::log(static_cast<double>(recipe_.stack.vocab));
    run.steps.names = columns(recipe_);
    run.steps.columns.resize(run.steps.names.size());
    return run;
}

Device& Experiment::device() const {
    return with(trainer_, [](const auto& t) -> Device& { return t.model().device(); });
}
void Experiment::join(Communicator& ranks, OptimizerState state) {
    with(trainer_, [&](auto& t) { t.join(ranks, state); });
    ranks_ = ranks.size();
    in_parts_ = state == OptimizerState::InParts && ranks_ > 1;
}
void Experiment::collect_state() {
    if (lost_) throw LostRank("a rank with a part of the optimizer's state was lost");
    with(trainer_, [](auto& t) { t.collect_state(); });
}
std::int64_t Experiment::steps_done() const {
    return with(trainer_, [](auto& t) { return t.steps_done(); });
}
const Outcome& Experiment::outcome() const {
    return with(trainer_, [](auto& t) -> const Outcome& { return t.outcome(); });
}
bool Experiment::ended() const {
    return with(trainer_, [](auto& t) { return t.ended(); });
}
std::vector<std::string> Experiment::warnings() const {
    std::vector<std::string> lines = normscope::warnings(recipe_.stack);
    const auto gates = with(trainer_, [](const auto& t) { return gate_warnings(t.model()); });
    lines.insert(lines.end(), gates.begin(), gates.end());
    const auto precision = precision_warnings(recipe_);
    lines.insert(lines.end(), precision.begin(), precision.end());
    return lines;
}

HotKnobs Experiment::knobs() const {
    return with(trainer_, [](auto& t) { return t.knobs(); });
}

void Experiment::measure(const std::vector<std::string>& probes, ThreadPool& pool,
                         const std::atomic<bool>* cancel, const std::function<void(ProbeResult)>& done,
                         int at_most, int at_most_tokens) {
    with(trainer_, [&](auto& trainer) {
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
    std::string what = with(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        return interventions_.apply(trainer, recipe_, pool, std::get<ProbeMemory<Scalar>>(probe_memory_));
    });
    if (!what.empty()) delta.events.push_back({steps_done(), kInterventionEvent, std::move(what)});
}

void Experiment::undo_interventions(RunDelta& delta, std::int64_t step) {
    std::string what = with(trainer_, [](auto& trainer) { return Interventions::undo(trainer); });
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
    const std::vector<double> eps_before = with(trainer_, [](auto& t) { return t.raised_eps(); });
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
        made = with(trainer_, [&](auto& t) {
            return watched ? std::vector{watched_step(t, pool, of_updates, keep)} : t.steps(pool, count);
        });
    } catch (const LostRank&) {
        lost_ = in_parts_;
        // A run that resumes here intervenes again.
        with(trainer_, [&](auto& t) { t.raise_eps(eps_before); });
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
        if (no_update) with(trainer_, [&](auto& t) { keep(skipped_update(t, last)); });
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
    with(trainer_, [&](auto& t) {
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

// --- checkpoints
// -----------------------------------------------------------------------------------------------------

namespace {

template <class T>
std::vector<StoredTensor> stored(const ParameterTable& table, std::span<const T> arena) {
    std::vector<StoredTensor> tensors;
    for (const TensorInfo& t : table.tensors()) {
        StoredTensor stored{t.name,
                            {t.shape.begin(), t.shape.end()},
                            sizeof(T) == 4 ? StoredType::Float32 : StoredType::Float64,
                            {}};
        stored.bytes.resize(t.count * sizeof(T));
        std::memcpy(stored.bytes.data(), arena.data() + t.offset, stored.bytes.size());
        tensors.push_back(std::move(stored));
    }
    return tensors;
}

template <class T>
void load(const ParameterTable& table, const std::vector<StoredTensor>& tensors, std::vector<T>& arena) {
    arena.resize(table.size());
    const auto type = sizeof(T) == 4 ? StoredType::Float32 : StoredType::Float64;
    if (tensors.size() != table.tensors().size())
        throw InputError("checkpoint: its tensors are not those of this stack");
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorInfo& t = table.tensors()[i];
        const std::vector<std::size_t> shape(t.shape.begin(), t.shape.end());
        if (tensors[i].name != t.name || tensors[i].shape != shape || tensors[i].type != type ||
            tensors[i].bytes.size() != t.count * sizeof(T))
            throw InputError("checkpoint: tensor " + tensors[i].name + " does not fit " + t.name +
                             " of this stack");
        std::memcpy(arena.data() + t.offset, tensors[i].bytes.data(), tensors[i].bytes.size());
    }
}

template <class Pairs>
auto value_of(const Pairs& pairs, const std::string& name) {
    for (const auto& [key, value] : pairs)
        if (key == name) return value;
    throw InputError("checkpoint: " + name + " is missing");
}

}  // namespace

namespace {

constexpr const char* kRaisedEps = "raised_eps";

/// The state of the recipe's intervention i.
std::string intervention_name(std::size_t i) {
    return "intervention." + std::to_string(i);
}

/// As NAME.0, NAME.1, …; nothing of an empty list.
void put_list(Checkpoint& c, const std::string& name, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        c.scalars.emplace_back(name + "." + std::to_string(i), values[i]);
}

std::vector<double> list_of(const Checkpoint& c, const std::string& name) {
    std::vector<double> values;
    for (const auto& [key, value] : c.scalars)
        if (key == name + "." + std::to_string(values.size())) values.push_back(value);
    return values;
}

}  // namespace

std::vector<double> raised_eps(const Checkpoint& checkpoint) {
    return list_of(checkpoint, kRaisedEps);
}

HotKnobs hot_knobs(const Checkpoint& checkpoint) {
    HotKnobs knobs{};
    for (const RecipeKey* key : hot_keys())
        knobs.*key->role.knob = value_of(checkpoint.scalars, key->last_part());
    return knobs;
}

Checkpoint Experiment::checkpoint() const {
    return with(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        const TrainerState<Scalar> state = trainer.save();
        const ParameterTable& table = trainer.model().table();
        Checkpoint c;
        c.step = state.step;
        c.recipe = recipe_;
        c.params = stored<Scalar>(table, state.parameters);
        c.moment1 = stored<Scalar>(table, state.moment1);
        if (!state.moment2.empty()) c.moment2 = stored<Scalar>(table, state.moment2);
        for (const RecipeKey* key : hot_keys())
            c.scalars.emplace_back(key->last_part(), state.knobs.*key->role.knob);
        for (std::size_t i = 0; i < state.verdict.size(); ++i)
            c.scalars.emplace_back("verdict." + std::to_string(i), state.verdict[i]);
        c.scalars.emplace_back("loss_scale", state.loss_scale.scale);
        c.integers.emplace_back("loss_scale_good_steps", state.loss_scale.good_steps);
        c.integers.emplace_back("optimizer_steps", state.optimizer_steps);
        c.integers.emplace_back("verdict_size", static_cast<std::int64_t>(state.verdict.size()));
        const std::vector<double> spikes = spikes_.state();
        for (std::size_t i = 0; i < spikes.size(); ++i)
            c.scalars.emplace_back("spikes." + std::to_string(i), spikes[i]);
        c.integers.emplace_back("spikes_size", static_cast<std::int64_t>(spikes.size()));
        const std::vector<std::int64_t> watch = watch_.state();  // of the recipe's list
        for (std::size_t i = 0; i < watch.size(); ++i)
            c.integers.emplace_back("watch." + std::to_string(i), watch[i]);
        put_list(c, kRaisedEps, state.raised_eps);
        const auto rules = interventions_.state();
        for (std::size_t i = 0; i < rules.size(); ++i) put_list(c, intervention_name(i), rules[i]);
        return c;
    });
}

void Experiment::load_weights(const std::vector<StoredTensor>& weights, const std::string& where) {
    with(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        TrainerState<Scalar> state = trainer.save();
        const auto model =
            model_with_weights<Scalar>(recipe_.stack, weights, where, trainer.model().device());
        const HostView<Scalar> loaded = model.host_parameters();
        state.parameters.assign(loaded.begin(), loaded.end());
        trainer.restore(state);
    });
}

namespace {

/// Throws InputError for a number that no run has had: the file is damaged or of another program.
void check_numbers(const Checkpoint& c) {
    const auto require = [](bool sound, const std::string& name, const std::string& value,
                            const std::string& allowed) {
        if (!sound) throw InputError("checkpoint: " + name, value + " is out of range", allowed);
    };
    constexpr std::int64_t most = std::int64_t{1} << 53;
    const auto count = [&](const std::string& name, std::int64_t value) {
        require(value >= 0 && value <= most, name, std::to_string(value), "0 … 2^53");
    };
    count("step", c.step);
    for (const auto& [name, value] : c.integers)
        if (!name.starts_with("watch.")) count(name, value);
    for (const auto& [name, value] : c.scalars)
        if (name == "loss_scale")
            require(std::isfinite(value) && value > 0, name, plain_number(value), "above 0");
    const HotKnobs knobs = hot_knobs(c);
    for (const RecipeKey* key : hot_keys()) {
        const double value = knobs.*key->role.knob;
        require(!std::isnan(value), key->last_part(), plain_number(value), "a number");
    }
}

}  // namespace

void Experiment::restore(const Checkpoint& c) {
    check_numbers(c);
    with(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        const ParameterTable& table = trainer.model().table();
        TrainerState<Scalar> state;
        state.step = c.step;
        load<Scalar>(table, c.params, state.parameters);
        load<Scalar>(table, c.moment1, state.moment1);
        if (!c.moment2.empty()) load<Scalar>(table, c.moment2, state.moment2);
        state.knobs = hot_knobs(c);
        const auto size = value_of(c.integers, "verdict_size");
        for (std::int64_t i = 0; i < size; ++i)
            state.verdict.push_back(value_of(c.scalars, "verdict." + std::to_string(i)));
        state.optimizer_steps = value_of(c.integers, "optimizer_steps");
        if (recipe_.train.precision == Precision::Fp16)
            state.loss_scale = {value_of(c.scalars, "loss_scale"),
                                value_of(c.integers, "loss_scale_good_steps")};
        state.raised_eps = raised_eps(c);
        trainer.restore(state);
    });
    // The run continues under the interventions that it had there.
    if (const Recipe* then = c.recipe.get()) recipe_.interventions = then->interventions;
    interventions_ = Interventions(recipe_.interventions);
    for (std::size_t i = 0; i < recipe_.interventions.size(); ++i)
        interventions_.restore(i, list_of(c, intervention_name(i)));
    // A checkpoint of an earlier version has no spike state: detection starts with the next steps.
    std::vector<double> spikes;
    for (const auto& [name, size] : c.integers)
        for (std::int64_t i = 0; name == "spikes_size" && i < size; ++i)
            spikes.push_back(value_of(c.scalars, "spikes." + std::to_string(i)));
    spikes_ = {};
    if (!spikes.empty()) spikes_.restore(spikes);
    watch_ = Watchpoints(recipe_.watch);
    if (const Recipe* then = c.recipe.get()) {
        // The checkpoint of a replay, which watches nothing, has no state.
        std::vector<std::int64_t> watch(then->watch.size(), 0);
        for (std::size_t i = 0; i < watch.size(); ++i)
            for (const auto& [name, inside] : c.integers)
                if (name == "watch." + std::to_string(i)) watch[i] = inside;
        watch_.restore(then->watch, watch);
    }
    flight_ = {};  // those steps are before the checkpoint; the ring fills again
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
