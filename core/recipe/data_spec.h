// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"

#include <string>

namespace normscope {

/// The source of the data. Text: generated (Markov, Copy, Induction), the bytes of a file (Text), or files of
/// token ids (Tokens). Images: generated (Images) or CIFAR-10's files (Cifar10). External: those of another
/// program, which trained the run and recorded it; nothing can be trained or measured on them here.
enum class DataSource { Markov, Copy, Induction, Text, Images, Cifar10, Tokens, External };
inline bool is_of_images(DataSource source) {
    return source == DataSource::Images || source == DataSource::Cifar10;
}

inline bool is_from_files(DataSource source) {
    return source == DataSource::Text || source == DataSource::Cifar10 || source == DataSource::Tokens;
}

/// A recipe's "data".
struct DataSpec {
    DataSource source = DataSource::Markov;
    std::string path;            ///< Text: a file; Cifar10: a folder; Tokens: a file or a folder
    double held_out = 0.1;       ///< Text, Tokens, and Cifar10 without test_batch.bin: the share, at the end,
                                 ///< excluded from training; in (0, 1)
    std::string tokenizer = {};  ///< Tokens: a tokenizer.json, for the tokens' texts
    bool operator==(const DataSpec&) const = default;
};

}  // namespace normscope
