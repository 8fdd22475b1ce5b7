// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/updates.h"

namespace normscope {

ProbeResult updates_result(const UpdateNorms& update) {
    ProbeResult result;
    result.probe = "updates";
    result.arrays.push_back({"update_ratio", {update.ratio.size()}, update.ratio, {"group"}, "1"});
    result.labels["groups"] = update.groups;
    if (!update.made_by.empty()) result.labels["update"] = {update.made_by};
    return result;
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
        {{"update_ratio", {axis::group}, "‖Δθ‖/‖θ‖ of a group of tensors in this step's update", kMayBeNan}},
        {{"groups", "names of the groups"},
         {"update", "whose update it is, where it is not the run's own step"}}};
}

}  // namespace normscope
