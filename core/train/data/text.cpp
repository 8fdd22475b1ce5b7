// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/text.h"

#include "core/base/error.h"
#include "core/train/data/context_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace normscope {
namespace {

std::string read_bytes(const std::string& path) {
    namespace fs = std::filesystem;
    if (path.empty()) throw InputError("data.path", "no file is named", "the path of a text file");
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) throw InputError(path, "no such file", "");
    if (status.type() == fs::file_type::directory) throw InputError(path, "is a directory", "a file");
    if (error) throw InputError(path, "cannot be read: " + error.message(), "");
    if (status.type() != fs::file_type::regular) throw InputError(path, "is not a regular file", "a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path, "cannot be opened for reading", "");
    std::ostringstream bytes;
    if (fs::file_size(path, error) > 0) bytes << file.rdbuf();  // an empty buffer would set the failure bit
    if (error || !bytes || file.bad()) throw InputError(path, "reading it failed", "");
    return std::move(bytes).str();
}

/// InputError for a file that is no text by its first bytes, or by its name and bytes of value 0: training on
/// them would give a run without a warning.
void reject_other_content(const std::string& path, std::string_view bytes) {
    struct Content {
        std::string_view begin;
        const char* what;
    };
    using namespace std::string_view_literals;
    static constexpr Content kKnown[] = {{"\x93NUMPY"sv, "an array of NumPy"},
                                         {"PAR1"sv, "a Parquet file"},
                                         {"ARROW1"sv, "an Arrow file"},
                                         {"\xff\xff\xff\xff"sv, "an Arrow stream"},
                                         {"PK\3\4"sv, "a zip archive"},
                                         {"\x1f\x8b"sv, "a gzip archive"},
                                         {"\x28\xb5\x2f\xfd"sv, "a zstd archive"},
                                         {"BZh"sv, "a bzip2 archive"},
                                         {"\xfd"
                                          "7zXZ"sv,
                                          "an xz archive"},
                                         {"\x89HDF"sv, "an HDF5 file"},
                                         {"GGUF"sv, "a GGUF model"},
                                         {"\x88\xd8\x34\1"sv, "a token file of llm.c"},
                                         {"\xa1\xd9\x34\1"sv, "a token file of llm.c"}};
    for (const Content& known : kKnown)
        if (bytes.starts_with(known.begin))
            throw InputError(path, std::string("is ") + known.what + ", no text",
                             "a text file, or token ids with data.source tokens");
    const std::string_view head = bytes.substr(0, 65536);
    const auto zeros = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\0'));
    const bool named_binary = path.ends_with(".bin") || path.ends_with(".npy") || path.ends_with(".dat");
    if (zeros > head.size() / 4 || (named_binary && zeros > head.size() / 100))
        throw InputError(path,
                         "has " + std::to_string(zeros) + " bytes of value 0 among its first " +
                             std::to_string(head.size()) + ": token ids or UTF-16, no text in UTF-8",
                         "a text file, or token ids with data.source tokens");
}

double byte_entropy(std::string_view bytes) {
    std::array<std::size_t, 256> counts{};
    for (const char byte : bytes) ++counts[static_cast<unsigned char>(byte)];
    double entropy = 0;
    for (const std::size_t count : counts) {
        const double p = static_cast<double>(count) / static_cast<double>(bytes.size());
        if (count > 0) entropy -= p * std::log(p);
    }
    return entropy;
}

/// Of the byte after `previous` others, by the counts of the text itself.
double byte_entropy_given(std::string_view bytes, int previous) {
    if (bytes.size() <= static_cast<std::size_t>(previous)) return std::numeric_limits<double>::quiet_NaN();
    const std::size_t contexts = std::size_t{1} << (8 * previous);
    std::vector<std::uint32_t> counts(contexts * 256);
    std::size_t context = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (i >= static_cast<std::size_t>(previous)) ++counts[context * 256 + byte];
        context = (context * 256 + byte) % contexts;
    }
    double sum = 0;
    for (std::size_t c = 0; c < contexts; ++c) {
        const std::span<const std::uint32_t> of(counts.data() + c * 256, 256);
        const double total = std::accumulate(of.begin(), of.end(), 0.0);
        for (const std::uint32_t count : of)
            if (count > 0) sum += total * entropy_term(count / total);
    }
    return sum / static_cast<double>(bytes.size() - static_cast<std::size_t>(previous));
}

}  // namespace

TextCorpus::TextCorpus(const std::string& path, double held_out, int context) : path_(path) {
    if (!(held_out > 0 && held_out < 1))
        throw InputError("data.held_out", std::to_string(held_out) + " is out of range",
                         "above 0 and below 1");
    bytes_ = read_bytes(path);
    if (bytes_.empty()) throw InputError(path, "is empty", "");
    reject_other_content(path, bytes_);
    const std::size_t held =
        static_cast<std::size_t>(std::ceil(held_out * static_cast<double>(bytes_.size())));
    train_size_ = bytes_.size() - held;
    const std::size_t need = static_cast<std::size_t>(context) + 1;
    if (std::min(train_size_, held) < need)
        throw InputError(path + ": too short: of its " + std::to_string(bytes_.size()) + " bytes " +
                         std::to_string(train_size_) + " are for training and " + std::to_string(held) +
                         " held out; each part needs context + 1 = " + std::to_string(need));
    unigram_entropy_ = byte_entropy(bytes_);
    for (const int previous : {1, 2}) given_[previous - 1] = byte_entropy_given(bytes_, previous);
}

double TextCorpus::entropy_rate() const {
    return std::numeric_limits<double>::quiet_NaN();
}

void TextCorpus::draw(Split split, RandomRow random, std::span<std::int32_t> text) const {
    const std::string_view part = split == Split::Train ? std::string_view(bytes_).substr(0, train_size_)
                                                        : std::string_view(bytes_).substr(train_size_);
    if (text.size() > part.size())
        throw InputError(path_ + ": a sequence needs " + std::to_string(text.size()) +
                         " bytes, this part has " + std::to_string(part.size()));
    const std::size_t start = random.below(part.size() - text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<unsigned char>(part[start + i]);
}

}  // namespace normscope
