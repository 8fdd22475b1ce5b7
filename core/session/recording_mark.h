// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/replaceable.h"

#include <cstddef>
#include <map>
#include <string>

namespace normscope {

/// How much of a recording a reader has.
struct RecordingMark {
    FileIdentity file;  ///< that was read; a resumed run begins another file at the same path
    std::size_t rows = 0, events = 0;
    std::map<std::string, std::size_t> samples;  ///< by probe
};

}  // namespace normscope
