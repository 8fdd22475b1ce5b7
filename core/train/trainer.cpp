// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/model/gradient_ratio.h"
#include "core/train/first_bad.h"
#include "core/train/gate_clip.h"
#include "core/train/schedule.h"

namespace normscope {

namespace {

constexpr int kHeldOutBatches = 4;
enum StepNumber : std::size_t { kClip, kLossScale, kClipFactor, kStepNumbers };

Rounding rounding_of(Precision precision) {
    if (precision == Precision::Bf16) return Rounding::Bf16;
    if (precision == Precision::Tf32) return Rounding::Tf32;
    return precision == Precision::Fp16 ? Rounding::Fp16 : Rounding::None;
}

}  // namespace

template <class T>
Trainer<T>::Trainer(const StackSpec& stack, const TrainSpec& train, std::shared_ptr<const Corpus> corpus,
                    Device& device)
    : train_(train),
      corpus_(std::move(corpus)),
      model_(stack, train.seed, device),
      optimizer_(model_.table(), train.optimizer.kind, device),
      gate_clip_(model_.table(), device),
      learnt_norm_(model_.table(), device),
      step_numbers_(device, kStepNumbers),
      knobs_{stack.residual_step,          stack.temperature,   stack.norm.eps, train.optimizer.lr,
             train.optimizer.weight_decay, train.optimizer.clip},
      verdict_(std::log(static_cast<double>(stack.vocab)), corpus_->unigram_entropy(),
               train.schedule.warmup) {
    model_.set_rounding(rounding_of(train.precision), train.precision_policy);
    if (model_.rounding() != Rounding::None && model_.policy() == PrecisionPolicy::Pure) {
        master_.resize(device, model_.parameters().size());
        device.copy(master_.data(), model_.parameters().data(), master_.size() * sizeof(T));
    }
    publish_weights();
    prepare_numerics();
}

template <class T>
void Trainer<T>::publish_weights() {
    if (!master_.empty()) model_.set_parameters({master_.data(), master_.size()});
}

template <class T>
void Trainer<T>::update_weights(const StepNumbers& now, ThreadPool& pool) {
    OptimizerSpec optimizer = train_.optimizer;
    optimizer.weight_decay = knobs_.weight_decay;
    double* numbers = step_numbers_.data();
    Device& device = model_.device();
    device.upload(numbers + kClip, &knobs_.clip, sizeof(double));
    device.ops<T>().clip_factor(gradients_.norm.data(), numbers + kClip, numbers + kClipFactor);
    T* gradient = gradients_.total().data();
    gate_clip_.apply(model_.spec().gpas.clip, numbers + kClipFactor, gradient);
    optimizer_.step(optimizer, now.lr, numbers + kClipFactor, gradient, weights(), pool);
    publish_weights();
}

template <class T>
void Trainer<T>::prepare_numerics() {
    model_.numerics = {knobs_.residual_step, temperature(train_.schedule, knobs_.temperature, step_),
                       knobs_.eps};
}

template <class T>
Batch Trainer<T>::probe_batch(int sequences, int length) const {
    // Drawn at the context's length, since a source may use all of it.
    const int context = model_.spec().context;
    Batch batch = corpus_->held_out_batch(train_.seed, 0, sequences, context);
    if (length >= context) return batch;
    batch.length = length;
    for (auto* ids : {&batch.tokens, &batch.targets}) {
        std::vector<std::int32_t> prefixes;
        for (int b = 0; b < sequences; ++b) {
            const auto begin = ids->begin() + static_cast<std::ptrdiff_t>(b) * context;
            prefixes.insert(prefixes.end(), begin, begin + length);
        }
        *ids = std::move(prefixes);
    }
    return batch;
}

template <class T>
double Trainer<T>::held_out_loss(ThreadPool& pool) {
    double sum = 0;
    for (int i = 0; i < kHeldOutBatches; ++i) {
        const Batch batch = corpus_->held_out_batch(train_.seed, 1 + i, train_.batch, model_.spec().context);
        model_.forward(batch, tape_, pool);
        sum += tape_.mean_loss();
    }
    return sum / kHeldOutBatches;
}

template <class T>
void Trainer<T>::read_hidden_states(StepNumbers& now) const {
    const std::size_t states = model_.rules().size() + 1;
    const double numbers =
        static_cast<double>(train_.batch) * train_.accumulate * model_.spec().context * model_.spec().d_model;
    now.hidden_rms.assign(states, 0);
    now.hidden_gradient.assign(states, 0);
    const HostView<double> squares(gradients_.hidden_squares);
    for (std::size_t k = 0; k < states; ++k) {
        for (std::size_t i = 0; i < gradients_.shards.size();
             ++i) {  // in order: the same bits on any number of threads
            now.hidden_rms[k] += squares[2 * i * states + k];
            now.hidden_gradient[k] += squares[(2 * i + 1) * states + k];
        }
        now.hidden_rms[k] = std::sqrt(now.hidden_rms[k] / numbers);
        now.hidden_gradient[k] = std::sqrt(now.hidden_gradient[k]) / now.loss_scale;
    }
}

template <class T>
void Trainer<T>::reduce_gradients(double loss_scale, ThreadPool& pool) {
    Device& device = model_.device();
    if (loss_scale != 1) {
        double* const divisor = step_numbers_.data() + kLossScale;
        device.upload(divisor, &loss_scale, sizeof(double));
        model_.sum_shards(gradients_, pool, divisor);
        const T inverse = static_cast<T>(1 / loss_scale);
        unscale_.upload(device, &inverse, 1);
        auto& total = gradients_.total();
        device.ops<T>().scale(total.size(), unscale_.data(), total.data(), total.data());
    } else {
        model_.sum_shards(gradients_, pool);
    }
    if (model_.table().has_frozen())
        learnt_norm_.measure(gradients_.total().data(), gradients_.norm.data(), pool);
}

template <class T>
StepNumbers Trainer<T>::step(ThreadPool& pool) {
    outcome_.state = RunState::Running;
    prepare_numerics();
    StepNumbers now;
    now.step = step_;
    now.val_loss = std::numeric_limits<double>::quiet_NaN();
    const bool last = step_ + 1 >= train_.steps;
    if (train_.validate_every > 0 && (step_ % train_.validate_every == 0 || last))
        now.val_loss = held_out_loss(pool);

    const auto start = std::chrono::steady_clock::now();
    const bool scaled = train_.precision == Precision::Fp16;
    now.loss_scale = loss_scale();
    const T factor = static_cast<T>(now.loss_scale / train_.accumulate);
    model_.clear(gradients_, train_.batch);
    for (int micro = 0; micro < train_.accumulate; ++micro) {
        const Batch batch =
            corpus_->train_batch(train_.seed, step_, micro, train_.batch, model_.spec().context);
        model_.accumulate(batch, factor, gradients_, scratch_, pool);
        now.loss += scratch_.mean_loss() / train_.accumulate;
    }
    reduce_gradients(now.loss_scale, pool);
    now.grad_norm = HostView<double>(gradients_.norm)[0];
    read_hidden_states(now);
    now.gradient_ratio = gradient_ratio(now.hidden_gradient);
    now.lr = learning_rate(train_.schedule, knobs_.lr, step_, train_.steps);
    now.temperature = model_.numerics.temperature;

    // The forward pass does not depend on the scale: where its loss is not finite, no smaller scale helps.
    now.overflowed = scaled && std::isfinite(now.loss) && !std::isfinite(now.grad_norm);
    if (scaled && std::isfinite(now.loss)) loss_scaler_.update(now.overflowed);
    const bool bad_gradient = !std::isfinite(now.grad_norm) && (!now.overflowed || loss_scaler_.exhausted());
    if (!std::isfinite(now.loss) || bad_gradient) {
        outcome_ = find_first_bad(pool);
    } else if (const auto diverged = verdict_.add(step_, now.loss, now.gradient_ratio)) {
        outcome_ = *diverged;
    } else {
        if (!now.overflowed) update_weights(now, pool);
        if (last) outcome_ = verdict_.at_end(step_);
        ++step_;
    }
    now.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return now;
}

template <class T>
Outcome Trainer<T>::find_first_bad(ThreadPool& pool) {
    // The step kept no tape: its forward passes are repeated.
    for (int micro = 0; micro < train_.accumulate; ++micro) {
        const bool last = micro + 1 == train_.accumulate;
        model_.forward(corpus_->train_batch(train_.seed, step_, micro, train_.batch, model_.spec().context),
                       tape_, pool);
        if (const auto bad =
                first_bad_value(model_, tape_, last ? gradients_.total().data() : nullptr, step_))
            return *bad;
    }
    return {RunState::Diverged, step_, "step " + std::to_string(step_) + " · gradient norm · overflow", -1};
}

template <class T>
TrainerState<T> Trainer<T>::save() const {
    const HostView<T> parameters = trained_weights();
    return {step_,
            {parameters.begin(), parameters.end()},
            optimizer_.moment1(),
            optimizer_.moment2(),
            optimizer_.steps,
            verdict_.state(),
            knobs_,
            loss_scaler_.state()};
}

template <class T>
void Trainer<T>::restore(const TrainerState<T>& state) {
    optimizer_.set_moments(state.moment1, state.moment2);
    step_ = state.step;
    model_.device().upload(weights(), state.parameters.data(), state.parameters.size() * sizeof(T));
    publish_weights();
    optimizer_.steps = state.optimizer_steps;
    verdict_.restore(state.verdict);
    knobs_ = state.knobs;
    loss_scaler_.restore(state.loss_scale);
    outcome_ = {};
    prepare_numerics();
}

template class Trainer<float>;
template class Trainer<double>;

AnyTrainer make_trainer(const StackSpec& stack, const TrainSpec& train, std::shared_ptr<const Corpus> corpus,
                        Device& device) {
    if (train.precision == Precision::Fp64)
        return std::make_unique<Trainer<double>>(stack, train, std::move(corpus), device);
    return std::make_unique<Trainer<float>>(stack, train, std::move(corpus), device);
}

}  // namespace normscope
