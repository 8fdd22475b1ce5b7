// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/backend/cpu/thread_pool.h"
#include "core/model/transformer.h"
#include "core/train/data/corpus.h"
#include "core/train/gate_clip.h"
#include "core/train/loss_scaling.h"
#include "core/train/optimizers.h"
#include "core/train/outcome.h"
#include "core/train/train_spec.h"
#include "core/train/update_norms.h"
#include "core/train/verdict.h"

namespace normscope {

/// The knobs that act on a run without restarting it. ε, Δt, τ move the forward map, the others the optimizer.
struct HotKnobs {
    double residual_step, temperature, eps, lr, weight_decay, clip;
    bool operator==(const HotKnobs&) const = default;
};

/// The numbers of one step. `loss` and the gradient belong to the weights before the step's update; the loss is the
/// cross-entropy alone, whatever the z-loss adds to the gradient.
struct StepNumbers {
    std::int64_t step = 0;
    double loss = 0;            ///< mean over the step's tokens, nat
    double val_loss = 0;        ///< held-out loss where it is due, else NaN
    double grad_norm = 0;       ///< before clipping
    double gradient_ratio = 0;  ///< first/last (core/model/gradient_ratio.h) on the training batch
    std::vector<double> hidden_rms;       ///< [2D+1] root mean square of every hidden state over the step's tokens
    std::vector<double> hidden_gradient;  ///< [2D+1] ‖∂L/∂h_k‖_F, nat; not finite after an overflow in FP16
    double lr = 0, temperature = 0;
    double loss_scale = 1;      ///< of this step's backward pass; other than 1 in FP16 only
    bool overflowed = false;    ///< the scaled gradient was not finite: the update was skipped, the scale halved
    double seconds = 0;  ///< of the step, held-out loss not included
};

/// The whole state between two steps, as plain bytes and numbers: restoring it continues bit for bit.
template <class T>
struct TrainerState {
    std::int64_t step = 0;  ///< steps done
    std::vector<T> parameters, moment1, moment2;  ///< arenas, laid out by the parameter table; moment2 empty under sgd
    std::int64_t optimizer_steps = 0;
    std::vector<double> verdict;
    HotKnobs knobs{};
    LossScaler::State loss_scale;
};

/// Trains one stack, one step after another. T is double for fp64, else float. One thread drives it; the pool's threads
/// help inside a call.
///
/// bf16 and fp16 are mixed precision (Transformer::set_rounding). Under the pure policy the trainer holds a float32 master
/// copy of the weights, which the optimizer moves and checkpoints keep; the model's passes read that copy rounded to the
/// format, and round what every operation gives. Under autocast the model's weights are float32 themselves, and products
/// round them. fp16 scales the loss under both (LossScaler).
template <class T>
class Trainer {
  public:
    using Scalar = T;
    Trainer(const StackSpec& stack, const TrainSpec& train, std::shared_ptr<const Corpus> corpus,
            Device& device = cpu_device());

    const Transformer<T>& model() const { return model_; }
    const TrainSpec& spec() const { return train_; }
    std::int64_t steps_done() const { return step_; }
    const Outcome& outcome() const { return outcome_; }
    bool ended() const { return outcome_.state != RunState::Running && outcome_.state != RunState::Prepared; }

    /// Of the coming step: what FP16 multiplies the loss by, else 1.
    double loss_scale() const { return train_.precision == Precision::Fp16 ? loss_scaler_.scale() : 1; }

    HotKnobs knobs() const { return knobs_; }
    void set_knobs(const HotKnobs& knobs) { knobs_ = knobs; }
    /// Puts Δt, τ (with its warm-up) and ε of the coming step into the model, so that probes see what the step will.
    void prepare_numerics();

    /// One step; sets the outcome when the run ends with it. Where it ends diverged the update is skipped: the
    /// parameters stay those that the step's loss belongs to, and steps_done() stays at this step.
    StepNumbers step(ThreadPool&);

    /// The weights that the optimizer moves, for the host; in emulated precision the float32 copy.
    HostView<T> trained_weights() const { return master_.empty() ? model_.host_parameters() : HostView<T>(master_); }
    /// What the coming step would move, found by making it and taking it back: state, weights and outcome are bit for
    /// bit what they were. All NaN where its update would be skipped.
    UpdateNorms trial_update(ThreadPool&);

    TrainerState<T> save() const;
    /// The state of a trainer of the same stack.
    void restore(const TrainerState<T>&);

    /// The fixed batch that probes look at: the first `length` tokens (at most the context) of so many held-out
    /// sequences, the same at every step; with more sequences or tokens the first ones stay.
    Batch probe_batch(int sequences, int length) const;

  private:
    double held_out_loss(ThreadPool&);
    /// What the step's passes left of every hidden state, without the loss scale.
    void read_hidden_states(StepNumbers&) const;
    /// The weights that the optimizer moves, of the device.
    T* weights() { return master_.empty() ? model_.parameters().data() : master_.data(); }
    /// Sums the shards' gradients, without the loss scale, and their norm.
    void reduce_gradients(double loss_scale, ThreadPool&);
    /// Lets the model see the weights after they moved.
    void publish_weights();
    /// What was not finite first in the step that has just been made.
    Outcome find_first_bad(ThreadPool&);
    void update_weights(const StepNumbers&, ThreadPool&);

    TrainSpec train_;
    std::shared_ptr<const Corpus> corpus_;
    Transformer<T> model_;
    Buffer<T> master_;  ///< in pure emulated precision; else empty: the model's parameters are the weights
    Optimizer<T> optimizer_;
    GateClip<T> gate_clip_;
    LearntNorm<T> learnt_norm_;
    Buffer<double> step_numbers_;  ///< [3] what the clip is, the loss scale; the clipping factor
    Buffer<T> unscale_;            ///< 1/loss scale
    LossScaler loss_scaler_;
    Tape<T> tape_;  ///< of held-out batches, and of a step that diverged
    StepScratch<T> scratch_;
    Gradients<T> gradients_;
    HotKnobs knobs_;
    Verdict verdict_;
    Outcome outcome_;
    std::int64_t step_ = 0;
};

/// A trainer of either scalar.
using AnyTrainer = std::variant<std::unique_ptr<Trainer<float>>, std::unique_ptr<Trainer<double>>>;
AnyTrainer make_trainer(const StackSpec& stack, const TrainSpec& train, std::shared_ptr<const Corpus> corpus,
                        Device& device = cpu_device());

}  // namespace normscope
