// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/model_file.h"

#include "core/backend/device.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/interchange/file_bytes.h"
#include "core/interchange/gguf.h"
#include "core/interchange/llama2_c.h"
#include "core/interchange/llm_c.h"
#include "core/interchange/model_config.h"
#include "core/interchange/model_folder.h"
#include "core/interchange/plain_names.h"
#include "core/interchange/tensor_names.h"
#include "core/model/parameters.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>

namespace normscope {

namespace {

constexpr const char* kRecipeKey = "normscope_recipe";
constexpr Naming kFamilies[] = {Naming::Gpt2, Naming::NanoGpt, Naming::Llama};

/// The training recipe of a trained model: small steps, so that the loss continues from its value.
TrainSpec training_on(const std::vector<StoredTensor>& weights) {
    TrainSpec train;
    train.optimizer.lr = 1e-4;
    train.schedule.warmup = 20;
    const bool wide = std::any_of(weights.begin(), weights.end(),
                                  [](const StoredTensor& t) { return t.type == StoredType::Float64; });
    train.precision = wide ? Precision::Fp64 : Precision::Fp32;
    return train;
}

/// Weights in the table's order, each of the stack's shape.
std::vector<StoredTensor> in_order(const StackSpec& stack, std::vector<StoredTensor> weights) {
    std::map<std::string, StoredTensor> by_name;
    for (StoredTensor& tensor : weights) by_name[tensor.name] = std::move(tensor);
    std::vector<StoredTensor> ordered;
    const ParameterTable table(stack);
    for (const TensorInfo& t : table.tensors()) ordered.push_back(std::move(by_name.at(t.name)));
    return ordered;
}

ImportedModel from_bin(std::span<const std::byte> file, const std::string& path) {
    const auto begins = [&](std::initializer_list<unsigned char> bytes) {
        return file.size() >= bytes.size() && std::memcmp(file.data(), bytes.begin(), bytes.size()) == 0;
    };
    if (begins({'P', 'K', 3, 4}) || begins({0x80, 2}))
        throw InputError(
            path, "is a pickle of PyTorch, which can hold programs and is not read",
            "the same model as .safetensors, or what python -m normscope.convert FILE FOLDER makes of it");
    const bool llm = is_llm_c(file);
    StackWithWeights model = llm ? read_llm_c(file, path) : read_llama2_c(file, path);
    ImportedModel imported;
    imported.recipe.stack = model.stack;
    imported.weights = in_order(model.stack, std::move(model.weights));
    imported.recipe.train = training_on(imported.weights);
    imported.format = llm ? "llm.c" : "llama2.c";
    return imported;
}

/// The weights are held as float32 or float64: a model that does not fit is rejected before it is read.
void require_memory(const StackSpec& stack, const Safetensors& file, const std::string& where) {
    const ParameterTable table(stack);
    const bool wide = std::any_of(file.tensors().begin(), file.tensors().end(),
                                  [](const SafetensorsEntry& entry) { return entry.dtype == "F64"; });
    const double needed = static_cast<double>(table.size()) * (wide ? 8 : 4),
                 free = static_cast<double>(cpu_device().memory().free);
    constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
    if (needed > free)
        throw InputError(where,
                         "has " + std::to_string(table.size()) + " parameters, " +
                             number_text(needed / kGiB) + " GiB as " + (wide ? "float64" : "float32") + "; " +
                             number_text(free / kGiB) + " GiB are free",
                         "a model that fits");
}

std::string ending_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending;
}

ImportedModel from_safetensors(ModelFiles model) {
    const std::string& path = model.where;
    ImportedModel imported;
    imported.notes = std::move(model.notes);
    const Safetensors file = with_plain_names(model.tensors, path, imported.notes);
    auto found = find_naming(file);
    if (!found)
        throw InputError(
            path, "holds no tensors of a model that we know",
            "the names of a family in docs/guide/models.md, such as GPT-2 (wte.weight, h.0…), LLaMA "
            "(model.embed_tokens.weight…), or our own");
    found->neighbours = model.neighbours;
    const auto own = file.metadata.find(kRecipeKey);
    imported.format = ending_of(path) == ".gguf" ? "gguf" : naming_word(found->naming);
    if (own != file.metadata.end()) {
        imported.recipe = parse_recipe(own->second, path + ": " + kRecipeKey);
        complete(imported.recipe.stack, 0);
        validate(imported.recipe.stack);
        if (imported.recipe.stack.vocab < 2)
            throw InputError(path + ": " + kRecipeKey + ": stack.vocab", "is missing", "2 and above");
        if (!expressible(imported.recipe.stack, found->naming))
            throw InputError(path + ": its recipe is no " + imported.format + " model, though its names are");
    } else if (found->naming == Naming::Normscope) {
        throw InputError(path, "has our names but no recipe in its __metadata__",
                         "a file of normscope-cli export");
    } else if (!model.config) {
        throw InputError(path, "has no readable config.json next to it, and no recipe inside",
                         "the model's own config.json in the same folder");
    } else {
        imported.recipe.stack =
            stack_of_config(*model.config, *found, file, model.config_where, imported.notes);
    }
    require_memory(imported.recipe.stack, file, path);
    imported.weights = from_foreign(imported.recipe.stack, *found, file, path, imported.notes);
    if (own == file.metadata.end()) {
        imported.recipe.train = training_on(imported.weights);
        if (imported.recipe.stack.of_images()) imported.recipe.train.data.source = DataSource::Images;
    }
    return imported;
}

}  // namespace

