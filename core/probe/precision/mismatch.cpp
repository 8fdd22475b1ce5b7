// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/precision/mismatch.h"

#include "core/backend/cpu/operand_ops.h"
#include "core/probe/interface/jackknife.h"
#include "core/probe/precision/mismatch_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace normscope {

namespace {

// Four passes in emulated precision cost about as much as a training step over four times the sequences.
constexpr int kSequences = 2;

constexpr const char *kMismatch = "mismatch", *kSplit = "split";

struct Format {
    const char* name;
    Rounding rounding;
    PrecisionPolicy policy;
};
constexpr std::array<Format, 4> kFormats = {{{"bf16", Rounding::Bf16, PrecisionPolicy::Pure},
                                             {"fp16", Rounding::Fp16, PrecisionPolicy::Pure},
                                             {"bf16_autocast", Rounding::Bf16, PrecisionPolicy::Autocast},
                                             {"fp16_autocast", Rounding::Fp16, PrecisionPolicy::Autocast}}};

Batch first_sequences(const Batch& batch, int sequences) {
    Batch first = batch.part(0, sequences, batch.length);
    first.targets.clear();
    return first;
}

/// ‖low − exact‖/‖exact‖ over `sequences` pieces of `count` values each.
Averaged relative_error(const float* low, const float* exact, std::size_t sequences, std::size_t count) {
    std::vector<double> sums(2 * sequences, 0.0);
    for (std::size_t b = 0; b < sequences; ++b)
        for (std::size_t i = b * count; i < (b + 1) * count; ++i) {
            const double y = static_cast<double>(exact[i]), error = static_cast<double>(low[i]) - y;
            sums[2 * b] += error * error;
            sums[2 * b + 1] += y * y;
        }
    return jackknife(sums, 2, [](std::span<const double> totals, std::size_t) {
        const double ratio = std::sqrt(totals[0] / totals[1]);
        return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::quiet_NaN();
    });
}

/// The model in float32 without rounding.
template <class T>
Transformer<float> in_float32(const Transformer<T>& model) {
    if constexpr (std::is_same_v<T, float>) {
        Transformer<float> copy = model;
        copy.set_rounding(Rounding::None);
        return copy;
    } else {
        Transformer<float> copy(model.spec(), 0, model.device());
        const HostView<T> weights = model.host_parameters();
        HostEdit<float> to(copy.device(), copy.parameters().data(), weights.size());
        std::transform(weights.begin(), weights.end(), to.data(),
                       [](T weight) { return static_cast<float>(weight); });
        to.commit();
        copy.numerics = model.numerics;
        copy.raise_eps(model.raised_eps());
        return copy;
    }
}

/// The weights of the float32 model, kept while the copy's are rounded: those of the measured model if it is
/// float32.
template <class T>
std::span<const float> exact_weights(const Transformer<T>& model, const Transformer<float>& copy,
                                     Buffer<float>& kept) {
    if constexpr (std::is_same_v<T, float>) return model.parameters();
    const std::size_t count = copy.parameters().size();
    kept.resize(copy.device(), count);
    copy.device().copy(kept.data(), copy.parameters().data(), count * sizeof(float));
    return {kept.data(), count};
}

/// Of the selected hidden states and of the logits; `exact` may have further sequences.
template <class T>
void add_errors(ProbeResult& result, ProbeInput<T>& input, const std::string& name, const Tape<float>& low,
                const Tape<float>& exact, const StackSpec& spec) {
    const std::size_t states = 2 * static_cast<std::size_t>(spec.depth) + 1,
                      B = static_cast<std::size_t>(low.sequences), n = static_cast<std::size_t>(low.length),
                      d = static_cast<std::size_t>(spec.d_model), V = static_cast<std::size_t>(spec.vocab);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Averaged> hidden(states, {nan, nan});
    if (!input.measures(kMismatch, name)) {
        add_averaged(result, name + "_hidden", {states}, hidden, {"hidden_state"}, "1");
        add_averaged(result, name + "_logits", {}, {{nan, nan}}, {}, "1");
        return;
    }
    for (std::size_t k = 0; k < states; ++k) {
        if (!input.selects_state(static_cast<int>(k))) continue;
        input.check_cancelled();
        hidden[k] = relative_error(low.view(low.hidden[k], B * n * d).data(),
                                   exact.view(exact.hidden[k], B * n * d).data(), B, n * d);
    }
    add_averaged(result, name + "_hidden", {states}, hidden, {"hidden_state"}, "1");
    add_averaged(result, name + "_logits", {},
                 {relative_error(low.view(low.logits, B * n * V).data(),
                                 exact.view(exact.logits, B * n * V).data(), B, n * V)},
                 {}, "1");
}

/// Where the host can replace operations.
Transformer<float> copy_on_cpu(const Transformer<float>& exact) {
    Transformer<float> model(exact.spec(), 0);
    const HostView<float> weights = exact.host_parameters();
    std::copy(weights.begin(), weights.end(), model.parameters().begin());
    model.numerics = exact.numerics;
    model.raise_eps(exact.raised_eps());
    return model;
}

/// How much the blocks of a format clamp of γ of each norm, and of the matrices of each layer.
template <class T>
void add_clamping(ProbeResult& result, const ProbeInput<T>& input, const OperandFormat& format,
                  const Transformer<float>& model) {
    const HostView<float> weights = model.host_parameters();
    std::vector<float> rounded;
    const auto add = [&](Clamping& to, std::size_t offset, std::size_t rows, std::size_t columns) {
        rounded.resize(columns);
        for (std::size_t r = 0; r < rows; ++r)
            round_operand(format, 0, columns, 1, weights.data() + offset + r * columns, rounded.data(), &to);
    };
    const bool measured = input.measures(kMismatch, format.name);
    const auto d = static_cast<std::size_t>(model.spec().d_model);
    std::vector<Clamping> norms(model.sites().size()), layers(static_cast<std::size_t>(model.spec().depth));
    for (std::size_t i = 0; measured && i < norms.size(); ++i)
        if (input.selects(model.sites()[i].name)) add(norms[i], model.sites()[i].offsets.weight, 1, d);
    for (const TensorInfo& tensor : model.table().tensors())
        if (measured && tensor.layer >= 0 && tensor.shape.size() == 2 && input.selects_layer(tensor.layer))
            add(layers[static_cast<std::size_t>(tensor.layer)], tensor.offset,
                static_cast<std::size_t>(tensor.shape[0]), static_cast<std::size_t>(tensor.shape[1]));
    const auto arrays = [&](const std::string& what, const std::vector<Clamping>& of, const char* axis) {
        std::vector<double> shares, biases;
        for (const Clamping& one : of) {
            shares.push_back(one.share());
            biases.push_back(one.bias());
        }
        const std::string name = format.name;
        result.arrays.push_back({name + what + "_clamped", {of.size()}, std::move(shares), {axis}, "1"});
        result.arrays.push_back({name + what + "_bias", {of.size()}, std::move(biases), {axis}, "1"});
    };
    arrays("_gamma", norms, "site");
    arrays("_weights", layers, "layer");
    for (const NormSite& site : model.sites()) result.labels["sites"].push_back(site.name);
}

/// The errors with operands of GEMM in 8-bit formats.
template <class T>
void add_operands(ProbeResult& result, ProbeInput<T>& input, Transformer<float> model, const Batch& batch) {
    Tape<float> exact, low;
    if (std::any_of(kOperandFormats.begin(), kOperandFormats.end(),
                    [&](const OperandFormat& format) { return input.measures(kMismatch, format.name); }))
        model.forward(batch, exact, input.pool);
    for (const OperandFormat& format : kOperandFormats) {
        if (input.measures(kMismatch, format.name)) {
            input.check_cancelled();
            OperandPassOps ops(format);
            model.set_operations(&ops.layers, &ops.elementwise);
            model.forward(batch, low, input.pool);
            model.set_operations(nullptr, nullptr);
        }
        add_errors(result, input, format.name, low, exact, model.spec());
        if (format.block > 0) add_clamping(result, input, format, model);
    }
}

/// The split of the first sequence's error by kind of operation.
template <class T>
void add_split(ProbeResult& result, ProbeInput<T>& input, Transformer<float> model, const Batch& batch) {
    for (const auto& [name, format] :
         {std::pair{"bf16", Rounding::Bf16}, std::pair{"fp16", Rounding::Fp16}}) {
        MismatchSplit split;
        if (input.measures(kMismatch, kSplit))
            split = mismatch_split(model, batch, format, input.pool, [&input] { input.check_cancelled(); });
        else
            split = MismatchSplit::unmeasured();
        const std::string of = name;
        const auto add = [&](const char* what, const std::array<double, kOperationKinds>& values) {
            result.arrays.push_back(
                {what + of, {values.size()}, {values.begin(), values.end()}, {"part"}, "1"});
        };
        add("split_", split.share());
        result.arrays.push_back({"remainder_" + of, {}, {split.remainder()}, {}, "1"});
        add("only_", split.only);
        add("without_", split.without);
    }
    for (const char* part : operation_kind_names()) result.labels["parts"].push_back(part);
}

}  // namespace

