// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/tokens.h"

#include "core/base/error.h"
#include "core/train/data/context_entropy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

namespace normscope {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestVocab = std::int64_t{1} << 24;  // of stack.vocab
constexpr std::uint64_t kCounted = std::uint64_t{1} << 26, kAtOnce = std::uint64_t{1} << 16;

/// The file, or the token files of a folder by name.
std::vector<std::string> files_at(const std::string& path) {
    if (path.empty())
        throw InputError("data.path", "no file is named", "the path of a token file or of a folder");
    std::error_code error;
    if (!fs::is_directory(path, error)) return {path};
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path, error)) {
        const std::string ending = entry.path().extension().string();
        if (entry.is_regular_file(error) && (ending == ".bin" || ending == ".npy"))
            found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    if (found.empty()) throw InputError(path, "holds no token files", ".bin or .npy files");
    return found;
}

bool is_validation(const std::string& path) {
    return fs::path(path).filename().string().find("val") != std::string::npos;
}

}  // namespace

TokensCorpus::TokensCorpus(const std::string& path, double held_out, int context, int vocab) : path_(path) {
    if (!(held_out > 0 && held_out < 1))
        throw InputError("data.held_out", std::to_string(held_out) + " is out of range",
                         "above 0 and below 1");
    for (const std::string& file : files_at(path)) files_.emplace_back(file);
    for (std::size_t i = 0; i < files_.size(); ++i)
        (files_.size() > 1 && is_validation(files_[i].path()) ? held_out_ : train_)
            .push_back({i, 0, files_[i].count()});
    if (train_.empty()) throw InputError(path, "holds validation files alone", "a file for training too");
    if (held_out_.empty()) {
        Piece& last = train_.back();
        const auto held = static_cast<std::uint64_t>(std::ceil(held_out * static_cast<double>(last.count)));
        held_out_.push_back({last.file, last.count - held, held});
        last.count -= held;
    }
    const auto need = static_cast<std::uint64_t>(context) + 1;
    for (const auto& [pieces, name] : {std::pair{&train_, "for training"}, {&held_out_, "held out"}}) {
        const std::uint64_t longest =
            std::max_element(pieces->begin(), pieces->end(), [](const Piece& a, const Piece& b) {
                return a.count < b.count;
            })->count;
        if (longest < need)
            throw InputError(path + ": too short: the longest piece " + name + " has " +
                             std::to_string(longest) + " tokens, context + 1 = " + std::to_string(need) +
                             " are needed");
    }
    read_counts(vocab);
}

void TokensCorpus::read_counts(int given_vocab) {
    const std::int64_t limit = given_vocab > 0 ? given_vocab : kLargestVocab;
    std::vector<std::uint64_t> counts;
    std::uint64_t all = 0, counted = 0;
    for (const TokenFile& file : files_) all += file.count();
    const std::uint64_t every = all <= kCounted ? kAtOnce : kAtOnce * (all / kCounted + 1);
    std::vector<std::int32_t> ids;
    for (const TokenFile& file : files_)
        for (std::uint64_t at = 0; at < file.count(); at += every) {
            ids.resize(std::min(kAtOnce, file.count() - at));
            file.read(at, limit, ids);
            const auto largest = static_cast<std::size_t>(*std::max_element(ids.begin(), ids.end()));
            if (largest >= counts.size()) counts.resize(largest + 1);
            for (const std::int32_t id : ids) ++counts[static_cast<std::size_t>(id)];
            counted += ids.size();
        }
    vocab_ = given_vocab > 0 ? given_vocab : std::max(2, static_cast<int>(counts.size()));
    for (const std::uint64_t count : counts)
        unigram_entropy_ += entropy_term(static_cast<double>(count) / static_cast<double>(counted));
}

double TokensCorpus::entropy_given(int) const {
    return std::numeric_limits<double>::quiet_NaN();
}

double TokensCorpus::entropy_rate() const {
    return std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t TokensCorpus::train_size() const {
    return std::accumulate(train_.begin(), train_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Piece& piece) { return sum + piece.count; });
}

void TokensCorpus::draw(Split split, RandomRow random, std::span<std::int32_t> text) const {
    const std::vector<Piece>& pieces = split == Split::Train ? train_ : held_out_;
    const auto windows = [&](const Piece& piece) {
        return piece.count >= text.size() ? piece.count - text.size() + 1 : 0;
    };
    std::uint64_t all = 0;
    for (const Piece& piece : pieces) all += windows(piece);
    if (all == 0)
        throw InputError(path_ + ": a sequence needs " + std::to_string(text.size()) +
                         " tokens, no piece of this part has so many");
    std::uint64_t window = random.below(all);
    for (const Piece& piece : pieces) {
        if (window < windows(piece)) return files_[piece.file].read(piece.begin + window, vocab_, text);
        window -= windows(piece);
    }
}

}  // namespace normscope
