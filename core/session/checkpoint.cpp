// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/checkpoint.h"

#include "core/base/error.h"
#include "core/session/checkpoint_group.h"
#include "core/session/replacing_file.h"
#include "core/session/run_group.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace normscope {
namespace layout {
namespace {

using hdf5::Handle;

void write_tensors(hid_t parent, const std::string& name, const std::vector<StoredTensor>& tensors) {
    const Handle group = hdf5::make_group(parent, name);
    for (const auto& tensor : tensors) write_tensor(group, tensor.name, tensor);
}

std::vector<StoredTensor> read_tensors(hid_t parent, const std::string& name) {
    const Handle group = hdf5::open_group(parent, name);
    std::vector<StoredTensor> tensors;
    for (const auto& child : hdf5::children(group)) tensors.push_back(read_tensor(group, child));
    return tensors;
}

template <typename T>
void write_pairs(hid_t parent, const std::string& name, const std::vector<std::pair<std::string, T>>& pairs) {
    std::vector<std::string> names;
    std::vector<T> values;
    for (const auto& [key, value] : pairs) {
        names.push_back(key);
        values.push_back(value);
    }
    hdf5::write_array(parent, name, {values.size()}, values.data());
    hdf5::write_attribute(hdf5::open_dataset(parent, name), "names", names);
}

template <typename T>
std::vector<std::pair<std::string, T>> read_pairs(hid_t parent, const std::string& name) {
    const auto values = hdf5::read_array<T>(parent, name, 1);
    const auto names = hdf5::read_texts_attribute(hdf5::open_dataset(parent, name), "names");
    if (names.size() != values.data.size())
        hdf5::fail_reading(parent, name, "names and values differ in number");
    std::vector<std::pair<std::string, T>> pairs;
    for (std::size_t i = 0; i < names.size(); ++i) pairs.emplace_back(names[i], values.data[i]);
    return pairs;
}

}  // namespace

void write_tensor(hid_t parent, const std::string& name, const StoredTensor& tensor) {
    const std::size_t size = hdf5::scalar_size(tensor.type);
    if (size == 0 || tensor.bytes.size() != hdf5::element_count(tensor.shape) * size)
        throw InputError("tensor " + tensor.name + ": " + std::to_string(tensor.bytes.size()) +
                         " bytes do not fill " + hdf5::scalar_name(tensor.type) + " " +
                         hdf5::shape_text(tensor.shape));
    hdf5::write_array(parent, name, tensor.type, tensor.shape, tensor.bytes.data());
}

StoredTensor read_tensor(hid_t parent, const std::string& name) {
    const Handle dataset = hdf5::open_dataset(parent, name);
    StoredTensor tensor{name, {}, hdf5::dataset_scalar(dataset), {}};
    if (tensor.type == StoredType::Other)
        hdf5::fail_reading(parent, name, "is not float32, float64, int32, int64 or uint64");
    tensor.shape = hdf5::check_array(dataset, tensor.type, -1);
    tensor.bytes.resize(hdf5::element_count(tensor.shape) * hdf5::scalar_size(tensor.type));
    hdf5::read_rows(dataset, hdf5::native_type(tensor.type), tensor.shape.empty() ? 1 : tensor.shape[0],
                    tensor.bytes.data());
    return tensor;
}

void write_checkpoint_group(hid_t parent, const std::string& name, const Checkpoint& checkpoint) {
    const Handle group = hdf5::make_group(parent, name);
    hdf5::write_attribute(group, "step", checkpoint.step);
    hdf5::write_attribute(group, "recipe", checkpoint.recipe.text());
    write_tensors(group, "params", checkpoint.params);
    write_tensors(group, "moment1", checkpoint.moment1);
    write_tensors(group, "moment2", checkpoint.moment2);
    write_pairs(group, "scalars", checkpoint.scalars);
    write_pairs(group, "integers", checkpoint.integers);
}

Checkpoint read_checkpoint_group(hid_t parent, const std::string& name) {
    const Handle group = hdf5::open_group(parent, name);
    Checkpoint checkpoint;
    checkpoint.step = hdf5::read_int_attribute(group, "step");
    checkpoint.recipe = RunRecipe::read(hdf5::read_text_attribute(group, "recipe"));
    checkpoint.params = read_tensors(group, "params");
    checkpoint.moment1 = read_tensors(group, "moment1");
    checkpoint.moment2 = read_tensors(group, "moment2");
    checkpoint.scalars = read_pairs<double>(group, "scalars");
    checkpoint.integers = read_pairs<std::int64_t>(group, "integers");
    return checkpoint;
}

Handle open_checkpoint(const std::string& path) {
    auto opened = hdf5::open_for_reading(path);
    if (!hdf5::has_attribute(opened.file, "format") ||
        hdf5::read_text_attribute(opened.file, "format") != "normscope-checkpoint")
        throw InputError(path + ": is not a Normscope checkpoint");
    const std::int64_t version = hdf5::read_int_attribute(opened.file, "version");
    if (version != format_version)
        throw InputError(path, "version " + std::to_string(version) + " is unknown",
                         std::to_string(format_version));
    return std::move(opened.file);
}

}  // namespace layout

