// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cmath>

namespace normscope::sample {

inline RunData run(const std::string& name) {
    RunData r;
    r.id = name;
    r.name = name;
    r.recipe = Recipe{};
    static_cast<LossLevels&>(r) = {std::nan(""), std::nan(""), std::nan(""), std::nan(""), std::nan("")};
    return r;
}

inline NamedArray vector(const std::string& name, std::vector<double> data) {
    const std::size_t size = data.size();
    return {name, {size}, std::move(data), {}, "1"};
}

inline void add(RunData& r, const std::string& probe, std::int64_t step, std::vector<NamedArray> arrays) {
    r.probes[probe].push_back({probe, step, std::move(arrays), {}, 0});
}

}  // namespace normscope::sample
