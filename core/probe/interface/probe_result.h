// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normscope {

/// One measured array of one probe sample, row-major, always float64 for any engine precision. The names and
/// shapes are a public interface (README, "Session files"); the leading sample axis [S] is not part of it.
struct NamedArray {
    std::string name;                ///< e.g. "rms"
    std::vector<std::size_t> shape;  ///< without the sample axis; empty for a scalar
    std::vector<double>
        data;  ///< product(shape) values; NaN where the quantity is not defined or not selected
    std::vector<std::string> axes;  ///< one name per entry of shape, e.g. {"depth"} or {"layer", "head"}
    std::string unit;               ///< "1" when dimensionless
};

/// The result of one probe at one step. Immutable; safe to share between threads.
struct ProbeResult {
    std::string probe;  ///< id: growth, gradients, theta, null_space, jacobian
    std::int64_t step = 0;
    std::vector<NamedArray> arrays;
    std::map<std::string, std::vector<std::string>>
        labels;          ///< attribute -> names, e.g. "sites" of null_space
    double cost_ms = 0;  ///< wall time this sample took

    /// The array of that name, or nullptr.
    const NamedArray* find(const std::string& name) const {
        for (const auto& a : arrays)
            if (a.name == name) return &a;
        return nullptr;
    }
    /// The patterns of the places that were measured (ProbePlan::only), "blocks.0, blocks.11.*"; empty: all.
    std::string only() const {
        const auto label = labels.find("only");
        std::string text;
        if (label != labels.end())
            for (const std::string& pattern : label->second) text += (text.empty() ? "" : ", ") + pattern;
        return text;
    }
};

/// Whether entries of an array of this sample are NaN where the sample is of selected places alone: a number
/// over all entries is not that of the stack.
inline bool lacks_entries(const ProbeResult& sample, const NamedArray& array) {
    return sample.labels.count("only") > 0 &&
           std::any_of(array.data.begin(), array.data.end(), [](double v) { return std::isnan(v); });
}

}  // namespace normscope
