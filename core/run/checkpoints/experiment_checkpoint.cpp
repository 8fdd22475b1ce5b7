// SPDX-License-Identifier: GPL-3.0-or-later
// The state of an experiment as a checkpoint, and back.
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/run/evaluation.h"
#include "core/run/experiment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace normscope {

namespace {

template <class T>
std::vector<StoredTensor> tensors_of(const ParameterTable& table, std::span<const T> arena) {
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
void load_arena(const ParameterTable& table, const std::vector<StoredTensor>& tensors,
                std::vector<T>& arena) {
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
    return with_trainer(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        const TrainerState<Scalar> state = trainer.save();
        const ParameterTable& table = trainer.model().table();
        Checkpoint c;
        c.step = state.step;
        c.recipe = recipe_;
        c.params = tensors_of<Scalar>(table, state.parameters);
        c.moment1 = tensors_of<Scalar>(table, state.moment1);
        if (!state.moment2.empty()) c.moment2 = tensors_of<Scalar>(table, state.moment2);
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
    with_trainer(trainer_, [&](auto& trainer) {
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
    with_trainer(trainer_, [&](auto& trainer) {
        using Scalar = typename std::decay_t<decltype(trainer)>::Scalar;
        const ParameterTable& table = trainer.model().table();
        TrainerState<Scalar> state;
        state.step = c.step;
        load_arena<Scalar>(table, c.params, state.parameters);
        load_arena<Scalar>(table, c.moment1, state.moment1);
        if (!c.moment2.empty()) load_arena<Scalar>(table, c.moment2, state.moment2);
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

}  // namespace normscope
