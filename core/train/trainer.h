// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/host/thread_pool.h"
#include "core/model/transformer.h"
#include "core/recipe/hot_knobs.h"
#include "core/recipe/train_spec.h"
#include "core/train/data/corpus.h"
#include "core/train/gate_clip.h"
#include "core/train/optimizers.h"
#include "core/train/outcome.h"
#include "core/train/rank_gradients.h"
#include "core/train/rank_optimizer.h"
#include "core/train/update_norms.h"
#include "core/train/verdict.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace normscope {

/// The held-out loss is the mean over so many sequences, the same at every step and for every batch size; of
/// images, whose sequences have one target each, over so many images.
inline constexpr int kHeldOutSequences = 64, kHeldOutImages = 512;

/// The values of one step. `loss` and the gradient are those of the weights before the update; the loss is
/// the cross-entropy alone, without the z-loss.
struct StepNumbers {
    std::int64_t step = 0;
    double loss = 0;            ///< mean over the step's tokens, nat
    double val_loss = 0;        ///< mean over the held-out sequences where it is due, else NaN
    double val_loss_error = 0;  ///< its standard error over the sequences; NaN with it
    double val_accuracy = 0;    ///< share of the held-out images that are classified right; of text NaN
    double accuracy = 0;        ///< of the images of the step's first micro-batch, where val_accuracy is due
    double grad_norm = 0;       ///< before clipping
    double gradient_ratio = 0;  ///< first/last (core/model/gradient_ratio.h) on the training batch
    std::vector<double> hidden_rms;  ///< [2D+1] root mean square of every hidden state over the step's tokens
    std::vector<double> hidden_gradient;  ///< [2D+1] ‖∂L/∂h_k‖_F, nat; not finite after an overflow in FP16
    double lr = 0, temperature = 0;
    double loss_scale = 1;  ///< of this step's backward pass; other than 1 in FP16 only
    bool overflowed =
        false;  ///< the scaled gradient was not finite: the update was skipped, the scale halved
    /// "layer 3 ffn.w2": where overflowed, the tensor whose gradient did first in the backward pass. Empty on
    /// a device that is given steps ahead (kAhead): the gradients are those of later steps by then.
    std::string overflow_place;
    double seconds = 0;  ///< of the step, held-out loss not included
    /// Of the step's tokens, targets and images, in order: a whole number below 2^53.
    double batch_hash = 0;
};

enum class OptimizerState {
    Whole,    ///< each rank has all of it
    InParts,  ///< each has that of a part of the weights (RankOptimizer)
};
/// Of a trainer that makes its steps with other ranks: the same in all.
struct RankRules {
    OptimizerState optimizer = OptimizerState::Whole;
    RankSum sum = RankSum::ByShard;
};

/// The complete state between two steps as plain data: restoring it resumes bit for bit.
template <class T>
struct TrainerState {
    std::int64_t step = 0;  ///< steps done
    std::vector<T> parameters, moment1,
        moment2;  ///< arenas, laid out by the parameter table; moment2 empty under sgd
    std::int64_t optimizer_steps = 0;
    std::vector<double> verdict;
    HotKnobs knobs{};
    LossScale loss_scale;
    std::vector<double> raised_eps;  ///< Transformer::raised_eps()
};

