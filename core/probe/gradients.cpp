// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/gradients.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/model/sequence_losses.h"
#include "core/probe/interface/jackknife.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normscope {

namespace {

/// Of the logits of the probe batch, whose loss is log Z − the logit of the target.
struct LogitNumbers {
    Averaged log_z, spread;
    double largest = 0;
};

template <class T>
LogitNumbers logit_numbers(ProbeInput<T>& input, const Tape<T>& tape) {
    const auto vocab = static_cast<std::size_t>(input.model.spec().vocab);
    const auto length = static_cast<std::size_t>(tape.length),
               sequences = static_cast<std::size_t>(tape.sequences);
    std::vector<double> log_z(length * sequences), largest(sequences);
    input.pool.run(tape.sequences, [&](int sequence) {
        input.check_cancelled();
        const std::size_t b = static_cast<std::size_t>(sequence), first = b * length;
        // A sequence at a time: of a large vocabulary the whole is larger than the hidden states.
        const HostView<T> logits = tape.view(tape.logits + first * vocab, length * vocab);
        for (std::size_t t = 0; t < length; ++t) {
            const T* row = logits.data() + t * vocab;
            double high = static_cast<double>(row[0]), low = high, sum = 0;
            for (std::size_t v = 1; v < vocab; ++v) {
                high = std::max(high, static_cast<double>(row[v]));
                low = std::min(low, static_cast<double>(row[v]));
            }
            for (std::size_t v = 0; v < vocab; ++v) sum += std::exp(static_cast<double>(row[v]) - high);
            log_z[first + t] = high + std::log(sum);
            largest[b] = std::max({largest[b], high, -low});
            if (!std::isfinite(log_z[first + t])) largest[b] = std::numeric_limits<double>::quiet_NaN();
        }
    });
    // About their mean, so that the squares of a large log Z do not cancel.
    const double centre = mean(log_z.data(), log_z.size());
    std::vector<double> sums;  // [sequences, 2]
    for (std::size_t b = 0; b < sequences; ++b) {
        double sum = 0, squares = 0;
        for (std::size_t t = 0; t < length; ++t) {
            const double from = log_z[b * length + t] - centre;
            sum += from;
            squares += from * from;
        }
        sums.insert(sums.end(), {sum, squares});
    }
    const auto mean_of = [length](double total, std::size_t count) {
        return total / static_cast<double>(count * length);
    };
    LogitNumbers numbers;
    numbers.log_z = jackknife(sums, 2, [&](std::span<const double> total, std::size_t count) {
        return centre + mean_of(total[0], count);
    });
    numbers.spread = jackknife(sums, 2, [&](std::span<const double> total, std::size_t count) {
        const double m = mean_of(total[0], count);
        return std::sqrt(std::max(mean_of(total[1], count) - m * m, 0.0));
    });
    for (const double size : largest)
        numbers.largest = std::isnan(size) ? size : std::max(numbers.largest, size);
    return numbers;
}

}  // namespace

