// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/update_norms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

bool of_a_norm(const std::string& name) {
    return name.find("norm") != std::string::npos;
}
bool of_a_scale(const TensorInfo& t) {
    return t.is_gate() || t.name.ends_with(".scale");
}

std::string group_of(const TensorInfo& t) {
    if (of_a_norm(t.name)) return "norms";
    if (of_a_scale(t)) return "scales";
    if (t.layer >= 0) return "blocks." + std::to_string(t.layer) + (t.sublayer == 0 ? ".attn" : ".ffn");
    return t.name.starts_with("head.") ? "head" : "embedding";
}

/// Groups along the depth, then those without a depth.
std::vector<std::string> all_groups(const ParameterTable& table) {
    std::vector<std::string> names{"embedding"};
    for (std::size_t l = 0; l < table.attention.size(); ++l)
        for (const char* of : {".attn", ".ffn"}) names.push_back("blocks." + std::to_string(l) + of);
    names.insert(names.end(), {"norms", "scales", "head"});
    return names;
}

}  // namespace

std::vector<std::string> update_groups(const ParameterTable& table) {
    std::vector<std::string> names;
    for (const std::string& name : all_groups(table))
        if (std::any_of(table.tensors().begin(), table.tensors().end(),
                        [&](const TensorInfo& t) { return !t.frozen && group_of(t) == name; }))
            names.push_back(name);
    return names;
}

template <class T>
UpdateNorms update_norms(const ParameterTable& table, std::span<const T> before, std::span<const T> after,
                         const PlaceSelection& only) {
    UpdateNorms norms = no_update(table);
    std::vector<double> moved(norms.groups.size()), length(norms.groups.size());
    for (const TensorInfo& t : table.tensors()) {
        if (t.frozen || !only.contains(group_of(t))) continue;
        const auto group =
            std::find(norms.groups.begin(), norms.groups.end(), group_of(t)) - norms.groups.begin();
        double squares = 0, changes = 0;
        for (std::size_t i = t.offset; i < t.offset + t.count; ++i) {
            const double old = static_cast<double>(before[i]), change = static_cast<double>(after[i]) - old;
            squares += old * old;
            changes += change * change;
        }
        length[static_cast<std::size_t>(group)] += squares;
        moved[static_cast<std::size_t>(group)] += changes;
    }
    for (std::size_t i = 0; i < moved.size(); ++i)
        if (length[i] > 0) norms.ratio[i] = std::sqrt(moved[i] / length[i]);
    return norms;
}
template UpdateNorms update_norms(const ParameterTable&, std::span<const float>, std::span<const float>,
                                  const PlaceSelection&);
template UpdateNorms update_norms(const ParameterTable&, std::span<const double>, std::span<const double>,
                                  const PlaceSelection&);

UpdateNorms no_update(const ParameterTable& table) {
    UpdateNorms norms{update_groups(table), {}, {}};
    norms.ratio.assign(norms.groups.size(), std::numeric_limits<double>::quiet_NaN());
    return norms;
}

}  // namespace normscope
