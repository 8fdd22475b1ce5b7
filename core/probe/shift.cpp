// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/shift.h"

#include "core/backend/shared/counter_rng.h"
#include "core/base/nan.h"
#include "core/probe/bounds/growth_prefix.h"
#include "core/theory/transport.h"

#include <algorithm>
#include <cmath>
#include <utility>

// The sums may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler vectorise them.

namespace normscope {

namespace {

constexpr std::uint64_t kShiftSeed = 1;

/// The hidden states [2D+1] of one pass over all sequences: [B, n·d] each.
using States = std::vector<std::vector<double>>;

template <class T>
void append(States& states, const Tape<T>& tape, std::size_t count) {
    states.resize(tape.hidden.size());
    for (std::size_t k = 0; k < states.size(); ++k) {
        const HostView<T> values = tape.view(tape.hidden[k], count);
        states[k].insert(states[k].end(), values.begin(), values.end());
    }
}

/// The layers again, sequence by sequence, from the perturbed input.
template <class T>
States perturbed_states(ProbeInput<T>& input, const std::vector<double>& inputs, std::size_t piece) {
    double squares = 0;
    for (const double x : inputs) squares += x * x;
    const double size = kShiftNoise * std::sqrt(squares / static_cast<double>(inputs.size()));
    const NormalKey key(kShiftSeed, "shift");
    States states;
    Tape<T> tape;
    std::vector<double> noise(piece);
    std::vector<T> start(piece);
    for (std::size_t b = 0; b < inputs.size() / piece; ++b) {
        input.check_cancelled();
        fill_normal_row(key, b, 0, piece, size, noise.data());
        for (std::size_t i = 0; i < piece; ++i) start[i] = static_cast<T>(inputs[b * piece + i] + noise[i]);
        input.model.forward_layers(start.data(), input.batch.length, tape, input.pool);
        append(states, tape, piece);
    }
    return states;
}

struct StateShift {
    double mean = kNaN, most = kNaN, w2 = kNaN, paired = kNaN;
};

StateShift measure(const std::vector<double>& clean, const std::vector<double>& perturbed,
                   std::size_t piece) {
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!std::all_of(clean.begin(), clean.end(), finite) ||
        !std::all_of(perturbed.begin(), perturbed.end(), finite))
        return {};
    const std::size_t B = clean.size() / piece;
    const auto count = static_cast<double>(B);
    StateShift result{0, 0, 0, 0};
    for (std::size_t i = 0; i < piece; ++i) {
        double mean = 0, squares = 0;
        for (std::size_t b = 0; b < B; ++b) mean += clean[b * piece + i] / count;
        for (std::size_t b = 0; b < B; ++b) squares += std::pow(clean[b * piece + i] - mean, 2) / count;
        result.mean += squares / static_cast<double>(piece);
        result.most = std::max(result.most, squares);
    }
    std::vector<double> distances(B * B);
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t c = 0; c < B; ++c) {
            const double *x = clean.data() + b * piece, *y = perturbed.data() + c * piece;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t i = 0; i < piece; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
            distances[b * B + c] = sum;
        }
    double own = 0;
    for (std::size_t b = 0; b < B; ++b) own += distances[b * B + b];
    result.paired = std::sqrt(own / count);
    result.w2 = wasserstein_2(B, distances);
    return result;
}

/// Mean over sequences of R_k², as far as the bound holds; NaN beyond.
std::vector<double> variance_bounds(const std::vector<double>& inputs, std::size_t states, std::size_t tokens,
                                    std::size_t width, std::span<const BoundedSublayer> bounded) {
    std::vector<double> bounds(states, kNaN);
    std::fill_n(bounds.begin(), bounded.size() + 1, 0.0);
    const std::size_t piece = tokens * width, B = inputs.size() / piece;
    for (std::size_t b = 0; b < B; ++b) {
        double squares = 0;
        for (std::size_t i = b * piece; i < (b + 1) * piece; ++i) squares += inputs[i] * inputs[i];
        const auto norms = bounded_branch_norms(std::sqrt(squares), tokens, width, bounded);
        for (std::size_t k = 0; k < norms.size(); ++k)
            bounds[k] += norms[k] * norms[k] / static_cast<double>(B);
    }
    return bounds;
}

}  // namespace