template <class T>
ProbeResult probe_mismatch(ProbeInput<T>& input) {
    Transformer<float> model = in_float32(input.model);
    Buffer<float> kept;
    const std::span<const float> weights = exact_weights(input.model, model, kept);
    const int sequences = std::min(kSequences, input.batch.sequences);
    const Batch batch = first_sequences(input.batch, sequences);

    // The shared pass begins with the same sequences.
    Tape<float> own, low;
    const Tape<float>* exact = &own;
    if constexpr (std::is_same_v<T, float>)
        if (input.model.rounding() == Rounding::None) exact = &input.tape();
    if (exact == &own) model.forward(batch, own, input.pool);

    ProbeResult result;
    for (const Format& format : kFormats) {
        if (input.measures(kMismatch, format.name)) {
            input.check_cancelled();
            model.set_rounding(format.rounding, format.policy);
            model.set_parameters(weights);
            model.forward(batch, low, input.pool);
        }
        add_errors(result, input, format.name, low, *exact, model.spec());
    }
    model.set_rounding(Rounding::None);
    model.set_parameters(weights);
    const Transformer<float> on_cpu = copy_on_cpu(model);
    add_operands(result, input, on_cpu, batch);
    add_split(result, input, on_cpu, batch.part(0, 1, batch.length));
    result.labels["sampled"] = {std::to_string(sequences) + " of " + std::to_string(input.batch.sequences) +
                                " sequences"};
    return result;
}
template ProbeResult probe_mismatch<float>(ProbeInput<float>&);
template ProbeResult probe_mismatch<double>(ProbeInput<double>&);

