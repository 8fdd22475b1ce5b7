// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/token_file.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <vector>

namespace normscope {

namespace {

constexpr std::int32_t kGpt2Magic = 20240520, kLlama3Magic = 20240801;  // llm.c, dev/data
constexpr std::uint64_t kHeaderBytes = 256 * sizeof(std::int32_t);
constexpr const char* kKinds = "nanoGPT's or llm.c's .bin, or .npy";

std::string ending_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending;
}

template <class T>
T value_at(const ByteSource& file, std::uint64_t at) {
    T value;
    file.read(at, std::as_writable_bytes(std::span(&value, 1)));
    return value;
}

/// The text after a key of an .npy header, which is a dictionary of Python.
std::string after(const std::string& header, const std::string& key) {
    const auto at = header.find("'" + key + "':");
    if (at == std::string::npos) return {};
    std::string rest = header.substr(at + key.size() + 3);
    rest.erase(0, rest.find_first_not_of(' '));
    return rest;
}

}  // namespace

TokenFile::TokenFile(const std::string& path) : path_(path), file_(file_source(path)) {
    const std::string ending = ending_of(path);
    const std::uint64_t size = file_->size();
    if (ending == ".npy") {
        read_npy();
        return;
    }
    if (ending == ".arrow" || ending == ".parquet")
        throw InputError(path, "is a table, not token ids",
                         "the .npy file that python -m normscope.tokens TABLE OUT.npy writes of its column");
    if (ending != ".bin") throw InputError(path, "is no token file by its name", kKinds);
    const std::int32_t magic = size >= kHeaderBytes ? value_at<std::int32_t>(*file_, 0) : 0;
    if (magic == kGpt2Magic || magic == kLlama3Magic) {
        width_ = magic == kGpt2Magic ? 2 : 4;
        begin_ = kHeaderBytes;
        const auto stated = value_at<std::int32_t>(*file_, 2 * sizeof(std::int32_t));
        const std::uint64_t held = (size - kHeaderBytes) / static_cast<std::uint64_t>(width_);
        if (stated < 0 || static_cast<std::uint64_t>(stated) != held ||
            (size - kHeaderBytes) % static_cast<std::uint64_t>(width_) != 0)
            throw InputError(path,
                             "states " + std::to_string(stated) + " tokens of " + std::to_string(8 * width_) +
                                 " bits in its header, and has " + std::to_string(size - kHeaderBytes) +
                                 " bytes of them",
                             "a file that was written to its end");
        count_ = held;
        return;
    }
    if (size % 2 != 0)
        throw InputError(path, "has " + std::to_string(size) + " bytes, an odd number",
                         "16-bit ids: two bytes each");
    count_ = size / 2;
    reject_wide_ids();
}

void TokenFile::read_npy() {
    std::array<char, 12> head{};
    const std::uint64_t size = file_->size();
    if (size >= 10)
        file_->read(0, std::as_writable_bytes(std::span(head.data(), std::min<std::uint64_t>(size, 12))));
    if (std::memcmp(head.data(), "\x93NUMPY", 6) != 0)
        throw InputError(path_, "is no .npy file by its content", kKinds);
    const bool first = head[6] == 1;
    std::uint16_t of_first = 0;
    std::uint32_t of_later = 0;
    std::memcpy(&of_first, head.data() + 8, sizeof of_first);
    std::memcpy(&of_later, head.data() + 8, sizeof of_later);
    const std::uint64_t at = first ? 10 : 12, length = first ? of_first : of_later;
    if (at + length > size) throw InputError(path_, "ends within its header", kKinds);
    std::string header(length, '\0');
    file_->read(at, std::as_writable_bytes(std::span(header.data(), header.size())));
    const std::string type = after(header, "descr"), shape = after(header, "shape");
    struct Type {
        const char* word;
        int width;
        bool with_sign;
    };
    constexpr Type kTypes[] = {{"'<u2'", 2, false}, {"'<u4'", 4, false}, {"'<u8'", 8, false},
                               {"'<i2'", 2, true},  {"'<i4'", 4, true},  {"'<i8'", 8, true}};
    const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const Type& t) { return type.starts_with(t.word); });
    const std::string word = type.substr(0, type.find(',')), extent = shape.substr(0, shape.find(')') + 1);
    if (known == std::end(kTypes))
        throw InputError(path_, "holds " + quoted(word), "whole numbers of 16, 32 or 64 bits");
    width_ = known->width;
    signed_ = known->with_sign;
    begin_ = at + length;
    unsigned long long count = 0;
    char comma = 0, bracket = 0;
    if (std::sscanf(shape.c_str(), "(%llu%c%c", &count, &comma, &bracket) != 3 || comma != ',' ||
        bracket != ')')
        throw InputError(path_, "has the shape " + quoted(extent), "one axis of tokens");
    count_ = count;
    if (count_ > size / static_cast<std::uint64_t>(width_) ||
        begin_ + count_ * static_cast<std::uint64_t>(width_) != size)
        throw InputError(path_,
                         "states " + std::to_string(count_) + " tokens and has " +
                             std::to_string(size - begin_) + " bytes of them",
                         "a file that was written to its end");
}

/// Of 32-bit ids below 65,536 every second 16-bit value is 0.
void TokenFile::reject_wide_ids() const {
    const std::uint64_t checked = std::min<std::uint64_t>(count_, 4096);
    if (checked < 8) return;
    std::vector<std::uint16_t> ids(checked);
    file_->read(0, std::as_writable_bytes(std::span(ids)));
    std::size_t odd_zeros = 0, even_zeros = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); i += 2) {
        even_zeros += ids[i] == 0;
        odd_zeros += ids[i + 1] == 0;
    }
    if (odd_zeros == ids.size() / 2 && even_zeros < ids.size() / 2)
        throw InputError(path_, "has 0 as every second 16-bit value: ids of 32 bits without a header",
                         "uint16 ids, or the same ids as .npy");
}

void TokenFile::read(std::uint64_t at, std::int64_t limit, std::span<std::int32_t> ids) const {
    const auto width = static_cast<std::uint64_t>(width_);
    std::vector<std::byte> bytes(ids.size() * width);
    file_->read(begin_ + at * width, bytes);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::int64_t id = 0;
        std::memcpy(&id, bytes.data() + i * width, width);
        if (signed_ && width_ < 8) {
            const int shift = 64 - 8 * width_;
            id = static_cast<std::int64_t>(static_cast<std::uint64_t>(id) << shift) >> shift;
        }
        if (id < 0 || id >= limit)
            throw InputError(path_ + ": token " + std::to_string(at + i), "is " + std::to_string(id),
                             "0 … " + std::to_string(limit - 1));
        ids[i] = static_cast<std::int32_t>(id);
    }
}

}  // namespace normscope
