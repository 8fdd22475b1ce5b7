// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/jacobian.h"

#include "core/probe/spectra/jacobian_sample.h"

#include <limits>
#include <vector>

namespace normscope {

namespace {

/// The first `tokens` tokens of one sequence of the probe batch.
Batch first_tokens(const Batch& batch, int sequence, int tokens) {
    Batch first = batch.part(sequence, 1, tokens);
    first.targets.clear();
    return first;
}

/// The largest singular value of the stack's block at the last token of each of the first sequences, in T
/// without rounding: the spread over sequences is far above float32 round-off.
template <class T>
std::vector<double> largest_of_sequences(ProbeInput<T>& input, int sequences) {
    const int d = input.model.spec().d_model, layers = input.model.spec().depth;
    const auto of = [&](const Transformer<T>& model, const Tape<T>& tape) {
        std::vector<BlockMatrix> blocks(static_cast<std::size_t>(sequences));
        input.pool.run(sequences, [&](int b) {
            input.check_cancelled();
            blocks[static_cast<std::size_t>(b)] = token_block(model, tape, b, 0, 2 * layers);
        });
        const auto values = block_spectra(blocks, d, input.pool, [&] { input.check_cancelled(); });
        std::vector<double> tops;
        for (std::size_t b = 0; b < blocks.size(); ++b)
            tops.push_back(values[b * static_cast<std::size_t>(d)]);
        return tops;
    };
    if constexpr (std::is_same_v<T, float>) {
        if (input.model.rounding() != Rounding::None) {
            const Transformer<float> exact(input.model, 0, layers, true);
            Tape<float> tape;
            exact.forward(input.batch, tape, input.pool);
            return of(exact, tape);
        }
    }
    return of(input.model, input.tape());
}

template <class T>
void measure_stack(ProbeInput<T>& input, const JacobianPlan& plan, const RequestedBlocks& wanted,
                   const std::function<void()>& check, JacobianSample& sample) {
    const StackSpec& spec = input.model.spec();
    const int n = input.batch.length;
    const Transformer<double> model(input.model, 0, spec.depth, true);
    const auto tape_of = [&](int sequence, int tokens) {
        check();
        Tape<double> tape;
        model.forward(first_tokens(input.batch, sequence, tokens), tape, input.pool);
        return tape;
    };

    const Tape<double> tape = tape_of(0, n);
    sample.last_token(model, tape, 0);
    const TokenSpectra last = sample.last_token_spectra();
    TokenSpectra at_prefix = last;
    bool known = plan.prefix == n;
    for (std::size_t i = 0; i < plan.tokens.size(); ++i) {
        const int token = plan.tokens[i];
        const TokenSpectra spectra =
            token == n ? last : token_spectra(model, tape_of(0, token), wanted, input.pool, check);
        sample.position(i, spectra);
        if (token != plan.prefix) continue;
        at_prefix = spectra;
        known = true;
    }
    if (plan.prefix > 0) {
        const Tape<double> prefix = plan.prefix == n ? Tape<double>{} : tape_of(0, plan.prefix);
        const Tape<double>& mapped = plan.prefix == n ? tape : prefix;
        if (!known) at_prefix = token_spectra(model, mapped, wanted, input.pool, check);
        sample.full_map(model, mapped, 0, at_prefix);
    }
    // Where each block requires a whole sequence, only one.
    const auto not_measured = [&] {
        return std::vector<double>(static_cast<std::size_t>(plan.spread),
                                   std::numeric_limits<double>::quiet_NaN());
    };
    sample.spread(!spec.causal   ? std::vector<double>{last.stack.front()}
                  : wanted.all() ? largest_of_sequences(input, plan.spread)
                                 : not_measured());
    for (int b = 1; b < plan.sequences; ++b)
        sample.sequence(token_spectra(model, tape_of(b, n), wanted, input.pool, check));
}

template <class T>
void measure_layers(ProbeInput<T>& input, const JacobianPlan& plan, const RequestedBlocks& wanted,
                    const std::function<void()>& check, JacobianSample& sample) {
    const Tape<T>& states = input.tape();
    const int n = states.length;
    for (const int layer : plan.layers) {
        const RequestedBlocks of_layer = wanted.layers_from(layer, 1);
        if (!of_layer.sublayer(0) && !of_layer.sublayer(1)) continue;
        check();
        const Transformer<double> model(input.model, layer, 1, false);
        const HostView<T> from =
            states.view(states.hidden[2 * static_cast<std::size_t>(layer)],
                        static_cast<std::size_t>(n) * static_cast<std::size_t>(model.spec().d_model));
        const std::vector<double> state(from.begin(), from.end());
        Tape<double> tape, prefix;
        model.forward_layers(state.data(), n, tape, input.pool);
        sample.last_token(model, tape, layer);
        if (plan.prefix == 0) continue;
        if (plan.prefix < n) model.forward_layers(state.data(), plan.prefix, prefix, input.pool);
        const Tape<double>& mapped = plan.prefix < n ? prefix : tape;
        sample.full_map(model, mapped, layer, token_spectra(model, mapped, of_layer, input.pool, check));
    }
    const TokenSpectra last = sample.last_token_spectra();
    sample.position(0, last);
    sample.spread({last.stack.front()});
}

}  // namespace

template <class T>
ProbeResult probe_jacobian(ProbeInput<T>& input) {
    input.use_tangents();
    const StackSpec& spec = input.model.spec();
    const Batch& batch = input.batch;
    const JacobianPlan plan = plan_jacobian(spec, batch.length, batch.sequences);
    const auto check = [&input] { input.check_cancelled(); };
    RequestedBlocks wanted;
    for (int k = 0; !input.selects_all() && k < 2 * spec.depth; ++k)
        wanted.sublayers.push_back(input.selects_sublayer(k));
    JacobianSample sample(spec, plan, wanted, batch.length, batch.sequences, input.pool, check);
    if (plan.whole)
        measure_stack(input, plan, wanted, check, sample);
    else
        measure_layers(input, plan, wanted, check, sample);
    return sample.result();
}
template ProbeResult probe_jacobian<float>(ProbeInput<float>&);
template ProbeResult probe_jacobian<double>(ProbeInput<double>&);

namespace {

/// Blocks of every sub-layer and layer and the largest values of full maps; the probe samples tokens and
/// layers where that would take more than two to three steps of the default stack, or a forward and backward
/// pass over one sequence.
double jacobian_operations(const ProbeShape& s) {
    const double d = s.d_model;
    const double most = std::max(3.7e9, 3.6 * forward_operations(s, s.context, s.context));
    return s.part.sublayers * std::min(450 * (5.0 * s.depth + 1) * d * d * d, most);
}

}  // namespace

ProbeInfo jacobian_probe() {
    const std::vector<Axis> sublayers{axis::sublayer}, layers{axis::layer};
    constexpr unsigned nan = kMayBeNan, added = kMayBeNan | kAdded, whole = kMayBeNan | kNeedsAll,
                       whole_added = whole | kAdded;
    return {
        "jacobian",
        "Jacobian spectra",
        "σ_i of ∂(token out)/∂(token in); ‖J − a·I‖₂; null directions counted from the structure",
        "[N] §3 to §6 and Theorem 4.6",
        ProbeNeeds::Tangents,
        ProbeCost::Expensive,
        jacobian_operations,
        probe_jacobian<float>,
        probe_jacobian<double>,
        {{"sublayer_sv", {axis::sublayer, axis::width}, "singular values of the last token's block", nan},
         {"layer_sv", {axis::layer, axis::width}, "of a layer", nan},
         {"end_to_end_sv", {axis::width}, "of the stack", whole},
         {"branch_norm", sublayers, "‖J − a·I‖₂ where there is no post norm", nan},
         {"exact_nulls", sublayers, "null directions, from the structure", added},
         {"epsilon_directions", sublayers, "directions that only ε keeps", added},
         {"below_resolution", sublayers, "singular values that float64 cannot tell from 0", added},
         {"epsilon_sigma", sublayers, "the ε-direction's singular value in the block", added},
         {"epsilon_predicted", sublayers, "that of the norm alone", added},
         {"layer_exact_nulls", layers, "null directions of a layer", added},
         {"layer_below_resolution", layers, "what float64 cannot tell from 0, of a layer", added},
         {"end_to_end_exact_nulls", {}, "null directions of the stack", whole_added},
         {"end_to_end_below_resolution", {}, "what float64 cannot tell from 0, of the stack", whole_added},
         {"cumulative_median", layers, "median singular value from the first layer to this one", whole_added},
         {"cumulative_slope", {}, "slope of its logarithm over the layers", whole_added, "nat"},
         {"position_sv", {axis::sublayer, axis::position, axis::width}, "blocks of other tokens", added},
         {"position_end_to_end_sv",
          {axis::position, axis::width},
          "the stack's, of other tokens",
          whole_added},
         {"mean_sv",
          {axis::sublayer, axis::width},
          "mean of the i-th value over tokens and sequences",
          added | kAveraged},
         {"end_to_end_top", {axis::sequence}, "the stack's largest value, by sequence", whole_added},
         {"full_top", sublayers, "largest value of the map of all tokens", added | kAveraged},
         {"full_bottom", sublayers, "its smallest value", added | kAveraged},
         {"full_end_to_end", {axis::end}, "both, of the stack", whole_added | kAveraged}},
        {{"block", "whose block it is"},
         {"full_map", "which tokens the full map has"},
         {"positions", "numbers of the other tokens, from 1"},
         {"mean", "what the mean is over"},
         {"measured", "which layers"}}};
}

}  // namespace normscope
