// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/gates.h"

#include "core/backend/row/gate.h"
#include "core/model/sublayer_factors.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace normscope {

namespace {

/// The sites of the gates, each once, in forward order; Mix-LN has two.
template <class T>
std::vector<std::string> sites_of(const Transformer<T>& model) {
    std::vector<std::string> sites;
    for (const SublayerRule& rule : model.rules())
        if (const std::string site = word_of(rule.gate);
            std::find(sites.begin(), sites.end(), site) == sites.end())
            sites.push_back(site);
    return sites;
}

/// Whether the sub-layer has a gate of its own: of the two in a parallel layer the first has that on the
/// input and the shortcut, the second that on the output.
bool is_gated(const StackSpec& spec, const SublayerRule& rule, int index) {
    const bool at_start = rule.gate == GateSite::Input || rule.gate == GateSite::Shortcut;
    return has_gate(spec, rule, index) && !(at_start && second_of_parallel(spec, index));
}

}  // namespace

template <class T>
ProbeResult probe_gates(ProbeInput<T>& input) {
    const Transformer<T>& model = input.model;
    const StackSpec& spec = model.spec();
    const auto D = static_cast<std::size_t>(spec.depth);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> alpha(D, nan), act(D, nan), factor(2 * D, nan);
    for (std::size_t k = 0; spec.gpas.enabled && k < 2 * D; ++k) {
        const int index = static_cast<int>(k);
        if (!input.selects(layer_place(index / 2) + ".gate") && !input.selects_sublayer(index)) continue;
        input.check_cancelled();
        const auto g = static_cast<double>(model.host_parameters(offsets(model.table(), index).gate, 1)[0]);
        alpha[k / 2] = g;
        act[k / 2] = gate_activation(spec.gpas.activation, g);
        factor[k] = is_gated(spec, model.rules()[k], index) ? 1 - act[k / 2] : 1;
    }
    ProbeResult result;
    result.arrays.push_back({"alpha", {D}, std::move(alpha), {"layer"}, "1"});
    result.arrays.push_back({"act", {D}, std::move(act), {"layer"}, "1"});
    result.arrays.push_back({"factor", {2 * D}, std::move(factor), {"sublayer"}, "1"});
    result.labels["site"] = spec.gpas.enabled ? sites_of(model) : std::vector<std::string>{"none"};
    return result;
}
template ProbeResult probe_gates<float>(ProbeInput<float>&);
template ProbeResult probe_gates<double>(ProbeInput<double>&);

namespace {

double gates_operations(const ProbeShape& s) {
    return s.part.sublayers * scalar_operations(4.0 * s.depth);
}

}  // namespace

ProbeInfo gates_probe() {
    return {"gates",
            "Gates",
            "α, act(α), 1 − act(α)",
            "[G] §3.1, Figure 3",
            ProbeNeeds::Nothing,
            ProbeCost::Cheap,
            gates_operations,
            probe_gates<float>,
            probe_gates<double>,
            {{"alpha", {axis::layer}, "gate α of GPAS", kMayBeNan, "1", "gate"},
             {"act", {axis::layer}, "act(α)", kMayBeNan, "1", "gate"},
             {"factor",
              {axis::sublayer},
              "1 − act(α), what the signal at the gate's site is multiplied by",
              kMayBeNan}},
            {{"site", "where the gates are; none without GPAS"}}};
}

}  // namespace normscope
