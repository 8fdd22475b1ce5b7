// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/replayed.h"
#include "app/cli/run_checkpoint.h"
#include "app/cli/warn.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/model/gate_warnings.h"
#include "core/probe/registry.h"
#include "core/run/evaluation.h"
#include "core/run/experiment.h"
#include "core/run/memory_need.h"
#include "core/run/probe_steps.h"
#include "core/run/watched_step.h"
#include "core/session/named_arrays.h"
#include "core/stack/warnings.h"
#include "core/train/schedule.h"
#include "core/train/trainer.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace normscope::app {

namespace {

struct ProbeOptions {
    std::string subject, out, weights, tokens, dtype = "float64", run, backend = "cpu", only;
    std::vector<std::string> probes, settings;
    int threads = 0;
};

/// What is measured: a recipe, its weights (null: the initial ones), and the step.
struct Subject {
    Recipe recipe;
    std::optional<std::vector<StoredTensor>> weights;
    std::optional<Checkpoint> checkpoint;  ///< of a run: with the optimizer's state
    std::string weights_from;
    Numerics numerics;
    std::vector<double> raised_eps{};
    std::int64_t step = 0;
};

Subject subject_of(const ProbeOptions& options, ThreadPool& pool) {
    Subject subject;
    Recipe& recipe = subject.recipe;
    const auto [path, step] = split_step(options.subject);
    if (is_hdf5(path)) {
        if (!options.settings.empty())
            throw InputError("--set", "is given, but a run has its own recipe", "only with a recipe");
        if (!options.weights.empty())
            throw InputError("--weights", "are given, but a run has its own", "only with a recipe");
        RunCheckpoint run = step ? run_at_step(path, options.run, *step, pool, std::cout)
                                 : newest_run_checkpoint(path, options.run);
        subject = {std::move(run.recipe),
                   run.checkpoint.params,
                   std::move(run.checkpoint),
                   path + ": step ",
                   run.numerics,
                   run.raised_eps,
                   0};
        subject.step = subject.checkpoint->step;
        subject.weights_from += std::to_string(subject.step);
        return subject;
    }
    recipe = read_recipe(options.subject, options.settings);
    complete_for_evaluation(recipe);
    const StackSpec& s = recipe.stack;
    subject.numerics = {s.residual_step, s.temperature, s.norm.eps};
    if (options.weights.empty()) {
        subject.numerics.temperature = temperature(recipe.train.schedule, s.temperature, 0);
    } else {
        subject.weights = read_named_arrays(options.weights, "/params");
        subject.weights_from = options.weights + ": /params";
    }
    return subject;
}

/// The tokens, and which part of the held-out sequences they are.
struct ProbedBatch {
    Batch batch;
    std::string sampled;  ///< empty: they were given
};

ProbedBatch batch_of(const ProbeOptions& options, const Subject& subject) {
    Recipe recipe = subject.recipe;
    if (!options.tokens.empty()) return {read_batch(options.tokens, recipe.stack), {}};
    auto corpus = complete_and_validate(recipe);
    ProbeShape shape = probe_shape(recipe);
    // A run is measured on the sequences that it samples itself, a recipe on the whole probe batch.
    if (!subject.checkpoint) {
        shape.sequences = kProbeSequences;
        shape.length = shape.context;
    }
    const auto trainer = make_trainer(recipe.stack, recipe.train, std::move(corpus));
    return {std::visit([&](const auto& t) { return t->probe_batch(shape.sequences, shape.length); }, trainer),
            sampled_text(shape)};
}

/// The update that a run in the subject's state makes next: of a checkpoint with its moments, else the first.
UpdateNorms next_update(const Subject& subject, Device& device, ThreadPool& pool) {
    Recipe recipe = subject.recipe;
    auto corpus = complete_and_validate(recipe);
    require_device(recipe, pool.threads(), device);
    Experiment experiment(recipe, "a", "probed", std::move(corpus), device);
    if (subject.checkpoint)
        experiment.restore(*subject.checkpoint);
    else if (subject.weights)
        experiment.load_weights(*subject.weights, subject.weights_from);
    UpdateNorms norms = update_of_result(experiment.measure("updates", pool));
    norms.made_by = "the next step of the run, on its own training batch";
    return norms;
}

/// For given tokens, which belong to no run: the optimizer's first step on their gradients.
template <class T>
UpdateNorms update_of(const Recipe& recipe, const Transformer<T>& model, ProbeInput<T>& input) {
    const HostView<T> gradients = input.parameter_gradients(), before = model.host_parameters();
    const std::vector<T> after =
        stepped_parameters<T>(recipe, model, {gradients.begin(), gradients.end()}, input.pool);
    UpdateNorms norms = update_norms<T>(model.table(), before, after, nullptr);
    norms.made_by = "the optimizer's first step on these tokens, at the base learning rate";
    return norms;
}

std::vector<const ProbeInfo*> chosen_probes(const std::vector<std::string>& ids) {
    std::vector<const ProbeInfo*> probes;
    std::string allowed;
    for (const ProbeInfo& probe : probe_registry()) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(probe.id);
        if (ids.empty() || std::find(ids.begin(), ids.end(), probe.id) != ids.end()) probes.push_back(&probe);
    }
    for (const std::string& id : ids)
        if (!find_probe(id)) throw InputError("--probes", "\"" + id + "\" is not known", allowed);
    return probes;
}