namespace {

/// Write sequence number of a file; 0 if it is not readable. Steps do not give the order: a run that was
/// reset writes smaller ones.
std::int64_t sequence_of(const std::string& path) {
    if (!std::filesystem::exists(path)) return 0;
    try {
        return hdf5::read_int_attribute(layout::open_checkpoint(path), "sequence");
    } catch (const InputError&) {
        return 0;  // the slot to write next; newest() reports damage
    }
}

void write_numbered(const std::string& path, const Checkpoint& checkpoint, std::int64_t sequence) {
    ReplacingFile place(path);
    hdf5::Handle file = hdf5::create_file(place.temporary());
    hdf5::write_attribute(file, "format", std::string("normscope-checkpoint"));
    hdf5::write_attribute(file, "version", layout::format_version);
    hdf5::write_attribute(file, "sequence", sequence);
    layout::write_checkpoint_group(file, layout::checkpoint_root, checkpoint);
    hdf5::close_file(std::move(file), path);
    place.commit();
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
    write_numbered(path, checkpoint, 1);
}

Checkpoint read_checkpoint(const std::string& path) {
    return layout::read_checkpoint_group(layout::open_checkpoint(path), layout::checkpoint_root);
}

bool holds_something_else(const std::string& path) {
    constexpr std::array<char, 8> hdf5{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'}, lost{};
    std::array<char, 8> begin{};
    if (!std::ifstream(path, std::ios::binary).read(begin.data(), begin.size())) return false;
    if (begin != hdf5) return begin != lost;  // after a power failure, blocks may be zero
    try {
        const auto opened = hdf5::open_for_reading(path);
        return !hdf5::has_attribute(opened.file, "format") ||
               hdf5::read_text_attribute(opened.file, "format") != "normscope-checkpoint";
    } catch (const InputError&) {
        return false;
    }
}

namespace {

void require_checkpoint(const std::string& path) {
    if (holds_something_else(path))
        throw InputError(path, "is the name of a checkpoint, but holds something else and is not replaced",
                         "another name for the recording, or for this file");
}

}  // namespace

CheckpointPair::CheckpointPair(const std::string& recording_path) : recording_(recording_path) {
    const auto named = [](const std::string& stem, const std::string& end) {
        return Names{{stem + ".ckpt.a" + end, stem + ".ckpt.b" + end}, stem + ".ckpt.start" + end};
    };
    std::filesystem::path stem = recording_path;
    const bool usual = stem.extension() == ".h5";
    if (usual) stem.replace_extension();
    const Names with_ending = named(stem.string(), ".h5"), without = named(stem.string(), "");
    names_ = usual ? with_ending : without;
    others_ = usual ? without : with_ending;
    other_recording_ = usual ? stem.string() : recording_path + ".h5";
    usual_ = usual;
}

bool CheckpointPair::has_earlier_names() const {
    return !usual_ && !std::filesystem::exists(other_recording_);
}

std::vector<std::string> CheckpointPair::alternating() const {
    std::vector<std::string> all{names_.alternating[0], names_.alternating[1]};
    if (has_earlier_names()) all.insert(all.end(), {others_.alternating[0], others_.alternating[1]});
    return all;
}

void CheckpointPair::save(const Checkpoint& checkpoint) {
    std::int64_t newest = 0;
    for (const std::string& slot : alternating()) newest = std::max(newest, sequence_of(slot));
    const bool first = sequence_of(names_.alternating[0]) <= sequence_of(names_.alternating[1]);
    const std::string& slot = names_.alternating[first ? 0 : 1];
    require_checkpoint(slot);
    write_numbered(slot, checkpoint, newest + 1);
}

std::vector<std::string> CheckpointPair::paths() const {
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (const std::string& slot : alternating())
        if (std::filesystem::exists(slot)) found.emplace_back(sequence_of(slot), slot);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> paths;
    for (auto& [sequence, slot] : found) paths.push_back(std::move(slot));
    return paths;
}

std::vector<std::string> CheckpointPair::files() const {
    std::vector<std::string> files;
    for (std::string& slot : alternating()) files.push_back(std::move(slot));
    files.push_back(names_.start);
    if (has_earlier_names()) files.push_back(others_.start);
    std::erase_if(files, [](const std::string& file) { return !std::filesystem::exists(file); });
    return files;
}

void CheckpointPair::save_start(const Checkpoint& checkpoint) {
    require_checkpoint(names_.start);
    write_checkpoint(names_.start, checkpoint);
}

std::optional<Checkpoint> CheckpointPair::start() const {
    if (std::filesystem::exists(names_.start)) return read_checkpoint(names_.start);
    if (has_earlier_names() && std::filesystem::exists(others_.start)) return read_checkpoint(others_.start);
    return std::nullopt;
}

void CheckpointPair::remove() {
    for (const auto& file : {names_.alternating[0], names_.alternating[1], names_.start}) {
        remove_leftovers(file);
        require_checkpoint(file);
    }
    std::error_code error;
    // Those of an unfinished recording of an earlier version, whose name has no ending.
    if (usual_ && !std::filesystem::exists(recording_) && std::filesystem::exists(other_recording_)) {
        const std::pair<std::string, std::string> moves[] = {{names_.alternating[0], others_.alternating[0]},
                                                             {names_.alternating[1], others_.alternating[1]},
                                                             {names_.start, others_.start}};
        for (const auto& [from, to] : moves)
            if (!std::filesystem::exists(to, error)) std::filesystem::rename(from, to, error);
    }
    for (const auto& file : files())
        if (!holds_something_else(file) && !std::filesystem::remove(file, error) && error)
            throw SystemError(file + ": cannot be removed: " + error.message());
}

std::optional<Checkpoint> CheckpointPair::newest() const {
    std::optional<InputError> first_error;
    for (const auto& path : paths()) {
        try {
            return read_checkpoint(path);
        } catch (const InputError& error) {
            if (!first_error) first_error = error;
        }
    }
    if (first_error) throw *first_error;
    return std::nullopt;
}

Checkpoint load_checkpoint(const std::string& session_path, const std::string& run_id, std::int64_t step) {
    const auto opened = hdf5::open_for_reading(session_path);
    layout::check_root(opened.file, session_path);
    layout::check_id(run_id);
    const std::string group = "runs/" + run_id + "/checkpoints";
    if (!hdf5::is_group(opened.file, group) || !hdf5::exists(opened.file, group + "/" + std::to_string(step)))
        throw InputError(session_path + ": run \"" + run_id + "\" has no checkpoint of step " +
                         std::to_string(step));
    return layout::read_checkpoint_group(opened.file, group + "/" + std::to_string(step));
}

}  // namespace normscope