template <class T>
ProbeResult probe_gradients(ProbeInput<T>& input) {
    const auto& record = input.backward();
    const Tape<T>& tape = input.tape();
    const HostView<T> gradients = input.parameter_gradients();
    const auto depth = static_cast<std::size_t>(input.model.spec().depth);

    std::vector<double> params(2 * depth);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Averaged> hidden(record.hidden.size(), {nan, nan}), scaled(hidden);
    const std::size_t sequences = static_cast<std::size_t>(tape.sequences);
    const std::size_t count = record.hidden.front().size() / sequences;
    const double batch = tape.sequences;
    for (std::size_t k = 0; k < hidden.size(); ++k) {
        if (!input.selects_state(static_cast<int>(k))) continue;
        input.check_cancelled();
        std::vector<double> squares;  // [sequences, 2] of the gradient and of the hidden state
        const HostView<T> gradient(record.hidden[k]), state = tape.view(tape.hidden[k], sequences * count);
        for (std::size_t b = 0; b < sequences; ++b) {
            const T *g = gradient.data() + b * count, *h = state.data() + b * count;
            squares.push_back(row_kernels<T>().dot(count, g, g));
            squares.push_back(row_kernels<T>().dot(count, h, h));
        }
        // For fewer sequences, scaled to the size of the batch.
        const auto norm = [&](double sum, std::size_t of) {
            return std::sqrt(batch * sum / static_cast<double>(of));
        };
        hidden[k] =
            jackknife(squares, 2, [&](std::span<const double> s, std::size_t n) { return norm(s[0], n); });
        scaled[k] = jackknife(squares, 2, [&](std::span<const double> s, std::size_t n) {
            return norm(s[0], n) * norm(s[1], n);
        });
    }
    double total = 0;
    for (const TensorInfo& tensor : input.model.table().tensors()) {
        double squares = 0;
        for (std::size_t i = 0; i < tensor.count; ++i) {
            const double g = static_cast<double>(gradients[tensor.offset + i]);
            squares += g * g;
        }
        total += squares;
        if (tensor.sublayer >= 0)
            params[static_cast<std::size_t>(2 * tensor.layer + tensor.sublayer)] += squares;
    }
    for (double& p : params) p = std::sqrt(p);

    ProbeResult result;
    add_averaged(result, "hidden", {hidden.size()}, hidden, {"hidden_state"}, "nat");
    add_averaged(result, "scaled", {scaled.size()}, scaled, {"hidden_state"}, "nat");
    result.arrays.push_back({"params", {depth, 2}, std::move(params), {"layer", "sublayer"}, "nat"});
    result.arrays.push_back({"total", {}, {std::sqrt(total)}, {}, "nat"});
    add_averaged(result, "loss", {}, {jackknife(sequence_losses(tape), 1, mean_of_total)}, {}, "nat");
    const LogitNumbers logits = logit_numbers(input, tape);
    add_averaged(result, "log_z", {}, {logits.log_z}, {}, "nat");
    add_averaged(result, "log_z_spread", {}, {logits.spread}, {}, "nat");
    result.arrays.push_back({"max_logit", {}, {logits.largest}, {}, "nat"});
    return result;
}
template ProbeResult probe_gradients<float>(ProbeInput<float>&);
template ProbeResult probe_gradients<double>(ProbeInput<double>&);

namespace {

double gradients_operations(const ProbeShape& s) {
    constexpr double logit = 8;  // passes of arithmetic that an exponential takes
    return scalar_operations(s.part.states * s.states() + s.parameters() + logit * s.tokens() * s.vocab);
}

}  // namespace

ProbeInfo gradients_probe() {
    return {
        "gradients",
        "Gradients by depth",
        "‖∂L/∂h_k‖_F over the batch; scaled: ‖h_k‖_F·‖∂L/∂h_k‖_F",
        "[E] Theorems 5.4 and 5.5; [G] §5.3",
        ProbeNeeds::Backward,
        ProbeCost::Cheap,
        gradients_operations,
        probe_gradients<float>,
        probe_gradients<double>,
        {{"hidden", {axis::hidden_state}, "‖∂L/∂h_k‖_F over the batch", kAveraged, "nat"},
         {"scaled",
          {axis::hidden_state},
          "‖h_k‖·‖∂L/∂h_k‖, which no scale of h changes",
          kAveraged | kAdded,
          "nat"},
         {"params",
          {axis::layer, axis::half},
          "L2 norm over the tensors of the attention, of the FFN",
          0,
          "nat"},
         {"total", {}, "L2 norm over all tensors", 0, "nat"},
         {"loss", {}, "mean cross-entropy", kAveraged | kAdded, "nat"},
         {"log_z", {}, "mean over tokens of log Σ exp(logits)", kAveraged | kMayBeNan | kAdded, "nat"},
         {"log_z_spread", {}, "its standard deviation over tokens", kAveraged | kMayBeNan | kAdded, "nat"},
         {"max_logit", {}, "largest |logit|", kMayBeNan | kAdded, "nat"}}};
}

}  // namespace normscope
