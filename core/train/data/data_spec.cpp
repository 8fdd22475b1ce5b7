// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/data_spec.h"

#include "core/stack/error.h"

#include <array>
#include <utility>

namespace normscope {
namespace {

constexpr std::array<std::pair<DataSource, const char*>, 4> kWords{{{DataSource::Markov, "markov"},
                                                                    {DataSource::Copy, "copy"},
                                                                    {DataSource::Induction, "induction"},
                                                                    {DataSource::Text, "text"}}};

}  // namespace

const char* data_source_word(DataSource source) {
    for (const auto& [value, word] : kWords)
        if (value == source) return word;
    throw InputError("data.source", "unknown source", "");
}

DataSource data_source_from_word(const std::string& word) {
    std::string allowed;
    for (const auto& [value, known] : kWords) {
        if (word == known) return value;
        allowed += (allowed.empty() ? "" : " | ") + std::string(known);
    }
    throw InputError("data.source", "\"" + word + "\" is unknown", allowed);
}

}  // namespace normscope
