// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "core/model/transformer.h"

namespace normscope {

namespace {

// Rows that go forward and back together: few make a small tape, many read the weights less often.
constexpr int kRows = 512;

void copy_sequences(const Batch& from, int first, int count, Batch& to) {
    to.sequences = count;
    to.length = from.length;
    const auto begin = static_cast<std::ptrdiff_t>(first) * from.length;
    const auto end = begin + static_cast<std::ptrdiff_t>(count) * from.length;
    to.tokens.assign(from.tokens.begin() + begin, from.tokens.begin() + end);
    to.targets.assign(from.targets.begin() + begin, from.targets.begin() + end);
}

}  // namespace

template <class T>
void Transformer<T>::accumulate(const Batch& batch, T factor, Gradients<T>& gradients, StepScratch<T>& scratch,
                                ThreadPool& pool) const {
    check(batch);
    turn_weights(scratch.turned, pool);
    const std::size_t tokens = batch.tokens.size();
    scratch.losses.resize(tokens);
    const T scale = factor / static_cast<T>(tokens);
    pool.run(shard_count(batch.sequences), [&](int i) {
        thread_local Tape<T> tape;  // kept by the thread, like the buffers of the sub-layers
        thread_local Batch piece;
        Pass<T> p = pass(scratch.turned);
        p.fresh_gradients = gradients.fresh;
        if (gradients.fresh) clear_sums(gradients.shards[static_cast<std::size_t>(i)].data());
        const Shard all = shard(i, batch.sequences);
        // Emulated precision rounds a parameter's gradient once a shard, as one operation.
        const int most = rounding_ == Rounding::None ? std::max(1, kRows / batch.length) : all.sequences;
        for (int done = 0; done < all.sequences; done += most) {
            const int first = all.first_sequence + done;
            const Shard rows{0, std::min(most, all.sequences - done)};
            copy_sequences(batch, first, rows.sequences, piece);
            tape.reserve(spec_, rules_, rows.sequences, batch.length, true);
            shard_forward(p, piece, rows, tape);
            shard_backward(p, piece, rows, tape, scale, i, gradients, nullptr, nullptr);
            std::copy(tape.losses, tape.losses + tape.rows(),
                      scratch.losses.begin() + static_cast<std::ptrdiff_t>(first) * batch.length);
            p.fresh_gradients = false;
        }
    });
    gradients.fresh = false;
}

template void Transformer<float>::accumulate(const Batch&, float, Gradients<float>&, StepScratch<float>&, ThreadPool&) const;
template void Transformer<double>::accumulate(const Batch&, double, Gradients<double>&, StepScratch<double>&, ThreadPool&) const;

}  // namespace normscope
