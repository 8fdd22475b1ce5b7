// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normscope {

/// The metadata of a run before its first step; members as in RunData.
struct RunHeader : LossLevels {
    std::string id, name;
    RunRecipe recipe;
    std::string backend, device;
    std::uint64_t seed = 0;
};
RunHeader header_of(const RunData& run);

/// A NamedArray without its values.
struct ArraySchema {
    std::string name;
    std::vector<std::size_t> shape;  ///< without the sample axis
    std::vector<std::string> axes;
    std::string unit;
};

/// A ProbeResult without its values.
struct ProbeSchema {
    std::string probe;
    std::vector<ArraySchema> arrays;
    std::map<std::string, std::vector<std::string>> labels;
};
ProbeSchema schema_of(const ProbeResult& result);

/// Fixed before a recording starts: under SWMR nothing can be added later.
struct RecordingSchema {
    RunHeader run;
    std::vector<std::string> columns;  ///< of the step table, without "step"
    std::vector<ProbeSchema> probes;
};

}  // namespace normscope
