// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/transformer.h"

#include <algorithm>

namespace normscope {

template <class T>
void Transformer<T>::accumulate(const Batch& batch, T factor, Gradients<T>& gradients,
                                StepScratch<T>& scratch, ThreadPool& pool) const {
    check(batch);
    const std::size_t tokens = batch.tokens.size();
    const T scale = factor / static_cast<T>(tokens);
    gradients.loss_gradient.upload(*device_, &scale, 1);
    const DeviceBatch on_device = gradients.batch.upload(*device_, batch);
    scratch.losses.resize(*device_, tokens);
    prepare(scratch.coefficients, scratch.transposed, pool);
    device_->run(pool, device_->shards(batch.sequences), [&](int i) {
        thread_local Tape<T> tape;  // its arrays are in the worker's scratch memory
        Pass<T> p = pass(scratch.transposed, scratch.coefficients);
        p.fresh_gradients = gradients.fresh;
        if (gradients.fresh)
            p.ops.zero(sums_.data(), static_cast<int>(sums_.size()),
                       gradients.shards[static_cast<std::size_t>(i)].data());
        const Shard all = shard(i, batch.sequences);
        const int most = std::max(1, p.ops.step_rows() / batch.length);
        for (int done = 0; done < all.sequences; done += most) {
            const Shard rows{0, std::min(most, all.sequences - done)};
            const std::size_t first = static_cast<std::size_t>(all.first_sequence + done) * batch.length;
            const DeviceBatch piece{on_device.tokens + first, on_device.targets + first, rows.sequences,
                                    batch.length};
            tape.reserve_scratch(*device_, spec_, rules_, rows.sequences, batch.length, true,
                                 p.ops.needs_probabilities(batch.length, spec_.d_head()));
            tape.losses = scratch.losses.data() + first;
            shard_forward(p, piece, rows, tape);
            shard_backward(p, piece, rows, tape, i, gradients, nullptr, nullptr);
            p.fresh_gradients = false;
        }
    });
    gradients.fresh = false;
}

template void Transformer<float>::accumulate(const Batch&, float, Gradients<float>&, StepScratch<float>&,
                                             ThreadPool&) const;
template void Transformer<double>::accumulate(const Batch&, double, Gradients<double>&, StepScratch<double>&,
                                              ThreadPool&) const;

}  // namespace normscope
