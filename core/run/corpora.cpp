// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/corpora.h"

#include <filesystem>

namespace normscope {

namespace fs = std::filesystem;

std::shared_ptr<const Corpus> Corpora::get(const DataSpec& spec, const StackSpec& stack) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.corpus.expired(); });
    Entry wanted{spec, stack.context, stack.input, stack.image, 0, 0, {}};
    if (is_from_files(spec.source)) {
        // Unreadable: make_corpus reports the reason.
        std::error_code error;
        const auto written = fs::last_write_time(spec.path, error);
        if (!error) wanted.written = written.time_since_epoch().count();
        const auto bytes = fs::file_size(spec.path, error);
        if (!error) wanted.bytes = static_cast<std::int64_t>(bytes);
    }
    for (const Entry& entry : entries_)
        if (entry.spec == spec && entry.context == stack.context && entry.input == stack.input &&
            entry.image == stack.image && entry.written == wanted.written && entry.bytes == wanted.bytes)
            if (auto corpus = entry.corpus.lock()) return corpus;
    std::shared_ptr<const Corpus> corpus = make_corpus(spec, stack);
    wanted.corpus = corpus;
    entries_.push_back(std::move(wanted));
    return corpus;
}

}  // namespace normscope
