// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/tokens.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/linear_algebra/svd.h"
#include "core/base/nan.h"
#include "core/probe/interface/jackknife.h"
#include "core/probe/interface/token_labels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

// The sums over a token may run in any order: `omp simd` (-fopenmp-simd; no threads) lets the compiler
// vectorise them.

namespace normscope {

namespace {

/// The median |x|, of an even count the mean of the middle two. Counts the sizes by exponent and three bits,
/// then sorts only what shares a bucket with the middle: several times faster than selecting among all. No
/// entry may be NaN.
template <class T>
double median_magnitude(const T* x, std::size_t count, std::vector<T>& buffer) {
    constexpr std::size_t kBuckets = 1U << 11;
    const auto bucket = [](T value) {  // rising with |value|
        return (std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0x7fffffffU) >> 20;
    };
    // Two tables: neighbours often share a bucket, and the second count would wait for the first.
    std::array<std::uint32_t, kBuckets> counts{}, odd{};
    for (std::size_t i = 0; i + 1 < count; i += 2) {
        ++counts[bucket(x[i])];
        ++odd[bucket(x[i + 1])];
    }
    if (count % 2 == 1) ++counts[bucket(x[count - 1])];
    for (std::size_t i = 0; i < kBuckets; ++i) counts[i] += odd[i];
    const std::size_t lower = (count - 1) / 2, upper = count / 2;
    std::size_t below = 0,
                first = 0;  // below: entries in the buckets before `first`, which holds the lower middle one
    while (below + counts[first] <= lower) below += counts[first++];
    std::size_t last = first, up_to = below + counts[first];
    while (up_to <= upper) up_to += counts[++last];
    buffer.resize(up_to - below + 1);  // one element more than kept: every entry is written, few are kept
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        buffer[kept] = std::abs(x[i]);
        const std::size_t at = bucket(x[i]);
        kept += static_cast<std::size_t>(at >= first) & static_cast<std::size_t>(at <= last);
    }
    const auto middle = buffer.begin() + static_cast<std::ptrdiff_t>(lower - below), end = buffer.end() - 1;
    std::nth_element(buffer.begin(), middle, end);
    if (lower == upper) return static_cast<double>(*middle);
    return (static_cast<double>(*middle) + static_cast<double>(*std::min_element(middle + 1, end))) / 2;
}

struct SequenceNumbers {
    double similarity = kNaN, outlier = kNaN, heaviest = kNaN;
    std::size_t heaviest_token = 0;
};

template <class T>
SequenceNumbers measure(const T* x, int tokens, int width, std::vector<double>& sum, std::vector<T>& buffer) {
    const auto d = static_cast<std::size_t>(width), n = static_cast<std::size_t>(tokens);
    sum.assign(d, 0.0);
    double* of_units = sum.data();
    double norms = 0, heaviest = 0, units = 0;
    std::size_t heaviest_token = 0;
    T largest = 0;
    for (std::size_t t = 0; t < n; ++t) {
        const T* token = x + t * d;
        double squares = 0;
#pragma omp simd reduction(+ : squares)
        for (std::size_t i = 0; i < d; ++i)
            squares += static_cast<double>(token[i]) * static_cast<double>(token[i]);
#pragma omp simd reduction(max : largest)
        for (std::size_t i = 0; i < d; ++i) largest = std::max(largest, std::abs(token[i]));
        if (!std::isfinite(squares)) return {};
        const double norm = std::sqrt(squares), inverse = 1 / norm;
        norms += norm;
        if (norm > heaviest) heaviest = norm, heaviest_token = t;
        units += squares * inverse * inverse;  // 1, or NaN for a token of 0, which has no direction
#pragma omp simd
        for (std::size_t i = 0; i < d; ++i) of_units[i] += static_cast<double>(token[i]) * inverse;
    }
    double together = 0;
    for (double s : sum) together += s * s;
    const double count = static_cast<double>(n);
    return {(together - units) / (count * (count - 1)),
            static_cast<double>(largest) / median_magnitude(x, n * d, buffer), heaviest / (norms / count),
            heaviest_token};
}

Averaged mean_of(const std::vector<double>& values) {
    Averaged a = jackknife(values, 1, [](std::span<const double> total, std::size_t count) {
        return total[0] / static_cast<double>(count);
    });
    if (!std::isfinite(a.value)) a = {kNaN, kNaN};
    return a;
}

struct StateNumbers {
    Averaged similarity, rank, outlier, heaviest;
    double sequence = kNaN, token = kNaN;  ///< of the heaviest token
};

}  // namespace