template <class T>
int measure_once(const ProbeOptions& options) {
    const auto probes = chosen_probes(options.probes);
    Device& device = device_named(options.backend);
    const FileIdentity before =
        require_writable(options.out, {split_step(options.subject).first, options.weights, options.tokens});
    ThreadPool pool(options.threads);
    const Subject subject = subject_of(options, pool);
    auto model = subject.weights ? model_with_weights<T>(subject.recipe.stack, *subject.weights,
                                                         subject.weights_from, device)
                                 : Transformer<T>(subject.recipe.stack, subject.recipe.train.seed, device);
    model.numerics = subject.numerics;
    model.raise_eps(subject.raised_eps);
    Warner warner;
    warner.show(warnings(subject.recipe.stack));
    warner.show(gate_warnings(model));
    const ProbedBatch probed = batch_of(options, subject);
    ProbeInput<T> input(model, probed.batch, pool, subject.step);
    if (!probed.sampled.empty()) input.sampled = probed.sampled;
    if (!options.only.empty()) {
        const PlaceSelection only = PlaceSelection::parse(options.only, "--only");
        only.check(subject.recipe.stack.depth, "--only");
        for (const ProbeInfo* probe : probes) input.only[probe->id] = only;
    }
    input.update = [&] {
        return options.tokens.empty() ? next_update(subject, device, pool)
                                      : update_of<T>(subject.recipe, model, input);
    };
    std::vector<ProbeResult> results;
    run_probes<T>(probes, input, [&](ProbeResult result) {
        std::cout << result.probe << ": " << result.cost_ms << " ms" << std::endl;
        if (options.tokens.empty()) stamp_training_batch(result);
        results.push_back(std::move(result));
    });
    write_named_arrays(options.out, {}, results, before);
    std::cout << options.out << ": " << results.size() << " probes at step " << subject.step << "\n";
    return kDone;
}

}  // namespace

void add_probe(CLI::App& program, Task& task) {
    auto options = std::make_shared<ProbeOptions>();
    auto* command = program.add_subcommand(
        "probe", "measures once: initial weights, given weights, or a run at any of its steps");
    command
        ->add_option("RECIPE|RUN.h5[@STEP]", options->subject,
                     "a recipe, a preset's name, a run's newest checkpoint, or a run at a step, replayed "
                     "from the checkpoint before it (--dtype float32 gives what a float32 run itself would "
                     "have measured there)")
        ->required();
    command->add_option("--probes", options->probes, "which, separated by commas; default all")
        ->delimiter(',');
    command->add_option(
        "--only", options->only,
        "PATTERNS of places, e.g. \"blocks.0, blocks.*.norm_in\": probes measure these alone");
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.residual_step=0.1")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--out", options->out, "HDF5 file for /probes/…")->required();
    command->add_option("--weights", options->weights, "HDF5 file with /params/NAME");
    command->add_option("--tokens", options->tokens, "HDF5 file with /tokens, /targets [B, n] int32");
    command->add_option("--dtype", options->dtype, "float64 or float32")
        ->check(CLI::IsMember({"float64", "float32"}));
    command->add_option("--run", options->run, "which run of a session that holds several");
    add_backend_option(*command, options->backend);
    add_threads_option(*command, options->threads);
    command->callback([options, &task] {
        task = [options] {
            return options->dtype == "float32" ? measure_once<float>(*options)
                                               : measure_once<double>(*options);
        };
    });
}

}  // namespace normscope::app
