// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/thread_pool.h"
#include "core/model/transformer.h"
#include "core/train/update_norms.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace normscope {

/// Thrown inside a probe when the person moved on; caught by whoever asked for the measurement.
struct Cancelled {};

/// What the shared passes of a sample write to. Whoever samples again and again keeps one: fetching tens of
/// MiB from the system took as long as the passes themselves.
template <class T>
struct ProbeMemory {
    Tape<T> tape;
    BackwardRecord<T> record;
    Gradients<T> gradients;
    Buffer<T> unscale;  ///< one: 1/loss scale
};

/// What a probe looks at: a model at one moment and the fixed probe batch. The forward and the backward pass
/// run when the first probe asks for them, on a tape that training does not use, so a measurement never
/// disturbs it. One thread drives it; the model must not change while it lives.
template <class T>
class ProbeInput {
  public:
    /// `loss_scale` (a power of two): what the run multiplies its loss by in FP16, so that small gradients
    /// are seen as training sees them; results do not carry it. `kept`: where the passes write to, else
    /// memory of its own.
    ProbeInput(const Transformer<T>& at_model, const Batch& at_batch, ThreadPool& with_pool,
               std::int64_t at_step, const std::atomic<bool>* cancel = nullptr, double loss_scale = 1,
               ProbeMemory<T>* kept = nullptr)
        : model(at_model),
          batch(at_batch),
          pool(with_pool),
          step(at_step),
          cancel_(cancel),
          loss_scale_(loss_scale),
          memory_(kept ? *kept : own_) {}
    ProbeInput(const ProbeInput&) = delete;
    ProbeInput& operator=(const ProbeInput&) = delete;

    const Transformer<T>& model;
    const Batch& batch;
    ThreadPool& pool;
    const std::int64_t step;
    /// The update that the optimizer makes of this moment; empty where there is none. It leaves the model as
    /// it was.
    std::function<UpdateNorms()> update;
    /// What part of the held-out sequences the batch is, in words for the label `sampled` of the results.
    std::string sampled =
        std::to_string(batch.sequences) + (batch.sequences == 1 ? " sequence" : " sequences");

    const Tape<T>& tape() {
        if (!forward_done_) {
            model.forward(batch, memory_.tape, pool);
            forward_done_ = true;
            check_cancelled();
        }
        return memory_.tape;
    }
    const BackwardRecord<T>& backward() {
        run_backward();
        return memory_.record;
    }
    /// Gradients of the mean loss over the probe batch.
    HostView<T> parameter_gradients() {
        run_backward();
        return memory_.gradients.total();
    }

    /// Between pieces of long work; throws Cancelled.
    void check_cancelled() const {
        if (cancel_ && cancel_->load(std::memory_order_relaxed)) throw Cancelled{};
    }

  private:
    void run_backward() {
        if (backward_done_) return;
        const Tape<T>& forward = tape();
        auto& record = memory_.record;
        auto& gradients = memory_.gradients;
        model.clear(gradients, batch.sequences);
        model.backward(batch, forward, static_cast<T>(loss_scale_), gradients, pool, &record);
        model.reduce(gradients, pool);
        if (loss_scale_ != 1) {
            const T inverse = static_cast<T>(1 / loss_scale_);
            memory_.unscale.upload(model.device(), &inverse, 1);
            unscale(gradients.total());
            for (auto* states : {&record.hidden, &record.norm_output})
                for (auto& state : *states) unscale(state);
        }
        backward_done_ = true;
        check_cancelled();
    }

    void unscale(Buffer<T>& values) const {
        model.device().template ops<T>().scale(values.size(), memory_.unscale.data(), values.data(), values.data());
    }

    const std::atomic<bool>* cancel_;
    double loss_scale_;
    ProbeMemory<T> own_;
    ProbeMemory<T>& memory_;
    bool forward_done_ = false, backward_done_ = false;
};

}  // namespace normscope
