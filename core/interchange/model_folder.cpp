// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/model_folder.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace normscope {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kWanted = "MODEL.safetensors, an index of its shards, or a folder with them";

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw InputError(path.string() + ": cannot be read");
    return text.str();
}

std::optional<std::string> config_next_to(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    return text_of(path);
}

Safetensors headers_of(const fs::path& path) {
    const auto file = file_source(path.string());
    reject_other_content(*file, path.string());
    return parse_safetensors(file, path.string());
}

/// "a", "a, b and 3 more"
std::string some_of(const std::vector<std::string>& names) {
    std::string text = names.front();
    if (names.size() > 1) text += ", " + names[1];
    if (names.size() > 2) text += " and " + std::to_string(names.size() - 2) + " more";
    return text;
}

/// {"weight_map": {tensor: file, …}}
ModelFiles of_index(const fs::path& path) {
    ModelFiles model;
    model.where = path.string();
    const json index = strict_json(text_of(path), model.where);
    const auto map = index.is_object() ? index.find("weight_map") : index.end();
    if (!index.is_object() || map == index.end() || !map->is_object())
        throw InputError(model.where, "has no weight_map", "the index of a model's shards");
    std::map<std::string, std::vector<std::string>> by_shard;
    for (const auto& [tensor, shard] : map->items()) {
        if (!shard.is_string() || shard.get<std::string>().find('/') != std::string::npos)
            throw InputError(model.where + ": " + quoted(tensor), "names no file",
                             "the name of a file in the same folder");
        by_shard[shard.get<std::string>()].push_back(tensor);
    }
    std::vector<std::string> unlisted;
    for (const auto& [shard, listed] : by_shard) {
        const fs::path file = path.parent_path() / shard;
        std::error_code error;
        if (!fs::exists(file, error))
            throw InputError(
                model.where + ": the shard " + shard,
                "is missing, with " + std::to_string(listed.size()) + " tensors (" + some_of(listed) + ")",
                "all " + std::to_string(by_shard.size()) + " shards in one folder");
        const Safetensors part = headers_of(file);
        for (const std::string& tensor : listed)
            if (!part.find(tensor))
                throw InputError(file.string() + ": " + quoted(tensor),
                                 "is not in the shard that the index names",
                                 "the index and the shards of one model");
        for (const SafetensorsEntry& entry : part.tensors()) {
            if (!std::count(listed.begin(), listed.end(), entry.name)) unlisted.push_back(entry.name);
            if (!model.tensors.add(entry))
                throw InputError(file.string() + ": " + quoted(entry.name), "is in two shards",
                                 "a tensor once");
        }
        model.tensors.metadata.insert(part.metadata.begin(), part.metadata.end());
    }
    if (!unlisted.empty())
        model.notes.push_back("tensors that the index does not list: " + some_of(unlisted));
    return model;
}

ModelFiles of_file(const fs::path& path) {
    ModelFiles model;
    model.where = path.string();
    model.tensors = headers_of(path);
    return model;
}

ModelFiles of_folder(const fs::path& folder) {
    std::error_code error;
    const auto has = [&](const char* name) { return fs::exists(folder / name, error); };
    if (has("model.safetensors.index.json")) return of_index(folder / "model.safetensors.index.json");
    if (has("model.safetensors")) return of_file(folder / "model.safetensors");
    if (has("adapter_model.safetensors") || has("adapter_config.json"))
        throw InputError(folder.string(), "holds a LoRA adapter, which is no model by itself",
                         "the folder of the model that it was merged into");
    std::vector<fs::path> found;
    std::string other;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string ending = lower(entry.path().extension().string());
        if (ending == ".safetensors") found.push_back(entry.path());
        if (ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".gguf")
            other = entry.path().filename().string();
    }
    if (found.size() == 1) return of_file(found.front());
    if (found.size() > 1)
        throw InputError(folder.string(),
                         "holds " + std::to_string(found.size()) + " safetensors files and no index of them",
                         "one file, or model.safetensors.index.json");
    throw InputError(folder.string(), "holds no safetensors file" + (other.empty() ? "" : ", but " + other),
                     kWanted);
}

}  // namespace

void reject_other_content(const ByteSource& file, const std::string& where) {
    std::string head(std::min<std::uint64_t>(file.size(), 64), '\0');
    file.read(0, std::as_writable_bytes(std::span(head.data(), head.size())));
    const auto reject = [&](const std::string& what, const std::string& allowed) {
        throw InputError(where, what, allowed);
    };
    if (head.empty()) reject("is empty", kWanted);
    if (head.starts_with("version https://git-lfs"))
        reject("is a pointer of Git LFS, not the file itself", "the file after git lfs pull");
    if (head.starts_with("GGUF")) reject("is a GGUF file", "a name that ends with .gguf");
    if (head.starts_with("PK\3\4") || head.starts_with("\x80\2"))
        reject("is a pickle of PyTorch, which can hold programs and is not read",
               "the same model as .safetensors, or what python -m normscope.convert FILE FOLDER makes of it");
    std::string begin = lower(head);
    begin.erase(0, begin.find_first_not_of(" \t\r\n"));
    if (begin.starts_with("<!doctype") || begin.starts_with("<html"))
        reject("is a page of HTML, such as a download that was rejected", "the file itself");
}

bool is_model_folder(const std::string& path) {
    std::error_code error;
    const fs::path folder(path);
    return fs::is_directory(folder, error) && (fs::exists(folder / "model.safetensors", error) ||
                                               fs::exists(folder / "model.safetensors.index.json", error) ||
                                               fs::exists(folder / "adapter_config.json", error));
}

ModelFiles open_model_files(const std::string& path) {
    std::error_code error;
    const fs::path given(path);
    const bool folder = fs::is_directory(given, error);
    const std::string name = lower(given.filename().string());
    ModelFiles model = folder                          ? of_folder(given)
                       : name.ends_with(".index.json") ? of_index(given)
                                                       : of_file(given);
    const fs::path config = folder ? given / "config.json" : fs::path(given).replace_filename("config.json");
    model.config_where = config.string();
    model.config = config_next_to(config);
    return model;
}

}  // namespace normscope