namespace {

/// Emulated forward passes of two sequences: four of short formats and, on the CPU, four of 8-bit ones with
/// an exact one; copies of the weights; and 34 passes of one sequence for the split.
double mismatch_operations(const ProbeShape& s) {
    return (4.5 + 5 + 17) * forward_operations(s, s.tokens(), s.length) +
           traffic_operations(6 * s.parameters());
}

}  // namespace

ProbeInfo mismatch_probe() {
    static constexpr Axis kPart{"part"};
    static constexpr const char *kShare =
                                    "a kind's share of the squared error of sequence 0's logits: that of the "
                                    "kind alone over that of all kinds",
                                *kRemainder =
                                    "1 − Σ split: what the kinds do together; below 0 where their errors "
                                    "cancel",
                                *kOnly = "relative error of the logits with one kind in the format",
                                *kWithout =
                                    "relative error of the logits with all kinds but one in the format";
    const std::vector<Axis> states{axis::hidden_state}, parts{kPart}, sites{axis::site}, layers{axis::layer};
    constexpr unsigned part = kMayBeNan | kAdded;
    constexpr unsigned flags = kAveraged | kMayBeNan;
    return {kMismatch,
            "Low-precision mismatch",
            "‖y_low − y_32‖_F/‖y_32‖_F of one forward pass in an emulated format and one in float32",
            "[B]",
            ProbeNeeds::Forward,
            ProbeCost::Medium,
            mismatch_operations,
            probe_mismatch<float>,
            probe_mismatch<double>,
            {{"bf16_hidden", states, "‖h − h₃₂‖/‖h₃₂‖ of the hidden states, all in BF16", flags},
             {"bf16_logits", {}, "of the logits", flags},
             {"fp16_hidden", states, "of the hidden states, all in FP16", flags},
             {"fp16_logits", {}, "of the logits", flags},
             {"bf16_autocast_hidden", states, "of the hidden states, GEMM alone in BF16", flags | kAdded},
             {"bf16_autocast_logits", {}, "of the logits", flags | kAdded},
             {"fp16_autocast_hidden", states, "of the hidden states, GEMM alone in FP16", flags | kAdded},
             {"fp16_autocast_logits", {}, "of the logits", flags | kAdded},
             {"e4m3_hidden", states, "of the hidden states, operands of GEMM in E4M3, a scale each",
              flags | kAdded},
             {"e4m3_logits", {}, "of the logits", flags | kAdded},
             {"e5m2_hidden", states, "of the hidden states, operands of GEMM in E5M2, a scale each",
              flags | kAdded},
             {"e5m2_logits", {}, "of the logits", flags | kAdded},
             {"mxe4m3_hidden", states,
              "of the hidden states, operands of GEMM and γ in E4M3, blocks of 32 with a scale of 2^s",
              flags | kAdded},
             {"mxe4m3_logits", {}, "of the logits", flags | kAdded},
             {"mxe4m3_gamma_clamped", sites, "share of γ above the largest number of its block", part},
             {"mxe4m3_gamma_bias", sites, "Σ(|q| − |γ|)/Σ|γ| of the rounded q", part},
             {"mxe4m3_weights_clamped", layers, "the share of the layer's matrices", part},
             {"mxe4m3_weights_bias", layers, "the bias of the layer's matrices", part},
             {"split_bf16", parts, kShare, part},
             {"remainder_bf16", {}, kRemainder, part},
             {"only_bf16", parts, kOnly, part},
             {"without_bf16", parts, kWithout, part},
             {"split_fp16", parts, kShare, part},
             {"remainder_fp16", {}, kRemainder, part},
             {"only_fp16", parts, kOnly, part},
             {"without_fp16", parts, kWithout, part}},
            {{"sites", "names of the norms, in forward order"},
             {"parts",
              "kinds of operations: scores, softmax, mixing (PV), projections, feed_forward (and the head), "
              "activation, norm, residual"}},
            false,
            {{"bf16", 0.04},
             {"fp16", 0.04},
             {"bf16_autocast", 0.04},
             {"fp16_autocast", 0.04},
             {"e4m3", 0.07},
             {"e5m2", 0.07},
             {"mxe4m3", 0.07},
             {kSplit, 0.63}}};
}

}  // namespace normscope
