// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/transport.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/probe/interface/jackknife.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

/// ‖g‖ of each token of g [tokens, width].
template <class T>
std::vector<double> token_norms(const T* g, std::size_t tokens, std::size_t width) {
    std::vector<double> norms(tokens);
    for (std::size_t t = 0; t < tokens; ++t)
        norms[t] = std::sqrt(row_kernels<T>().dot(width, g + t * width, g + t * width));
    return norms;
}

/// (Σσ²)²/Σσ⁴ of g [tokens, width], from the smaller Gram matrix in the scalar of the run: its trace and its
/// Frobenius norm.
template <class T>
double participation_ratio(const T* g, int tokens, int width, std::vector<T>& scaled, std::vector<T>& gram) {
    const auto count = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(width);
    T largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(g[i]));
    if (!(largest > 0 && std::isfinite(largest))) return kNaN;
    scaled.resize(count);  // fourth powers of small gradients would vanish
    for (std::size_t i = 0; i < count; ++i) scaled[i] = g[i] / largest;
    const int m = std::min(tokens, width);
    const auto size = static_cast<std::size_t>(m);
    gram.resize(size * size);
    if (tokens <= width)
        matmul_nt<T>(m, m, width, 1, scaled.data(), width, scaled.data(), width, 0, gram.data(), m);
    else
        matmul_tn<T>(m, m, tokens, 1, scaled.data(), width, scaled.data(), width, 0, gram.data(), m);
    double trace = 0;
    for (std::size_t i = 0; i < size; ++i) trace += static_cast<double>(gram[i * size + i]);
    const double squares = row_kernels<T>().dot(gram.size(), gram.data(), gram.data());
    return trace * trace / squares;
}

struct StateTransport {
    double median = kNaN, lower = kNaN, upper = kNaN;
    Averaged first_share{kNaN, kNaN}, participation{kNaN, kNaN};
};

/// Both defined wherever the batch has a gradient; a jackknife estimate that omits all of it is not.
Averaged or_nan(Averaged a) {
    return std::isfinite(a.value) ? a : Averaged{kNaN, kNaN};
}

template <class T>
StateTransport measure_state(const T* g, const Tape<T>& tape, int width, const std::vector<double>& last) {
    const auto n = static_cast<std::size_t>(tape.length), d = static_cast<std::size_t>(width);
    const std::vector<double> norms = token_norms(g, last.size(), d);
    StateTransport result;

    std::vector<double> ratios;
    for (std::size_t t = 0; t < norms.size(); ++t)
        if (last[t] != 0) ratios.push_back(norms[t] / last[t]);
    const bool defined = !ratios.empty() &&
                         std::all_of(ratios.begin(), ratios.end(), [](double r) { return std::isfinite(r); });
    if (defined) {
        std::sort(ratios.begin(), ratios.end());
        result.lower = quantile(ratios, 0.25);
        result.median = quantile(ratios, 0.5);
        result.upper = quantile(ratios, 0.75);
    }

    std::vector<double> energy, participation;
    std::vector<T> scaled, gram;
    for (std::size_t b = 0; b < static_cast<std::size_t>(tape.sequences); ++b) {
        double all = 0;
        for (std::size_t t = 0; t < n; ++t) all += norms[b * n + t] * norms[b * n + t];
        energy.push_back(norms[b * n] * norms[b * n]);
        energy.push_back(all);
        participation.push_back(participation_ratio(g + b * n * d, tape.length, width, scaled, gram));
    }
    result.first_share = or_nan(
        jackknife(energy, 2, [](std::span<const double> sum, std::size_t) { return sum[0] / sum[1]; }));
    result.participation =
        or_nan(jackknife(participation, 1, [](std::span<const double> sum, std::size_t count) {
            return sum[0] / static_cast<double>(count);
        }));
    return result;
}

double transport_operations(const ProbeShape& s) {
    return s.part.states * (scalar_operations(2 * s.states()) + s.states() * std::min(s.length, s.d_model));
}

}  // namespace

template <class T>
ProbeResult probe_transport(ProbeInput<T>& input) {
    const BackwardRecord<T>& record = input.backward();
    const Tape<T>& tape = input.tape();
    const int d = input.model.spec().d_model;
    const auto rows = static_cast<std::size_t>(tape.rows());
    const HostView<T> last_gradient(record.hidden.back());
    const std::vector<double> last = token_norms(last_gradient.data(), rows, static_cast<std::size_t>(d));

    std::vector<StateTransport> of_state(record.hidden.size());
    input.pool.run(static_cast<int>(of_state.size()), [&](int k) {
        if (!input.selects_state(k)) return;
        input.check_cancelled();
        const HostView<T> gradient(record.hidden[static_cast<std::size_t>(k)]);
        of_state[static_cast<std::size_t>(k)] = measure_state(gradient.data(), tape, d, last);
    });

    ProbeResult result;
    const auto add = [&](const char* name, double StateTransport::*member) {
        std::vector<double> values;
        for (const StateTransport& state : of_state) values.push_back(state.*member);
        result.arrays.push_back({name, {of_state.size()}, std::move(values), {"hidden_state"}, "1"});
    };
    const auto average = [&](const char* name, Averaged StateTransport::*member) {
        std::vector<Averaged> values;
        for (const StateTransport& state : of_state) values.push_back(state.*member);
        add_averaged(result, name, {of_state.size()}, values, {"hidden_state"}, "1");
    };
    add("median_token", &StateTransport::median);
    add("lower_quartile", &StateTransport::lower);
    add("upper_quartile", &StateTransport::upper);
    average("first_token_share", &StateTransport::first_share);
    average("participation", &StateTransport::participation);
    return result;
}
template ProbeResult probe_transport<float>(ProbeInput<float>&);
template ProbeResult probe_transport<double>(ProbeInput<double>&);

ProbeInfo transport_probe() {
    const std::vector<Axis> states{axis::hidden_state};
    return {
        "transport",
        "Gradient transport by token",
        "quartiles over tokens of ‖g_k‖/‖g_{2D}‖, g = ∂L/∂h of one token; token 1's part of Σ‖g_k‖²; "
        "(Σσ²)²/Σσ⁴ of a sequence's g_k",
        "ours; [E] Theorem 5.5 is about directions",
        ProbeNeeds::Backward,
        ProbeCost::Medium,
        transport_operations,
        probe_transport<float>,
        probe_transport<double>,
        {{"median_token", states, "median over tokens of ‖g_k‖/‖g_{2D}‖", kMayBeNan},
         {"lower_quartile", states, "their lower quartile", kMayBeNan},
         {"upper_quartile", states, "their upper quartile", kMayBeNan},
         {"first_token_share", states, "token 1's part of Σ‖g_k‖² over the tokens", kAveraged | kMayBeNan},
         {"participation", states, "(Σσ²)²/Σσ⁴ of the gradients of a sequence's tokens",
          kAveraged | kMayBeNan}}};
}

}  // namespace normscope
