// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/update_norms.h"

#include "core/backend/shared/low_precision.h"
#include "core/train/optimizers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// Sums over the entries of a tensor, or of a group: those of its tensors.
struct Sums {
    double squares = 0, changes = 0;
    std::int64_t changed = 0, unmoved = 0;
    std::int64_t driven = 0, under = 0;  ///< entries that had a gradient; those of them with √v̂ < ε

    void add(const Sums& other) {
        squares += other.squares;
        changes += other.changes;
        changed += other.changed;
        unmoved += other.unmoved;
        driven += other.driven;
        under += other.under;
    }
};

void add_change(Sums& sums, double before, double after) {
    const double change = after - before;
    sums.squares += before * before;
    sums.changes += change * change;
    if (change == 0) return;
    ++sums.changed;
    const float old = round_to_bf16(static_cast<float>(before));
    sums.unmoved += round_to_bf16(static_cast<float>(static_cast<double>(old) + change)) == old;
}

template <class T>
void add_moments(Sums& sums, const SecondMoments<T>& moments, std::size_t i) {
    const double second = static_cast<double>(moments.second[i]);
    if (second == 0 && moments.first[i] == 0) return;
    ++sums.driven;
    sums.under += std::sqrt(second) / moments.root_correction < moments.eps;
}

double share_of(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
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
                         const SecondMoments<T>* moments, const PlaceSelection& only) {
    UpdateNorms norms = no_update(table);
    std::vector<Sums> sums(norms.groups.size());
    for (const TensorInfo& t : table.tensors()) {
        if (t.frozen || !only.contains(group_of(t))) continue;
        const auto group =
            std::find(norms.groups.begin(), norms.groups.end(), group_of(t)) - norms.groups.begin();
        Sums of_tensor;
        const bool divided = moments && divides_entries(moments->kind, t);
        for (std::size_t i = t.offset; i < t.offset + t.count; ++i) {
            add_change(of_tensor, static_cast<double>(before[i]), static_cast<double>(after[i]));
            if (divided) add_moments(of_tensor, *moments, i);
        }
        sums[static_cast<std::size_t>(group)].add(of_tensor);
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].squares > 0) norms.ratio[i] = std::sqrt(sums[i].changes / sums[i].squares);
        norms.under_eps[i] = share_of(sums[i].under, sums[i].driven);
        norms.bf16_unmoved[i] = share_of(sums[i].unmoved, sums[i].changed);
    }
    return norms;
}
template UpdateNorms update_norms(const ParameterTable&, std::span<const float>, std::span<const float>,
                                  const SecondMoments<float>*, const PlaceSelection&);
template UpdateNorms update_norms(const ParameterTable&, std::span<const double>, std::span<const double>,
                                  const SecondMoments<double>*, const PlaceSelection&);

UpdateNorms no_update(const ParameterTable& table) {
    UpdateNorms norms;
    norms.groups = update_groups(table);
    for (std::vector<double>* values : {&norms.ratio, &norms.under_eps, &norms.bf16_unmoved})
        values->assign(norms.groups.size(), std::numeric_limits<double>::quiet_NaN());
    return norms;
}

}  // namespace normscope