/// Trains one stack, one step after another. T is double for fp64, else float. One thread drives it; the
/// pool's threads help inside a call.
///
/// bf16 and fp16 are mixed precision (Transformer::set_rounding). Under the pure policy the trainer holds a
/// float32 master copy of the weights, which the optimizer updates and checkpoints store; the model's passes
/// read that copy rounded to the format, and round the result of every operation. Under autocast the model's
/// weights are float32 and rounded at each GEMM. fp16 scales the loss under both (LossScale). tf32 rounds
/// the operands of GEMM, whatever the policy.
///
/// The host gives a step its batches and knobs and reads its report; between them the device runs alone
/// (device_step). A device with graphs captures that in the second step and launches
/// the graph from then on: knobs are values in its memory. In steps() the device is given the next steps
/// before the report of an earlier one has arrived.
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

    /// The loss scale of the next step under FP16, else 1.
    double loss_scale() const { return rule_.scales_loss ? loss_scale_.scale : 1; }

    HotKnobs knobs() const { return knobs_; }
    void set_knobs(const HotKnobs& knobs) { knobs_ = knobs; }
    /// Sets Δt, τ (with its warm-up) and ε of the next step in the model, so that probes use the same values.
    void prepare_numerics();

    /// What ε is raised to at each norm (Transformer::raise_eps), from the next step on.
    const std::vector<double>& raised_eps() const { return model_.raised_eps(); }
    void raise_eps(std::vector<double> by_site) { model_.raise_eps(std::move(by_site)); }
    /// From now on a step is one of these ranks together, each of which has a trainer in the same state; they
    /// call step() together. Every number but the held-out ones, which each measures by itself, and every
    /// weight has the bits of a trainer alone, where gradients are added by shards. LostRank leaves the state
    /// as it was before the step. `ranks` is for the memory of its device, on which steps are then made call
    /// by call, one at a time. On a card the bits are the same in all ranks and each time, but depend on
    /// their number.
    ///
    /// With the optimizer's state in parts, save() and second_moments() need collect_state(), and after a
    /// LostRank there is no state to continue from.
    /// Before the first step. InputError as RankGradients. `ranks` outlives the trainer.
    void join(Communicator& ranks, const RankRules& rules = {});
    /// Gives the first rank the whole state of the optimizer, until the next step; all ranks call it. Nothing
    /// where it is not in parts.
    void collect_state();
    /// Whether save() and second_moments() are for this rank: not in others than the first, where the state
    /// is in parts.
    bool has_state() const { return !parts_ || parts_->leads(); }

    /// The first sequences of the next step's first micro-batch, at most all of them.
    Batch next_batch(int sequences) const;

    /// One step; sets the outcome when the run ends with it. On divergence the update is skipped: the
    /// parameters remain those of the step's loss, and steps_done() is not advanced.
    StepNumbers step(ThreadPool& pool) { return steps(pool, 1).front(); }
    /// At least one step, and more up to `count` until the run ends: the same numbers as of as many calls of
    /// step(). Meanwhile the host does not wait for a device of its own: up to kAhead steps more are launched
    /// before a report is read. Those after the end of the run change nothing (StepEvent::Stopped).
    std::vector<StepNumbers> steps(ThreadPool& pool, std::int64_t count);
    static constexpr int kAhead = 2;

    /// The weights that the optimizer updates, for the host; in emulated precision the float32 copy.
    HostView<T> trained_weights() const {
        return master_.empty() ? model_.host_parameters() : HostView<T>(master_);
    }
    /// The update of the next step, by applying and undoing it: state, weights and outcome are restored bit
    /// for bit. All NaN where its update would be skipped.
    UpdateNorms trial_update(ThreadPool&);
    /// What the last update divided by; nullopt before the first, and of an optimizer that does not divide.
    std::optional<SecondMoments<T>> second_moments() const;

    TrainerState<T> save() const;
    /// The state of a trainer of the same stack.
    void restore(const TrainerState<T>&);

    /// The fixed batch of the probes: the first `length` tokens (at most the context) of that many held-out
    /// sequences, the same at every step; more sequences or tokens extend it.
    Batch probe_batch(int sequences, int length) const;

  private:
    /// A step in the device's queue: its inputs' numbers, and its results.
    struct Launched {
        StepNumbers numbers;
        std::unique_ptr<Readback> report, hidden_squares;
        double held_out_seconds = 0;
    };
    /// The held-out loss where it is due, and the step.
    Launched launch(std::int64_t step, ThreadPool&);
    /// Puts the step into the device's queue.
    void enqueue(Launched&, ThreadPool&);
    /// Waits for the results of a step, the next one of this trainer; true where the run continues.
    bool finish(Launched&, ThreadPool&);

    /// The held-out numbers of the current weights, and the accuracy on the step's images.
    void measure_held_out(StepNumbers&, ThreadPool&);
    /// From the sums of the step's passes, without the loss scale.
    void read_hidden_states(const double* squares, StepNumbers&) const;
    void prepare_numerics(std::int64_t step);
    /// Whether steps() gives the device steps before an earlier one has been read.
    bool runs_ahead() const { return !joined_ && !model_.device().capabilities().host_readable; }
    /// The weights that the optimizer updates, in device memory.
    T* weights() { return master_.empty() ? model_.parameters().data() : master_.data(); }
    /// The batches and knobs of a step.
    void upload_inputs(StepNumbers& step);
    /// The device's copy of the host's values: loss scale, updates, losses of the verdict.
    void upload_control();
    /// Passes, gradient, judgement and update: calls of the device alone.
    void device_step(ThreadPool&);
    /// device_step(), launched as a graph where the device has captured it.
    void run_step(ThreadPool&);
    /// Sums the shards' gradients, without the loss scale, and their norm.
    GradientSquares reduce_gradients(ThreadPool&);
    /// Copies the updated weights to the model.
    void publish_weights();
    /// Of all weights.
    Moments<T> moments() const;
    /// The first non-finite value of the last step.
    Outcome find_divergence(double loss_scale, ThreadPool&);

    TrainSpec train_;
    std::shared_ptr<const Corpus> corpus_;
    Transformer<T> model_;
    Buffer<T> master_;  ///< in pure emulated precision; else empty: the model's parameters are the weights
    Optimizer<T> optimizer_;
    GateClip<T> gate_clip_;
    TrainableNorm<T> trainable_norm_;
    StepRule rule_;
    Buffer<StepKnobs> step_knobs_;  ///< one, as all these: of the step
    Buffer<StepControl> control_;
    Buffer<LossFactors<T>> loss_factors_;
    Buffer<StepReport> report_;
    Buffer<OptimizerNumbers> numbers_;
    Buffer<double> clip_factor_;
    std::unique_ptr<Graph> graph_;  ///< of device_step()
    std::thread::id ran_on_;        ///< the last device_step(): its scratch memory is that of its thread
    LossScale loss_scale_;          ///< of the next step
    std::int64_t updates_ = 0;      ///< of the optimizer
    Tape<T> tape_;                  ///< of held-out batches, and of a step that diverged
    StepScratch<T> scratch_;
    Gradients<T> gradients_;
    std::unique_ptr<RankGradients<T>> ranks_;  ///< that share the step; null: this trainer alone
    std::unique_ptr<RankOptimizer<T>> parts_;  ///< of the optimizer's state; null: it is whole
    std::optional<Moments<T>> collected_;      ///< the whole state, where it is in parts
    bool joined_ = false;  ///< it has ranks, also where it makes a step without them (trial_update)
    HotKnobs knobs_;
    Verdict verdict_;
    Outcome outcome_;
    std::int64_t step_ = 0;
};

/// A trainer of either scalar.
using AnyTrainer = std::variant<std::unique_ptr<Trainer<float>>, std::unique_ptr<Trainer<double>>>;
AnyTrainer make_trainer(const StackSpec& stack, const TrainSpec& train, std::shared_ptr<const Corpus> corpus,
                        Device& device = cpu_device());
/// Calls f with the trainer of whichever scalar.
template <class F>
decltype(auto) with_trainer(const AnyTrainer& any, F&& f) {
    return std::visit([&](const auto& trainer) -> decltype(auto) { return f(*trainer); }, any);
}

}  // namespace normscope
