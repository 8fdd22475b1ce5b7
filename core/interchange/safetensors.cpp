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
    std::uint64_t bits;
};
// All of the format; what is no float16 to float64 may be in a file next to a model.
constexpr DType kDTypes[] = {
    {"F32", 32}, {"F16", 16},    {"BF16", 16},   {"F64", 64},    {"BOOL", 8},        {"U8", 8},
    {"I8", 8},   {"U16", 16},    {"I16", 16},    {"U32", 32},    {"I32", 32},        {"U64", 64},
    {"I64", 64}, {"C64", 64},    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F4", 4},   {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}};

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

/// data: the number of bytes after the header, which begin at `begin_of_data`.
SafetensorsEntry parse_entry(const std::string& name, const json& object, std::uint64_t begin_of_data,
                             std::uint64_t data, const std::string& file) {
    const std::string where = file + ": " + quoted(name);
    if (!object.is_object()) throw InputError(where, "is no object", "dtype, shape, data_offsets");
    // Further keys are ignored, as the reference reader does.
    const json &dtype = member(object, "dtype", where), &shape = member(object, "shape", where),
               &offsets = member(object, "data_offsets", where);
    const auto* type =
        std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DType& t) { return dtype == t.word; });
    if (type == std::end(kDTypes))
        throw InputError(where, "has the unknown dtype " + quoted(json_text(dtype)), "F16, BF16, F32, F64");
    if (!shape.is_array()) throw InputError(where, "has no list as its shape", "a list of whole numbers");
    if (!offsets.is_array() || offsets.size() != 2)
        throw InputError(where, "has no pair as its data_offsets", "[begin, end]");

    SafetensorsEntry entry{name, type->word, {}, nullptr};
    std::uint64_t bits = type->bits;
    for (const json& extent : shape) {
        entry.shape.push_back(whole(extent, where + ": shape"));
        if (__builtin_mul_overflow(bits, entry.shape.back(), &bits))
            throw InputError(where, "has a shape of more than 2^64 bits", "");
    }
    if (bits % 8 != 0) throw InputError(where, "does not end at a byte", "a shape of whole bytes");
    const std::uint64_t bytes = bits / 8;
    const std::uint64_t begin = whole(offsets[0], where + ": data_offsets"),
                        end = whole(offsets[1], where + ": data_offsets");
    if (begin > end || end > data)
        throw InputError(where, "is at bytes " + std::to_string(begin) + " … " + std::to_string(end),
                         "inside the " + std::to_string(data) + " bytes of data");
    if (end - begin != bytes)
        throw InputError(where, "has " + std::to_string(end - begin) + " bytes",
                         std::to_string(bytes) + ", what its shape and dtype need");
    entry.at = begin_of_data + begin;
    entry.bytes = bytes;
    return entry;
}

void require_no_gaps(const std::vector<SafetensorsEntry>& tensors, std::uint64_t at, std::uint64_t end,
                     const std::string& where) {
    const SafetensorsEntry* before = nullptr;
    for (const SafetensorsEntry& entry : tensors) {
        if (before && entry.at == before->at && entry.bytes > 0)
            throw InputError(where + ": " + quoted(entry.name),
                             "is at the same bytes as " + quoted(before->name),
                             "one name for a tensor that is shared");
        if (entry.at != at)
            throw InputError(where + ": " + quoted(entry.name) +
                             (entry.at < at ? ": overlaps the tensor before it"
                                            : ": leaves a hole between it and the tensor before it"));
        at += entry.bytes;
        before = &entry;
    }
    if (at != end)
        throw InputError(
            where + ": " + std::to_string(end - at) +
            " bytes after the last tensor belong to none: the file was not written as a whole, or "
            "something was appended to it");
}

}  // namespace

std::vector<std::byte> SafetensorsEntry::read() const {
    std::vector<std::byte> values(bytes);
    file->read(at, values);
    return values;
}

bool Safetensors::add(SafetensorsEntry entry) {
    if (!index_.emplace(entry.name, tensors_.size()).second) return false;
    tensors_.push_back(std::move(entry));
    return true;
}

const SafetensorsEntry* Safetensors::find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

Safetensors parse_safetensors(const std::shared_ptr<const ByteSource>& file, const std::string& where) {
    std::uint64_t length = 0;
    const std::uint64_t size = file->size();
    if (size < kLengthBytes)
        throw InputError(where + ": " + std::to_string(size) + " bytes are too few for a safetensors file");
    file->read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > kLongestHeader || length > size - kLengthBytes)
        throw InputError(where, "states a header of " + std::to_string(length) + " bytes",
                         "at most 100000000, within the file's " + std::to_string(size));
    std::string text(length, '\0');
    file->read(kLengthBytes, std::as_writable_bytes(std::span(text.data(), text.size())));
    if (text.ends_with('\0'))
        throw InputError(where + ": header", "is padded with zero bytes", "a header padded with blanks");
    const std::uint64_t begin = kLengthBytes + length;
    const json header = strict_json(text, where + ": header");
    if (!header.is_object()) throw InputError(where + ": header", "is no object", "a JSON object of tensors");

    Safetensors parsed;
    std::vector<SafetensorsEntry> tensors;
    for (const auto& [name, object] : header.items()) {
        if (name != "__metadata__") {
            tensors.push_back(parse_entry(name, object, begin, size - begin, where));
            continue;
        }
        if (object.is_null()) continue;
        if (!object.is_object()) throw InputError(where + ": __metadata__", "is no object", "texts by name");
        for (const auto& [key, value] : object.items()) {
            if (!value.is_string())
                throw InputError(where + ": __metadata__: " + quoted(key), "is no text", "texts");
            parsed.metadata[key] = value.get<std::string>();
        }
    }
    // By offset; of several at one offset the empty ones come first.
    std::sort(tensors.begin(), tensors.end(),
              [](const auto& a, const auto& b) { return a.at != b.at ? a.at < b.at : a.bytes < b.bytes; });
    require_no_gaps(tensors, begin, size, where);
    for (SafetensorsEntry& entry : tensors) {
        entry.file = file;
        parsed.add(std::move(entry));
    }
    return parsed;
}

Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& where) {
    return parse_safetensors(memory_source(file), where);
}

StoredTensor float_tensor(const SafetensorsEntry& entry, const std::string& where) {
    constexpr std::pair<const char*, FloatType> kFloats[] = {
        {"F16", FloatType::F16}, {"BF16", FloatType::BF16}, {"F32", FloatType::F32}, {"F64", FloatType::F64}};
    for (const auto& [word, type] : kFloats)
        if (entry.dtype == word) return decoded(entry.name, entry.shape, type, entry.read());
    const bool scaled = entry.dtype.starts_with("F8") || entry.dtype.starts_with("F4") ||
                        entry.dtype.starts_with("F6") || entry.dtype == "I8" || entry.dtype == "U8";
    throw InputError(where + ": " + quoted(entry.name),
                     "holds " + entry.dtype + (scaled ? ", quantised weights" : ""),
                     std::string("F16, BF16, F32, F64") + (scaled ? ": dequantise the model first" : ""));
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
