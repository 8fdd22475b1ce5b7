// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// Where the text comes from: generated (Markov, Copy, Induction) or the bytes of a file (Text).
enum class DataSource { Markov, Copy, Induction, Text };

/// The word in a recipe: "markov", "copy", "induction", "text".
const char* data_source_word(DataSource source);
/// The inverse; throws InputError ("data.source: …") for an unknown word.
DataSource data_source_from_word(const std::string& word);

/// A recipe's "data".
struct DataSpec {
    DataSource source = DataSource::Markov;
    std::string path;  ///< Text only
    double held_out =
        0.1;  ///< Text only: the share of the file, its end, that training never sees; in (0, 1)
};

}  // namespace normscope
