// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/safetensors.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/interchange/float_bytes.h"
#include "core/session/replacing_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLengthBytes = 8, kLongestHeader = 100'000'000;

struct DType {
    const char* word;
    std::size_t size;
};
constexpr DType kDTypes[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8},     {"BOOL", 1},
                             {"U8", 1},  {"I8", 1},  {"U16", 2},  {"I16", 2},     {"U32", 4},
                             {"I32", 4}, {"U64", 8}, {"I64", 8},  {"F8_E5M2", 1}, {"F8_E4M3", 1}};

std::uint64_t whole(const json& value, const std::string& where) {
    if (!value.is_number_unsigned()) throw InputError(where, "is not a whole number", "0 and above");
    return value.get<std::uint64_t>();
}

const json& member(const json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end())
        throw InputError(where, std::string("has no ") + key, "dtype, shape, data_offsets");
    return *found;
}

SafetensorsEntry parse_entry(const std::string& name, const json& object, std::span<const std::byte> data,
                             const std::string& file) {
    const std::string where = file + ": " + quoted(name);
    if (!object.is_object()) throw InputError(where, "is no object", "dtype, shape, data_offsets");
    for (const auto& [key, value] : object.items())
        if (key != "dtype" && key != "shape" && key != "data_offsets")
            throw InputError(where, "has the key " + quoted(key), "dtype, shape, data_offsets");
    const json &dtype = member(object, "dtype", where), &shape = member(object, "shape", where),
               &offsets = member(object, "data_offsets", where);
    const auto* type =
        std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DType& t) { return dtype == t.word; });
    if (type == std::end(kDTypes))
        throw InputError(where, "has the unknown dtype " + quoted(json_text(dtype)), "F16, BF16, F32, F64");
    if (!shape.is_array()) throw InputError(where, "has no list as its shape", "a list of whole numbers");
    if (!offsets.is_array() || offsets.size() != 2)
        throw InputError(where, "has no pair as its data_offsets", "[begin, end]");

    SafetensorsEntry entry{name, type->word, {}, {}};
    std::uint64_t bytes = type->size;
    for (const json& extent : shape) {
        entry.shape.push_back(whole(extent, where + ": shape"));
        if (__builtin_mul_overflow(bytes, entry.shape.back(), &bytes))
            throw InputError(where, "has a shape of more than 2^64 bytes", "");
    }
    const std::uint64_t begin = whole(offsets[0], where + ": data_offsets"),
                        end = whole(offsets[1], where + ": data_offsets");
    if (begin > end || end > data.size())
        throw InputError(where, "lies at bytes " + std::to_string(begin) + " … " + std::to_string(end),
                         "inside the " + std::to_string(data.size()) + " bytes of data");
    if (end - begin != bytes)
        throw InputError(where, "has " + std::to_string(end - begin) + " bytes",
                         std::to_string(bytes) + ", what its shape and dtype need");
    entry.bytes = data.subspan(begin, bytes);
    return entry;
}

void require_no_gaps(const std::vector<SafetensorsEntry>& tensors, std::span<const std::byte> data,
                     const std::string& where) {
    const std::byte* at = data.data();
    for (const SafetensorsEntry& entry : tensors) {
        if (entry.bytes.data() != at)
            throw InputError(where + ": " + quoted(entry.name) +
                             (entry.bytes.data() < at
                                  ? ": overlaps the tensor before it"
                                  : ": leaves a hole between it and the tensor before it"));
        at += entry.bytes.size();
    }
    if (at != data.data() + data.size())
        throw InputError(where + ": " + std::to_string(data.data() + data.size() - at) +
                         " bytes after the last tensor belong to none");
}

}  // namespace

const SafetensorsEntry* Safetensors::find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors[found->second];
}

Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& where) {
    std::uint64_t length = 0;
    if (file.size() < kLengthBytes)
        throw InputError(where + ": " + std::to_string(file.size()) +
                         " bytes are too few for a safetensors file");
    std::memcpy(&length, file.data(), kLengthBytes);
    if (length > kLongestHeader || length > file.size() - kLengthBytes)
        throw InputError(where, "states a header of " + std::to_string(length) + " bytes long",
                         "at most 100000000, within the file's " + std::to_string(file.size()));
    const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
    const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
    const json header = strict_json(text, where + ": header");
    if (!header.is_object()) throw InputError(where + ": header", "is no object", "a JSON object of tensors");

    Safetensors parsed;
    for (const auto& [name, object] : header.items()) {
        if (name != "__metadata__") {
            parsed.tensors.push_back(parse_entry(name, object, data, where));
            continue;
        }
        if (!object.is_object()) throw InputError(where + ": __metadata__", "is no object", "texts by name");
        for (const auto& [key, value] : object.items()) {
            if (!value.is_string())
                throw InputError(where + ": __metadata__: " + quoted(key), "is no text", "texts");
            parsed.metadata[key] = value.get<std::string>();
        }
    }
    // By offset; of several at one offset the empty ones come first.
    std::sort(parsed.tensors.begin(), parsed.tensors.end(), [](const auto& a, const auto& b) {
        return a.bytes.data() != b.bytes.data() ? a.bytes.data() < b.bytes.data()
                                                : a.bytes.size() < b.bytes.size();
    });
    require_no_gaps(parsed.tensors, data, where);
    for (std::size_t i = 0; i < parsed.tensors.size(); ++i) parsed.index_[parsed.tensors[i].name] = i;
    return parsed;
}

StoredTensor float_tensor(const SafetensorsEntry& entry, const std::string& where) {
    constexpr std::pair<const char*, FloatType> kFloats[] = {
        {"F16", FloatType::F16}, {"BF16", FloatType::BF16}, {"F32", FloatType::F32}, {"F64", FloatType::F64}};
    for (const auto& [word, type] : kFloats)
        if (entry.dtype == word) return decoded(entry.name, entry.shape, type, entry.bytes);
    throw InputError(where + ": " + quoted(entry.name), "holds " + entry.dtype, "F16, BF16, F32, F64");
}

void write_safetensors(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
    ordered_json header;
    header["__metadata__"] = metadata;
    std::size_t at = 0;
    for (const StoredTensor& tensor : tensors) {
        if (tensor.type != StoredType::Float32 && tensor.type != StoredType::Float64)
            throw InputError(tensor.name, "holds whole numbers", "float32, float64");
        header[tensor.name] = {{"dtype", tensor.type == StoredType::Float32 ? "F32" : "F64"},
                               {"shape", tensor.shape},
                               {"data_offsets", {at, at + tensor.bytes.size()}}};
        at += tensor.bytes.size();
    }
    std::string text = json_text(header);
    text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // values are aligned
    const std::uint64_t length = text.size();

    ReplacingFile place(path);
    std::ofstream out(place.temporary(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const StoredTensor& tensor : tensors)
        out.write(reinterpret_cast<const char*>(tensor.bytes.data()),
                  static_cast<std::streamsize>(tensor.bytes.size()));
    out.close();
    if (!out) throw SystemError(path + ": cannot be written: " + std::strerror(errno));
    place.commit();
}

}  // namespace normscope
