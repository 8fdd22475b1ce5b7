// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/corpora.h"

#include "core/train/data/cifar10_images.h"

#include <filesystem>

namespace normscope {

namespace fs = std::filesystem;

std::shared_ptr<const Corpus> Corpora::get(const DataSpec& spec, const StackSpec& stack) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.corpus.expired(); });
    // The length of images follows from their shape.
    const int context = stack.of_images() ? 0 : stack.context;
    const int vocab = spec.source == DataSource::Tokens ? stack.vocab : 0;
    Entry wanted{spec, context, vocab, stack.input, stack.image, {}, {}};
    if (is_from_files(spec.source)) {
        const bool folder = spec.source == DataSource::Cifar10;
        for (const std::string& file : folder ? Cifar10Images::files(spec.path) : std::vector{spec.path}) {
            // Unreadable: make_corpus reports the reason.
            std::error_code error;
            const auto written = fs::last_write_time(file, error);
            wanted.files += file + ' ' + std::to_string(error ? 0 : written.time_since_epoch().count()) + ' ';
            const auto bytes = fs::file_size(file, error);
            wanted.files += std::to_string(error ? 0 : bytes) + '\n';
        }
    }
    for (const Entry& entry : entries_)
        if (entry.spec == spec && entry.context == context && entry.vocab == vocab &&
            entry.input == stack.input && entry.image == stack.image && entry.files == wanted.files)
            if (auto corpus = entry.corpus.lock()) return corpus;
    std::shared_ptr<const Corpus> corpus = make_corpus(spec, stack);
    wanted.corpus = corpus;
    entries_.push_back(std::move(wanted));
    return corpus;
}

}  // namespace normscope
