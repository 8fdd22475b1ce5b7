// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/fields.h"

#include <string>

namespace normscope {

/// The source of the text: generated (Markov, Copy, Induction) or the bytes of a file (Text).
enum class DataSource { Markov, Copy, Induction, Text };

/// A recipe's "data".
struct DataSpec {
    DataSource source = DataSource::Markov;
    std::string path;       ///< Text only
    double held_out = 0.1;  ///< Text only: the share of the file, its end, excluded from training; in (0, 1)
    bool operator==(const DataSpec&) const = default;
};

}  // namespace normscope
