// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/warn.h"
#include "core/backend/devices/devices.h"
#include "core/model/gate_warnings.h"
#include "core/run/evaluation.h"
#include "core/run/memory_need.h"
#include "core/session/named_arrays.h"
#include "core/stack/warnings.h"

#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

struct EvaluateOptions {
    std::string recipe, weights, tokens, out, dtype = "float64", backend = "cpu";
    EvaluationParts parts;
    int threads = 0;
};

template <class T>
int run_evaluate(const EvaluateOptions& options) {
    Device& device = device_named(options.backend);
    Recipe recipe = read_recipe(options.recipe);
    complete_for_evaluation(recipe);
    const FileIdentity before =
        require_writable(options.out, {options.recipe, options.weights, options.tokens});
    const auto model = model_with_weights<T>(recipe.stack, read_named_arrays(options.weights, "/params"),
                                             options.weights + ": /params", device);
    Warner warner;
    warner.show(warnings(recipe.stack));
    warner.show(gate_warnings(model));
    const Batch batch = read_batch(options.tokens, recipe.stack);
    require_memory(evaluation_memory_need(recipe.stack, batch.sequences, batch.length, sizeof(T)), device);
    ThreadPool pool(options.threads);
    const Evaluation result = evaluate(recipe, model, batch, options.parts, pool);
    write_named_arrays(options.out, result.arrays, {}, before);
    std::cout << options.out << ": " << result.arrays.size() << " arrays, " << options.dtype << "\n";
    if (!result.not_finite) return kDone;
    print_error(options.out + ": not finite: " + result.not_finite->text);
    return kDiverged;
}

}  // namespace

void add_evaluate(CLI::App& program, Task& task) {
    auto options = std::make_shared<EvaluateOptions>();
    auto* command =
        program.add_subcommand("evaluate", "hidden states, loss and gradients of given weights and tokens");
    command->add_option("RECIPE", options->recipe, "a recipe's path or a preset's name")->required();
    command->add_option("--weights", options->weights, "HDF5 file with /params/NAME")->required();
    command->add_option("--tokens", options->tokens, "HDF5 file with /tokens, /targets [B, n], whole numbers")
        ->required();
    command->add_option("--out", options->out, "HDF5 file to write")->required();
    command->add_option("--dtype", options->dtype, "float64 or float32")
        ->check(CLI::IsMember({"float64", "float32"}));
    command->add_flag("--step", options->parts.step, "also the parameters after one step of the optimizer");
    command->add_flag("--jacobian", options->parts.jacobian, "also the Jacobians of sequence 0, dense");
    add_backend_option(*command, options->backend);
    add_threads_option(*command, options->threads);
    command->callback([options, &task] {
        task = [options] {
            return options->dtype == "float32" ? run_evaluate<float>(*options)
                                               : run_evaluate<double>(*options);
        };
    });
}

}  // namespace normscope::app
