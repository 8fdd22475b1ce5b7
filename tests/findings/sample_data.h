// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/number_text.h"
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

/// Post-LN over 200 steps at one loss, with a unigram entropy of 2.87 nat.
inline RunData stalled(double loss) {
    RunData r = run("Post-LN");
    r.unigram_entropy = 2.87;
    r.steps.names = {"loss"};
    r.steps.columns.resize(1);
    for (int i = 0; i < 200; ++i) {
        r.steps.step.push_back(i);
        r.steps.columns[0].push_back(loss);
    }
    r.outcome = {RunState::Stalled, 199, "loss " + number_text(loss, 3) + " nat", -1};
    return r;
}

}  // namespace normscope::sample
