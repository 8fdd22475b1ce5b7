// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/attention.h"
#include "core/model/compact_sublayer.h"
#include "core/model/transformer.h"

#include <algorithm>

namespace normscope {

template <class T>
void Transformer<T>::upload_step(const std::vector<Batch>& batches, StepScratch<T>& scratch) const {
    scratch.batches.resize(batches.size());
    scratch.on_device.clear();
    for (std::size_t i = 0; i < batches.size(); ++i) {
        check(batches[i]);
        scratch.counted = batches[i].counted();
        scratch.on_device.push_back(scratch.batches[i].upload(*device_, batches[i], ops().layers));
    }
    upload_numerics(scratch.coefficients);
}

template <class T>
void Transformer<T>::accumulate(const Batch& batch, T factor, Gradients<T>& gradients,
                                StepScratch<T>& scratch, ThreadPool& pool) const {
    upload_step({batch}, scratch);
    const T scale = factor / static_cast<T>(batch.counted());
    gradients.loss_gradient.upload(*device_, &scale, 1);
    accumulate(0, gradients.loss_gradient.data(), gradients, scratch, pool);
}

template <class T>
void Transformer<T>::accumulate(std::size_t index, const T* token_factor, Gradients<T>& gradients,
                                StepScratch<T>& scratch, ThreadPool& pool) const {
    const DeviceBatch<T> batch = scratch.on_device.at(index);
    const auto length = static_cast<std::size_t>(batch.length);
    scratch.losses.resize(*device_, static_cast<std::size_t>(batch.sequences) * length);
    prepare(scratch.coefficients, scratch.transposed, pool);
    TapeContents contents;
    contents.for_gradient = true;
    contents.probabilities = needs_probabilities(ops().layers, spec_, batch.length);
    CompactOps<T>* const compact_ops = ops().compact;
    contents.compact = compact_parts(spec_, table_, compact_ops, batch.length);
    const bool compact = compact_ops && (contents.compact.sublayers || contents.compact.head);
    const bool short_head = has_short_head_gradient(contents.compact);
    const Buffer<ArenaPiece>& short_matrices = short_head ? matrices_and_head_ : matrices_;
    if (compact) {
        scratch.short_weights.resize(*device_, table_.size());
        scratch.short_gradients.resize(*device_, table_.size());
    }
    device_->run(pool, gradients.part.count, [&](int of_part) {
        const int i = gradients.part.first + of_part;
        thread_local Tape<T> tape;  // its arrays are in the worker's scratch memory
        Pass<T> p = pass(scratch.transposed, scratch.coefficients);
        p.fresh_gradients = gradients.fresh;
        // What the shard adds to, where its gradients are fresh.
        T* const arena = gradients.shards[static_cast<std::size_t>(of_part)].data();
        double* const squares = squares_of(gradients, i);
        const int sums = gradients.fresh ? static_cast<int>(sums_.size()) : 0,
                  numbers = gradients.fresh ? 2 * (static_cast<int>(rules_.size()) + 1) : 0;
        if (compact) {
            compact_ops->prepare(table_.size(), parameters_.data(), scratch.short_weights.data(),
                                 sums_.data(), sums, arena, numbers, squares);
            p.compact = ops().compact;
            p.short_weights = scratch.short_weights.data();
            p.short_gradients = scratch.short_gradients.data();
        } else if (gradients.fresh) {
            p.elementwise.zero(sums_.data(), sums, arena, numbers, squares);
        }
        const Shard all = shard(i, gradients.part.all, batch.sequences);
        const int most = std::max(1, p.layers.step_rows() / batch.length);
        for (int done = 0; done < all.sequences; done += most) {
            const Shard rows{0, std::min(most, all.sequences - done)};
            const std::size_t first = static_cast<std::size_t>(all.first_sequence + done) * length;
            const T* patches =
                batch.patches ? batch.patches + first * static_cast<std::size_t>(spec_.image.patch_width())
                              : nullptr;
            const DeviceBatch<T> piece{batch.tokens + first, batch.targets + first, patches, rows.sequences,
                                       batch.length};
            tape.reserve_scratch(*device_, spec_, rules_, rows.sequences, batch.length, contents);
            tape.losses = scratch.losses.data() + first;
            p.elementwise.delay_sums();
            shard_forward(p, piece, rows, tape, squares);
            shard_backward(p, piece, rows, tape, i, gradients, token_factor, nullptr, nullptr);
            p.elementwise.finish_sums();
            if (contents.compact.sublayers)
                p.compact->add_gradients(short_matrices.data(), static_cast<int>(short_matrices.size()),
                                         p.fresh_gradients, p.short_gradients, arena);
            p.fresh_gradients = false;
        }
    });
    gradients.fresh = false;
}

#define NORMSCOPE_INSTANTIATE(T)                                                                           \
    template void Transformer<T>::upload_step(const std::vector<Batch>&, StepScratch<T>&) const;           \
    template void Transformer<T>::accumulate(const Batch&, T, Gradients<T>&, StepScratch<T>&, ThreadPool&) \
        const;                                                                                             \
    template void Transformer<T>::accumulate(std::size_t, const T*, Gradients<T>&, StepScratch<T>&,        \
                                             ThreadPool&) const;
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
