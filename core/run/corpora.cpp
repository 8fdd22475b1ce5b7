// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/corpora.h"

#include <filesystem>

namespace normscope {

namespace fs = std::filesystem;

std::shared_ptr<const Corpus> Corpora::get(const DataSpec& spec, int context) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.corpus.expired(); });
    Entry wanted{spec, context, 0, 0, {}};
    if (spec.source == DataSource::Text) {
        // Unreadable: make_corpus reports the reason.
        std::error_code error;
        const auto written = fs::last_write_time(spec.path, error);
        if (!error) wanted.written = written.time_since_epoch().count();
        const auto bytes = fs::file_size(spec.path, error);
        if (!error) wanted.bytes = static_cast<std::int64_t>(bytes);
    }
    for (const Entry& entry : entries_)
        if (entry.spec == spec && entry.context == context && entry.written == wanted.written &&
            entry.bytes == wanted.bytes)
            if (auto corpus = entry.corpus.lock()) return corpus;
    std::shared_ptr<const Corpus> corpus = make_corpus(spec, context);
    wanted.corpus = corpus;
    entries_.push_back(std::move(wanted));
    return corpus;
}

}  // namespace normscope
