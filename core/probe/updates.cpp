// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/updates.h"

namespace normscope {

ProbeResult updates_result(const UpdateNorms& update) {
    ProbeResult result;
    result.probe = "updates";
    const auto add = [&](const char* name, const std::vector<double>& values) {
        result.arrays.push_back({name, {values.size()}, values, {"group"}, "1"});
    };
    add("update_ratio", update.ratio);
    add("under_eps", update.under_eps);
    add("bf16_unmoved", update.bf16_unmoved);
    result.labels["groups"] = update.groups;
    if (!update.made_by.empty()) result.labels["update"] = {update.made_by};
    return result;
}

UpdateNorms update_of_result(const ProbeResult& result) {
    const auto made_by = result.labels.find("update");
    return {result.labels.at("groups"), result.find("update_ratio")->data, result.find("under_eps")->data,
            result.find("bf16_unmoved")->data,
            made_by == result.labels.end() ? std::string() : made_by->second.front()};
}

template <class T>
ProbeResult probe_updates(ProbeInput<T>& input) {
    if (input.update) return updates_result(input.next_update());
    UpdateNorms none = no_update(input.model.table());
    none.made_by = "none: weights and tokens alone have no optimizer";
    return updates_result(none);
}
template ProbeResult probe_updates<float>(ProbeInput<float>&);
template ProbeResult probe_updates<double>(ProbeInput<double>&);

namespace {

double updates_operations(const ProbeShape& s) {
    return traffic_operations((1 + 2 * s.part.sublayers) * s.parameters());
}

}  // namespace

ProbeInfo updates_probe() {
    return {
        "updates",
        "Updates",
        "‖Δθ‖₂/‖θ‖₂ of a group of tensors, θ the weights before the update",
        "measured; no paper's bound",
        ProbeNeeds::Update,
        ProbeCost::Expensive,
        updates_operations,
        probe_updates<float>,
        probe_updates<double>,
        {{"update_ratio", {axis::group}, "‖Δθ‖/‖θ‖ of a group of tensors in this step's update", kMayBeNan},
         {"under_eps",
          {axis::group},
          "share of entries with √v̂ < ε, of those with a gradient",
          kMayBeNan | kAdded},
         {"bf16_unmoved",
          {axis::group},
          "share of entries that a BF16 copy alone would not move",
          kMayBeNan | kAdded}},
        {{"groups", "names of the groups"},
         {"update", "whose update it is, where it is not the run's own step"}}};
}

}  // namespace normscope
