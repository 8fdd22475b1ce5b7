// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/gradients.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/model/sequence_losses.h"
#include "core/probe/interface/jackknife.h"

#include <cmath>
#include <limits>

namespace normscope {

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
    return result;
}
template ProbeResult probe_gradients<float>(ProbeInput<float>&);
template ProbeResult probe_gradients<double>(ProbeInput<double>&);

namespace {

double gradients_operations(const ProbeShape& s) {
    return scalar_operations(s.part.states * s.states() + s.parameters());
}

}  // namespace

ProbeInfo gradients_probe() {
    return {"gradients",
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
             {"loss", {}, "mean cross-entropy", kAveraged | kAdded, "nat"}}};
}

}  // namespace normscope
