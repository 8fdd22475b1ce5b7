// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/jacobian.h"

#include "core/probe/spectra/jacobian_sample.h"

#include <vector>

namespace normscope {

namespace {

/// The first `tokens` tokens of one sequence of the probe batch.
Batch first_tokens(const Batch& batch, int sequence, int tokens) {
    const auto begin = batch.tokens.begin() + static_cast<std::ptrdiff_t>(sequence) * batch.length;
    return {1, tokens, {begin, begin + tokens}, {}};
}

/// The largest singular value of the stack's block at the last token of each of the first sequences, in T
/// without rounding: the spread over sequences is far above what float32 loses.
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
void measure_stack(ProbeInput<T>& input, const JacobianPlan& plan, const std::function<void()>& check,
                   JacobianSample& sample) {
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
            token == n ? last : token_spectra(model, tape_of(0, token), input.pool, check);
        sample.position(i, spectra);
        if (token != plan.prefix) continue;
        at_prefix = spectra;
        known = true;
    }
    if (plan.prefix > 0) {
        const Tape<double> prefix = plan.prefix == n ? Tape<double>{} : tape_of(0, plan.prefix);
        const Tape<double>& mapped = plan.prefix == n ? tape : prefix;
        if (!known) at_prefix = token_spectra(model, mapped, input.pool, check);
        sample.full_map(model, mapped, 0, at_prefix);
    }
    // Where each block carries a whole sequence along, one must do.
    sample.spread(spec.causal ? largest_of_sequences(input, plan.spread)
                              : std::vector<double>{last.stack.front()});
    for (int b = 1; b < plan.sequences; ++b)
        sample.sequence(token_spectra(model, tape_of(b, n), input.pool, check));
}

template <class T>
void measure_layers(ProbeInput<T>& input, const JacobianPlan& plan, const std::function<void()>& check,
                    JacobianSample& sample) {
    const Tape<T>& states = input.tape();
    const int n = states.length;
    for (const int layer : plan.layers) {
        check();
        const Transformer<double> model(input.model, layer, 1, false);
        const HostView<T> from = states.view(states.hidden[2 * static_cast<std::size_t>(layer)],
                                             static_cast<std::size_t>(n) * static_cast<std::size_t>(model.spec().d_model));
        const std::vector<double> state(from.begin(), from.end());
        Tape<double> tape, prefix;
        model.forward_layers(state.data(), n, tape, input.pool);
        sample.last_token(model, tape, layer);
        if (plan.prefix == 0) continue;
        if (plan.prefix < n) model.forward_layers(state.data(), plan.prefix, prefix, input.pool);
        const Tape<double>& mapped = plan.prefix < n ? prefix : tape;
        sample.full_map(model, mapped, layer, token_spectra(model, mapped, input.pool, check));
    }
    const TokenSpectra last = sample.last_token_spectra();
    sample.position(0, last);
    sample.spread({last.stack.front()});
}

}  // namespace

template <class T>
ProbeResult probe_jacobian(ProbeInput<T>& input) {
    const StackSpec& spec = input.model.spec();
    const Batch& batch = input.batch;
    const JacobianPlan plan = plan_jacobian(spec, batch.length, batch.sequences);
    const auto check = [&input] { input.check_cancelled(); };
    JacobianSample sample(spec, plan, batch.length, batch.sequences, input.pool, check);
    if (plan.whole)
        measure_stack(input, plan, check, sample);
    else
        measure_layers(input, plan, check, sample);
    return sample.result();
}
template ProbeResult probe_jacobian<float>(ProbeInput<float>&);
template ProbeResult probe_jacobian<double>(ProbeInput<double>&);

}  // namespace normscope