double effective_rank(const double* x, int tokens, int width) {
    const bool by_tokens = tokens <= width;
    const int m = std::min(tokens, width);
    const auto size = static_cast<std::size_t>(m);
    std::vector<double> gram(size * size), eigenvalues(size);
    if (by_tokens)
        matmul_nt<double>(m, m, width, 1, x, width, x, width, 0, gram.data(), m);
    else
        matmul_tn<double>(m, m, tokens, 1, x, width, x, width, 0, gram.data(), m);
    double trace = 0;
    for (std::size_t i = 0; i < size; ++i) trace += gram[i * size + i];
    if (!(trace > 0 && std::isfinite(trace))) return kNaN;
    symmetric_eigenvalues(m, gram.data(), eigenvalues.data());
    const double floor =
        eigenvalues.back() * std::max(tokens, width) * std::numeric_limits<double>::epsilon();
    double sum = 0, logs = 0;  // entropy of σ/Σσ = ln Σσ − Σ σ ln σ / Σσ
    for (double square : eigenvalues) {
        if (!(square > floor)) continue;
        const double sigma = std::sqrt(square / eigenvalues.back());
        sum += sigma;
        logs += sigma * std::log(sigma);
    }
    return sum * std::exp(-logs / sum);
}

int effective_rank_sequences(const StackSpec& spec, int sequences, int length) {
    // In operations of a GEMM: measured, an eigenvalue problem takes the time of 4m³ + 2500m² (its reduction
    // runs on short vectors), at each hidden state; the passes 6 a parameter and token of the layers.
    const double m = std::min(length, spec.d_model), d = spec.d_model;
    const double rank = (2.0 * spec.depth + 1) * (4 * m + 2500) * m * m;
    const double layer =
        2 * d * (spec.d_q() + spec.d_kv()) + (is_gated(spec.activation) ? 3 : 2) * d * spec.d_ff;
    const double passes = 6 * spec.depth * layer * length * sequences;
    return std::min(sequences,
                    std::max(2, static_cast<int>(std::min<double>(sequences, 0.25 * passes / rank))));
}