ImportedModel import_model(std::span<const std::byte> file, const std::optional<std::string>& config_json,
                           const std::string& path) {
    const std::string ending = ending_of(path);
    if (ending == ".bin") return from_bin(file, path);
    if (ending == ".gguf") return from_safetensors(gguf_model(memory_source(file), path));
    if (ending != ".safetensors")
        throw InputError(path, "is no model file by its name", "MODEL.safetensors, MODEL.gguf, MODEL.bin");
    ModelFiles model;
    model.tensors = parse_safetensors(file, path);
    model.config = config_json;
    model.where = path;
    model.config_where = std::filesystem::path(path).replace_filename("config.json").string();
    return from_safetensors(std::move(model));
}

ImportedModel import_model(const std::string& path) {
    std::error_code error;
    const std::string ending = ending_of(path);
    if (!std::filesystem::is_directory(path, error)) {
        if (ending == ".gguf") {
            const auto file = file_source(path);
            return from_safetensors(gguf_model(file, path));
        }
        if (ending == ".bin" || ending == ".pt" || ending == ".pth") {
            reject_other_content(*file_source(path), path);
            const FileBytes file(path);
            return import_model(file.bytes(), std::nullopt, path);
        }
        if (ending != ".safetensors" && ending != ".json")
            throw InputError(path, "is no model file by its name",
                             "a folder, MODEL.safetensors, ….index.json, MODEL.gguf, MODEL.bin");
    }
    return from_safetensors(open_model_files(path));
}

ExportedModel export_model(const std::string& path, const Recipe& recipe,
                           const std::vector<StoredTensor>& weights) {
    Naming naming = Naming::Normscope;
    for (const Naming family : kFamilies)
        if (expressible(recipe.stack, family)) {
            naming = family;
            break;
        }
    const std::vector<StoredTensor> tensors = to_foreign(recipe.stack, naming, weights);
    // "format": "pt" is what PyTorch programs look for.
    write_safetensors(path, tensors, {{"format", "pt"}, {kRecipeKey, recipe_json(recipe, -1)}});
    return {naming_word(naming), tensors.size(),
            naming == Naming::Normscope ? "" : config_of_stack(recipe.stack, naming)};
}

}  // namespace normscope
