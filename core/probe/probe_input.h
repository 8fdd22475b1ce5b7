// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/backend/cpu/thread_pool.h"
#include "core/model/transformer.h"
#include "core/train/update_norms.h"

namespace normscope {

/// Thrown inside a probe when the person moved on; caught by whoever asked for the measurement.
struct Cancelled {};

/// What a probe looks at: a model at one moment and the fixed probe batch. The forward and the backward pass run when
/// the first probe asks for them, on tapes of their own, so a measurement never disturbs training. One thread drives
/// it; the model must not change while it lives.
template <class T>
class ProbeInput {
  public:
    /// `loss_scale` (a power of two): what the run multiplies its loss by in FP16, so that small gradients are seen as
    /// training sees them; results do not carry it.
    ProbeInput(const Transformer<T>& at_model, const Batch& at_batch, ThreadPool& with_pool, std::int64_t at_step,
               const std::atomic<bool>* cancel = nullptr, double loss_scale = 1)
        : model(at_model), batch(at_batch), pool(with_pool), step(at_step), cancel_(cancel), loss_scale_(loss_scale) {}

    const Transformer<T>& model;
    const Batch& batch;
    ThreadPool& pool;
    const std::int64_t step;
    /// The update that the optimizer makes of this moment; empty where there is none. It leaves the model as it was.
    std::function<UpdateNorms()> update;
    /// What part of the held-out sequences the batch is, in words for the label `sampled` of the results.
    std::string sampled = std::to_string(batch.sequences) + (batch.sequences == 1 ? " sequence" : " sequences");

    const Tape<T>& tape() {
        if (!tape_) {
            tape_.emplace();
            model.forward(batch, *tape_, pool);
            check_cancelled();
        }
        return *tape_;
    }
    const BackwardRecord<T>& backward() {
        run_backward();
        return record_;
    }
    /// Gradients of the mean loss over the probe batch.
    const std::vector<T>& parameter_gradients() {
        run_backward();
        return gradients_.total();
    }

    /// Between pieces of long work; throws Cancelled.
    void check_cancelled() const {
        if (cancel_ && cancel_->load(std::memory_order_relaxed)) throw Cancelled{};
    }

  private:
    void run_backward() {
        if (!gradients_.shards.empty()) return;
        const Tape<T>& forward = tape();
        model.clear(gradients_, batch.sequences);
        model.backward(batch, forward, static_cast<T>(loss_scale_), gradients_, pool, &record_);
        model.reduce(gradients_, pool);
        if (loss_scale_ != 1) {
            unscale(gradients_.total());
            for (auto* states : {&record_.hidden, &record_.norm_output})
                for (auto& state : *states) unscale(state);
        }
        check_cancelled();
    }

    void unscale(std::vector<T>& values) const {
        row_kernels<T>().scale(values.size(), static_cast<T>(1 / loss_scale_), values.data(), values.data());
    }

    const std::atomic<bool>* cancel_;
    double loss_scale_;
    std::optional<Tape<T>> tape_;
    BackwardRecord<T> record_;
    Gradients<T> gradients_;
};

}  // namespace normscope
