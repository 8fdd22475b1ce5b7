// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/registry.h"

#include <chrono>

#include "core/probe/gradients.h"
#include "core/probe/growth.h"
#include "core/probe/jacobian.h"
#include "core/probe/mismatch.h"
#include "core/probe/null_space.h"
#include "core/probe/spectra/spectra.h"
#include "core/probe/theta.h"
#include "core/probe/tokens.h"

namespace normscope {

namespace {
constexpr ProbeInfo kProbes[] = {
    {"growth", "Growth", "activations", ProbeCost::Cheap, probe_growth<float>, probe_growth<double>},
    {"gradients", "Gradients by depth", "gradients", ProbeCost::Cheap, probe_gradients<float>, probe_gradients<double>},
    {"null_space", "Norm sites", "gradients", ProbeCost::Medium, probe_null_space<float>, probe_null_space<double>},
    {"tokens", "Tokens", "activations", ProbeCost::Medium, probe_tokens<float>, probe_tokens<double>},
    {"mismatch", "Low-precision mismatch", "activations", ProbeCost::Medium, probe_mismatch<float>, probe_mismatch<double>},
    {"theta", "Softmax sensitivity θ", "activations", ProbeCost::Dear, probe_theta<float>, probe_theta<double>},
    {"jacobian", "Jacobian spectra", "tangents", ProbeCost::Dear, probe_jacobian<float>, probe_jacobian<double>},
    {"spectra", "Spectra of whole sequences", "tangents", ProbeCost::Dear, probe_spectra<float>, probe_spectra<double>,
     false},
};
}  // namespace

std::span<const ProbeInfo> probe_registry() { return kProbes; }

std::vector<std::string> default_probes() {
    std::vector<std::string> ids;
    for (const auto& probe : kProbes)
        if (probe.by_default) ids.emplace_back(probe.id);
    return ids;
}

const ProbeInfo* find_probe(const std::string& id) {
    for (const auto& probe : kProbes)
        if (id == probe.id) return &probe;
    return nullptr;
}

template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input) {
    const auto start = std::chrono::steady_clock::now();
    ProbeResult result;
    if constexpr (std::is_same_v<T, float>)
        result = probe.run_float(input);
    else
        result = probe.run_double(input);
    result.probe = probe.id;
    result.step = input.step;
    result.cost_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
}
template ProbeResult run_probe<float>(const ProbeInfo&, ProbeInput<float>&);
template ProbeResult run_probe<double>(const ProbeInfo&, ProbeInput<double>&);

}  // namespace normscope
