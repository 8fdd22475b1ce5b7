// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/registry.h"

#include <algorithm>
#include <chrono>

#include "core/probe/attention_rows.h"
#include "core/probe/gradients.h"
#include "core/probe/growth.h"
#include "core/probe/jacobian.h"
#include "core/probe/mismatch.h"
#include "core/probe/null_space.h"
#include "core/probe/residual.h"
#include "core/probe/spectra/spectra.h"
#include "core/probe/theta.h"
#include "core/probe/tokens.h"
#include "core/probe/updates.h"

namespace normscope {

namespace {

constexpr auto kActivations = ProbeNeeds::Activations;
constexpr auto kGradients = ProbeNeeds::Gradients;
constexpr auto kTangents = ProbeNeeds::Tangents;
constexpr auto kUpdates = ProbeNeeds::Updates;

// Operation counts of one sample, fitted to measurements at the default stack and at depth 12, width 768, context 256.
using Shape = ProbeShape;
/// The hidden states, and the Gram matrices of all weights in pieces of 64 (spectral_bound.h).
double growth_operations(const Shape& s) {
    return scalar_operations(s.states()) + std::min(64, s.d_model) * s.parameters();
}
double gradients_operations(const Shape& s) { return scalar_operations(s.states() + s.parameters()); }
double residual_operations(const Shape& s) { return scalar_operations(3 * s.states()); }
double updates_operations(const Shape& s) { return traffic_operations(3 * s.parameters()); }
double attention_operations(const Shape& s) {
    return 2 * scalar_operations(0.5 * s.depth * s.heads * s.tokens() * s.length);
}
double null_space_operations(const Shape& s) { return scalar_operations(4 * s.states()); }
/// Similarity and outliers of every state, and the eigenvalue problems of some sequences: at most a quarter of the
/// passes' operations where two sequences do not exceed it (tokens.h).
double tokens_operations(const Shape& s) {
    const double m = std::min(s.length, s.d_model), problem = (2.0 * s.depth + 1) * (4 * m + 2500) * m * m;
    const double passes = 3 * forward_operations(s, s.tokens(), s.length);
    return scalar_operations(2 * s.states()) + std::min(problem * s.sequences, std::max(2 * problem, 0.25 * passes));
}
/// Two emulated forward passes beside an exact one, and their copies of the weights.
double mismatch_operations(const Shape& s) {
    return 4.5 * forward_operations(s, s.tokens(), s.length) + traffic_operations(6 * s.parameters());
}
/// Entries of all attention rows, those behind the causal edge left out.
double theta_operations(const Shape& s) {
    return 13 * scalar_operations(0.5 * s.depth * s.heads * s.tokens() * s.length);
}
/// Blocks of every sub-layer and layer and the largest values of full maps; the probe samples tokens and layers where that
/// would take more than two to three steps of the default stack, or a forward and backward pass over one sequence.
double jacobian_operations(const Shape& s) {
    const double d = s.d_model;
    const double most = std::max(3.1e9, 3 * forward_operations(s, s.context, s.context));
    return std::min(375 * (5.0 * s.depth + 1) * d * d * d, most);
}
/// 16 singular values of whole-sequence maps of every range of layers, some 64 products and transposes each.
double spectra_operations(const Shape& s) {
    return 64 * 16 * s.depth * 4 * forward_operations(s, s.length, s.length);
}

constexpr ProbeInfo kProbes[] = {
    {"growth", "Growth", kActivations, ProbeCost::Cheap, growth_operations, probe_growth<float>, probe_growth<double>},
    {"gradients", "Gradients by depth", kGradients, ProbeCost::Cheap, gradients_operations, probe_gradients<float>,
     probe_gradients<double>},
    {"residual", "Branch and stream", kGradients, ProbeCost::Cheap, residual_operations, probe_residual<float>,
     probe_residual<double>},
    {"updates", "Updates", kUpdates, ProbeCost::Dear, updates_operations, probe_updates<float>, probe_updates<double>},
    {"null_space", "Norm sites", kGradients, ProbeCost::Medium, null_space_operations, probe_null_space<float>,
     probe_null_space<double>},
    {"tokens", "Tokens", kActivations, ProbeCost::Medium, tokens_operations, probe_tokens<float>, probe_tokens<double>},
    {"mismatch", "Low-precision mismatch", kActivations, ProbeCost::Medium, mismatch_operations, probe_mismatch<float>,
     probe_mismatch<double>},
    {"attention", "Attention", kActivations, ProbeCost::Cheap, attention_operations, probe_attention<float>,
     probe_attention<double>},
    {"theta", "Softmax sensitivity θ", kActivations, ProbeCost::Dear, theta_operations, probe_theta<float>,
     probe_theta<double>},
    {"jacobian", "Jacobian spectra", kTangents, ProbeCost::Dear, jacobian_operations, probe_jacobian<float>,
     probe_jacobian<double>},
    {"spectra", "Spectra of whole sequences", kTangents, ProbeCost::Dear, spectra_operations, probe_spectra<float>,
     probe_spectra<double>, false},
};

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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
void run_probes(std::span<const ProbeInfo* const> probes, ProbeInput<T>& input,
                const std::function<void(ProbeResult)>& done) {
    const auto users = [&](const auto& wanted) {
        return static_cast<double>(std::count_if(probes.begin(), probes.end(),
                                                 [&](const ProbeInfo* p) { return wanted(p->needs); }));
    };
    const auto forward = [](ProbeNeeds needs) { return needs != ProbeNeeds::Updates; };
    const auto backward = [](ProbeNeeds needs) { return needs == ProbeNeeds::Gradients; };
    double forward_ms = 0, backward_ms = 0;
    if (const double n = users(forward); n > 0) {
        const auto start = Clock::now();
        input.tape();
        forward_ms = milliseconds_since(start) / n;
    }
    if (const double n = users(backward); n > 0) {
        const auto start = Clock::now();
        input.backward();
        backward_ms = milliseconds_since(start) / n;
    }
    for (const ProbeInfo* probe : probes) {
        input.check_cancelled();
        const auto start = Clock::now();
        ProbeResult result;
        if constexpr (std::is_same_v<T, float>)
            result = probe->run_float(input);
        else
            result = probe->run_double(input);
        result.probe = probe->id;
        result.step = input.step;
        result.cost_ms = milliseconds_since(start) + (forward(probe->needs) ? forward_ms : 0) +
                         (backward(probe->needs) ? backward_ms : 0);
        // A probe that looks at less than the whole probe batch has said so itself.
        result.labels.try_emplace("sampled", std::vector<std::string>{input.sampled});
        done(std::move(result));
    }
}
template void run_probes<float>(std::span<const ProbeInfo* const>, ProbeInput<float>&,
                                const std::function<void(ProbeResult)>&);
template void run_probes<double>(std::span<const ProbeInfo* const>, ProbeInput<double>&,
                                 const std::function<void(ProbeResult)>&);

template <class T>
ProbeResult run_probe(const ProbeInfo& probe, ProbeInput<T>& input) {
    ProbeResult result;
    const ProbeInfo* const one[] = {&probe};
    run_probes<T>(one, input, [&](ProbeResult r) { result = std::move(r); });
    return result;
}
template ProbeResult run_probe<float>(const ProbeInfo&, ProbeInput<float>&);
template ProbeResult run_probe<double>(const ProbeInfo&, ProbeInput<double>&);

}  // namespace normscope