template <class T>
ProbeResult probe_tokens(ProbeInput<T>& input) {
    const Tape<T>& tape = input.tape();
    const int d = input.model.spec().d_model;
    const auto piece = static_cast<std::size_t>(tape.length) * static_cast<std::size_t>(d);
    const int ranked = effective_rank_sequences(input.model.spec(), tape.sequences, tape.length);

    std::vector<StateNumbers> of_state(tape.hidden.size());
    input.pool.run(static_cast<int>(of_state.size()), [&](int state) {
        if (!input.selects_state(state)) return;
        const HostView<T> states = tape.view(tape.hidden[static_cast<std::size_t>(state)],
                                             piece * static_cast<std::size_t>(tape.sequences));
        const T* x = states.data();
        std::vector<double> similarity, rank, outlier, heaviest, sum;
        std::vector<T> buffer;
        StateNumbers& numbers_of_state = of_state[static_cast<std::size_t>(state)];
        double most = 0;
        for (int b = 0; b < tape.sequences; ++b, x += piece) {
            input.check_cancelled();
            const SequenceNumbers numbers = measure(x, tape.length, d, sum, buffer);
            similarity.push_back(numbers.similarity);
            outlier.push_back(numbers.outlier);
            heaviest.push_back(numbers.heaviest);
            if (numbers.heaviest > most) {
                most = numbers.heaviest;
                numbers_of_state.sequence = b;
                numbers_of_state.token = static_cast<double>(numbers.heaviest_token);
            }
            if (b < ranked)
                rank.push_back(effective_rank(std::vector<double>(x, x + piece).data(), tape.length, d));
        }
        numbers_of_state.similarity = mean_of(similarity);
        numbers_of_state.rank = mean_of(rank);
        numbers_of_state.outlier = mean_of(outlier);
        numbers_of_state.heaviest = mean_of(heaviest);
    });

    ProbeResult result;
    const auto add = [&](const char* name, Averaged StateNumbers::*member) {
        std::vector<Averaged> values;
        for (const StateNumbers& n : of_state) values.push_back(n.*member);
        add_averaged(result, name, {of_state.size()}, values, {"hidden_state"}, "1");
    };
    add("similarity", &StateNumbers::similarity);
    add("effective_rank", &StateNumbers::rank);
    add("outlier", &StateNumbers::outlier);
    add("heaviest_norm", &StateNumbers::heaviest);
    std::vector<double> places;
    for (const StateNumbers& n : of_state) places.insert(places.end(), {n.sequence, n.token});
    result.arrays.push_back({"heaviest_place",
                             {of_state.size(), 2},
                             std::move(places),
                             {"hidden_state", "sequence, token"},
                             "1"});
    if (input.texts)
        if (std::vector<std::string> texts = input.texts(); !texts.empty())
            result.labels[kTokensLabel] = std::move(texts);
    result.labels["effective_rank_sequences"] = {std::to_string(ranked)};
    return result;
}
template ProbeResult probe_tokens<float>(ProbeInput<float>&);
template ProbeResult probe_tokens<double>(ProbeInput<double>&);

namespace {

/// Similarity and outliers of every state, and the eigenvalue problems of some sequences: at most a quarter
/// of the passes' operations where two sequences do not exceed it (tokens.h).
double tokens_operations(const ProbeShape& s) {
    const double m = std::min(s.length, s.d_model), problem = (2.0 * s.depth + 1) * (4 * m + 2500) * m * m;
    const double passes = 3 * forward_operations(s, s.tokens(), s.length);
    return s.part.states * (scalar_operations(2 * s.states()) +
                            std::min(problem * s.sequences, std::max(2 * problem, 0.25 * passes)));
}

}  // namespace

ProbeInfo tokens_probe() {
    const std::vector<Axis> states{axis::hidden_state};
    constexpr unsigned flags = kAveraged | kMayBeNan;
    static constexpr Axis place{"sequence, token", [](const StackSizes&) { return std::size_t{2}; }};
    return {"tokens",
            "Tokens",
            "(‖Σx̂‖² − n)/(n(n − 1)); exp of the entropy of σ_i/Σσ; max |x| ÷ median |x|",
            "Roy and Vetterli 2007 (effective rank); the others ours",
            ProbeNeeds::Forward,
            ProbeCost::Medium,
            tokens_operations,
            probe_tokens<float>,
            probe_tokens<double>,
            {{"similarity", states, "mean cosine of two tokens of a sequence", flags},
             {"effective_rank", states, "exp of the entropy of the singular values of a sequence's tokens",
              flags},
             {"outlier", states, "max |x| ÷ median |x|", flags},
             {"heaviest_norm", states, "largest norm of a token ÷ the mean one", flags | kAdded},
             {"heaviest_place",
              {axis::hidden_state, place},
              "the token with the largest such ratio of all sequences: which sequence and which token of it, "
              "from 0",
              kMayBeNan | kAdded}},
            {{kTokensLabel, "the held-out sequences as text, one a sequence, tokens divided by U+001F"},
             {"effective_rank_sequences", "how many sequences the effective rank is averaged over"}}};
}

}  // namespace normscope