template <class T>
ProbeResult probe_shift(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const auto n = static_cast<std::size_t>(tape.length), B = static_cast<std::size_t>(tape.sequences),
               d = static_cast<std::size_t>(input.model.spec().d_model), piece = n * d;
    States clean;
    append(clean, tape, B * piece);
    const std::vector<double>& inputs = clean.front();
    const States perturbed = perturbed_states(input, inputs, piece);

    std::vector<StateShift> of_state(clean.size());
    input.pool.run(static_cast<int>(clean.size()), [&](int state) {
        // The bounds begin at the first state.
        if (state > 0 && !input.selects_state(state)) return;
        input.check_cancelled();
        const auto k = static_cast<std::size_t>(state);
        of_state[k] = measure(clean[k], perturbed[k], piece);
    });
    std::vector<double> variance_bound(clean.size(), kNaN), w2_bound(clean.size(), kNaN);
    if (std::isfinite(of_state[0].w2)) {
        const auto bounded = growth_prefixes(input.model, tape, input.pool).bounded;
        variance_bound = variance_bounds(inputs, clean.size(), n, d, bounded);
        const auto shifts = shift_bounds(of_state[0].w2, n, d, bounded);
        std::copy(shifts.begin(), shifts.end(), w2_bound.begin());
    }

    ProbeResult result;
    const auto add = [&](const char* name, std::vector<double> values) {
        result.arrays.push_back({name, {clean.size()}, std::move(values), {"hidden_state"}, "1"});
    };
    const auto measured = [&](const char* name, double StateShift::*member) {
        std::vector<double> values;
        for (const StateShift& state : of_state) values.push_back(state.*member);
        add(name, std::move(values));
    };
    measured("variance_mean", &StateShift::mean);
    measured("variance_max", &StateShift::most);
    add("variance_bound", std::move(variance_bound));
    measured("w2", &StateShift::w2);
    measured("w2_paired", &StateShift::paired);
    add("w2_bound", std::move(w2_bound));
    result.labels["perturbation"] = {"normal noise of 0.1 times the RMS, added to hidden state 0"};
    return result;
}
template ProbeResult probe_shift<float>(ProbeInput<float>&);
template ProbeResult probe_shift<double>(ProbeInput<double>&);

namespace {

/// One pass on one thread, variances and distances of all states, and the norms of all weights (growth.cpp).
double shift_operations(const ProbeShape& s) {
    return 2 * forward_operations(s, s.tokens(), s.length) +
           scalar_operations(s.part.states * (3 + 0.25 * s.sequences) * s.states()) +
           std::min(64, s.d_model) * s.parameters();
}

}  // namespace

ProbeInfo shift_probe() {
    const std::vector<Axis> states{axis::hidden_state};
    return {"shift",
            "Distribution shift",
            "variance of an entry over sequences; exact W₂ between the batch and a perturbed batch",
            "[K] Theorems 5 and 6",
            ProbeNeeds::Forward,
            ProbeCost::Expensive,
            shift_operations,
            probe_shift<float>,
            probe_shift<double>,
            {{"variance_mean", states, "mean over entries of the variance over sequences", kMayBeNan},
             {"variance_max", states, "largest variance of an entry over sequences", kMayBeNan},
             {"variance_bound", states, "bound of it from the branches' norms", kMayBeNan},
             {"w2", states, "exact W₂ between the batch and the perturbed batch", kMayBeNan},
             {"w2_paired", states, "root mean square distance of a sequence to its perturbed one", kMayBeNan},
             {"w2_bound", states, "bound of w2 from the branches' norms", kMayBeNan}},
            {{"perturbation", "what was added to the inputs"}},
            false};
}

}  // namespace normscope
