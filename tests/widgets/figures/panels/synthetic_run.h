// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/figure.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace normscope::synthetic {

/// `recipe` are the keys of a recipe that matter, as JSON; without any the run has none.
inline RunData run(const std::string& name, const std::string& recipe = "{}") {
    RunData r;
    r.id = name;
    r.name = name;
    if (recipe != "{}")
        r.recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, )" + recipe.substr(1), name);
    using widgets::kNaN;
    static_cast<LossLevels&>(r) = {kNaN, kNaN, kNaN, kNaN, kNaN};
    return r;
}

inline NamedArray array(const std::string& name, std::vector<std::size_t> shape, std::vector<double> data) {
    return {name, std::move(shape), std::move(data), {}, "1"};
}

inline NamedArray vector(const std::string& name, std::vector<double> data) {
    const std::size_t size = data.size();
    return array(name, {size}, std::move(data));
}

/// n values from a function of the index.
inline std::vector<double> values(int n, const std::function<double(int)>& f) {
    std::vector<double> v;
    for (int i = 0; i < n; ++i) v.push_back(f(i));
    return v;
}

inline void add(RunData& r, const std::string& probe, std::int64_t step, std::vector<NamedArray> arrays,
                std::map<std::string, std::vector<std::string>> labels = {}) {
    r.probes[probe].push_back({probe, step, std::move(arrays), std::move(labels), 0});
}

}  // namespace normscope::synthetic
