// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/replayed.h"
#include "app/cli/run_checkpoint.h"
#include "core/base/error.h"
#include "core/interchange/model_file.h"

#include <filesystem>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace fs = std::filesystem;

namespace {

struct ExportOptions {
    std::string subject, out, run;
    int threads = 0;
};

/// The run's recipe with the Δt, τ and ε in effect at the checkpoint.
Recipe recipe_at(const RunCheckpoint& at) {
    if (!at.raised_eps.empty())
        throw InputError("step " + std::to_string(at.checkpoint.step),
                         "has norms whose ε an intervention had raised, and a model file has one ε",
                         "a step where none is raised, such as the run's end");
    Recipe recipe = at.recipe;
    recipe.stack.residual_step = at.numerics.residual_step;
    recipe.stack.norm.eps = at.numerics.eps;
    recipe.stack.temperature = at.numerics.temperature;
    recipe.train.schedule.temperature_warmup = 0;
    return recipe;
}

/// The configuration that other programs read next to the file. An existing one is never replaced.
void write_config(const fs::path& config, const std::string& text) {
    if (fs::exists(config)) {
        std::cout << config.string() << ": exists and is kept; another program needs this model's own\n";
        return;
    }
    write_text_file(config.string(), text);
    std::cout << config.string() << ": its sizes, for other programs\n";
}

int run_export(const ExportOptions& options) {
    const auto [path, step] = split_step(options.subject);
    if (fs::path(options.out).extension() != ".safetensors")
        throw InputError(options.out, "is no name of a safetensors file", "MODEL.safetensors");
    std::error_code error;
    if (fs::equivalent(options.out, path, error))
        throw InputError(options.out, "is also the input", "a file of its own");
    if (is_hdf5(options.out))
        throw InputError(options.out, "is an HDF5 file and is not replaced by a model", "another file");
    if (!is_hdf5(path)) throw InputError(path, "is no run", "an HDF5 file of train or of the window");
    ThreadPool pool(options.threads);
    const RunCheckpoint at = step ? run_at_step(path, options.run, *step, pool, std::cout)
                                  : newest_run_checkpoint(path, options.run);
    const ExportedModel model = [&, &source = path] {
        try {
            return export_model(options.out, recipe_at(at), at.checkpoint.params);
        } catch (const InputError& rejection) {
            throw InputError(source + ": " + rejection.what());
        }
    }();
    std::cout << options.out << ": step " << at.checkpoint.step << ", " << model.tensors
              << " tensors under the names of " << model.format << "\n";
    if (!model.config.empty())
        write_config(fs::path(options.out).replace_filename("config.json"), model.config);
    return kDone;
}

}  // namespace

void add_export(CLI::App& program, Task& task) {
    auto options = std::make_shared<ExportOptions>();
    auto* command = program.add_subcommand(
        "export",
        "a run's weights as safetensors: GPT-2 or LLaMA names where they can express it, else Normscope's");
    command
        ->add_option("RUN.h5[@STEP]", options->subject,
                     "a run's step, replayed from the nearest checkpoint; default the newest checkpoint")
        ->required();
    command->add_option("--out", options->out, "MODEL.safetensors to write")->required();
    command->add_option("--run", options->run, "which run of a session that holds several");
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_export(*options); }; });
}

}  // namespace normscope::app
