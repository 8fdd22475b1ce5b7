// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/interchange/model_file.h"
#include "core/session/named_arrays.h"
#include "core/session/replacing_file.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

struct ImportOptions {
    std::string model, recipe, weights;
};

int run_import(const ImportOptions& options) {
    const FileIdentity before = require_writable(options.weights, {options.model, options.recipe});
    std::error_code error;
    if (std::filesystem::equivalent(options.recipe, options.model, error))
        throw InputError(options.recipe, "is also an input", "an output of its own");
    if (is_hdf5(options.recipe))
        throw InputError(options.recipe, "is an HDF5 file and is not replaced by a recipe", "another file");
    ImportedModel model = import_model(options.model);
    std::size_t numbers = 0;
    for (StoredTensor& tensor : model.weights) {
        numbers += tensor.bytes.size() / (tensor.type == StoredType::Float64 ? 8 : 4);
        tensor.name = "/params/" + tensor.name;
    }
    write_named_arrays(options.weights, model.weights, {}, before);
    write_text_file(options.recipe, recipe_json(model.recipe) + "\n");
    std::cout << options.model << ": " << model.format << ", " << model.weights.size() << " tensors, "
              << numbers << " parameters\n";
    for (const std::string& note : model.notes) std::cout << "note: " << note << "\n";
    std::cout << options.recipe << ": its recipe\n"
              << options.weights << ": its weights; next: train or probe " << options.recipe << " --weights "
              << options.weights << "\n";
    return kDone;
}

}  // namespace

void add_import(CLI::App& program, Task& task) {
    auto options = std::make_shared<ImportOptions>();
    auto* command = program.add_subcommand("import", "another program's model as a recipe and its weights");
    command
        ->add_option(
            "MODEL", options->model,
            "a folder with config.json and safetensors files, ….index.json of shards, MODEL.safetensors with "
            "its config.json next to it, a .gguf, or a .bin of llm.c or llama2.c")
        ->required();
    command->add_option("--recipe", options->recipe, "JSON file to write the recipe to")->required();
    command->add_option("--weights", options->weights, "HDF5 file to write /params/NAME to")->required();
    command->callback([options, &task] { task = [options] { return run_import(*options); }; });
}

}  // namespace normscope::app
