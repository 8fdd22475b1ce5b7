// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include "core/backend/shared/out_of_memory.h"
#include "core/base/statistics.h"
#include "core/model/accuracy.h"
#include "core/model/batch_hash.h"
#include "core/model/gradient_ratio.h"
#include "core/model/sequence_losses.h"
#include "core/train/bad_place.h"
#include "core/train/first_bad.h"
#include "core/train/gate_clip.h"
#include "core/train/schedule.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <new>
#include <utility>

namespace normscope {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
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
      trainable_norm_(model_.table(), device),
      rule_{train.optimizer.betas[0], train.optimizer.betas[1], train.optimizer.eps,
            std::log(static_cast<double>(stack.vocab)), train.precision == Precision::Fp16},
      step_knobs_(device, 1),
      control_(device, 1),
      loss_factors_(device, 1),
      report_(device, 1),
      numbers_(device, 1),
      clip_factor_(device, 1),
      knobs_{stack.residual_step,          stack.temperature,   stack.norm.eps, train.optimizer.lr,
             train.optimizer.weight_decay, train.optimizer.clip},
      verdict_(std::log(static_cast<double>(stack.vocab)), corpus_->unigram_entropy(), train.schedule.warmup,
               corpus_->entropy_given(1)) {
    model_.set_rounding(rounding_of(train.precision), train.precision_policy);
    if (model_.rounding() != Rounding::None && model_.policy() == PrecisionPolicy::Pure) {
        master_.resize(device, model_.parameters().size());
        device.copy(master_.data(), model_.parameters().data(), master_.size() * sizeof(T));
    }
    publish_weights();
    prepare_numerics();
    upload_control();
}

template <class T>
void Trainer<T>::publish_weights() {
    if (!master_.empty()) model_.set_parameters({master_.data(), master_.size()});
}

template <class T>
void Trainer<T>::prepare_numerics() {
    prepare_numerics(step_);
}
template <class T>
void Trainer<T>::prepare_numerics(std::int64_t step) {
    model_.numerics = {knobs_.residual_step, temperature(train_.schedule, knobs_.temperature, step),
                       knobs_.eps};
}

template <class T>
void Trainer<T>::join(Communicator& ranks, const RankRules& rules) {
    ranks_ = std::make_unique<RankGradients<T>>(ranks, model_, train_.batch, rules.sum);
    joined_ = true;
    if (rules.optimizer == OptimizerState::InParts && ranks.size() > 1)
        parts_ = std::make_unique<RankOptimizer<T>>(ranks, optimizer_, model_.device());
}

template <class T>
void Trainer<T>::collect_state() {
    if (parts_ && optimizer_.has_moments()) collected_ = parts_->collect();
}

template <class T>
Moments<T> Trainer<T>::moments() const {
    if (!parts_) return {optimizer_.moment1(), optimizer_.moment2()};
    if (collected_) return *collected_;
    if (optimizer_.has_moments()) throw LostRank("the optimizer's state of the other ranks is not here");
    const std::size_t size = model_.table().size();
    return {std::vector<T>(size), std::vector<T>(optimizer_.has_second() ? size : 0)};
}

template <class T>
Batch Trainer<T>::probe_batch(int sequences, int length) const {
    // Drawn at the context's length, since a source may use all of it.
    const int context = model_.spec().context;
    const Batch batch = corpus_->held_out_batch(train_.seed, 0, sequences, context);
    return length >= context ? batch : batch.part(0, sequences, length);
}

template <class T>
Batch Trainer<T>::next_batch(int sequences) const {
    const Batch batch = corpus_->train_batch(train_.seed, step_, 0, train_.batch, model_.spec().context);
    return batch.part(0, std::min(sequences, train_.batch), batch.length);
}

template <class T>
void Trainer<T>::measure_held_out(StepNumbers& now, ThreadPool& pool) {
    // Drawn at once, so that they do not depend on the batch size; passed in batches of the run's size, so
    // that they need no more memory than its steps. Index 0 is the probes' batch.
    const StackSpec& stack = model_.spec();
    const int count = stack.of_images() ? kHeldOutImages : kHeldOutSequences;
    const Batch all = corpus_->held_out_batch(train_.seed, 1, count, stack.context);
    std::vector<double> losses;
    std::int64_t correct = 0;
    for (int first = 0; first < count; first += train_.batch) {
        const Batch batch = all.part(first, std::min(train_.batch, count - first), all.length);
        model_.forward(batch, tape_, pool, Probabilities::WhereNeeded);
        const std::vector<double> of_batch = sequence_losses(tape_);
        losses.insert(losses.end(), of_batch.begin(), of_batch.end());
        if (stack.of_images()) correct += correct_rows(tape_, stack.vocab);
    }
    now.val_loss = mean(losses);
    now.val_loss_error = standard_error(losses);
    if (!stack.of_images()) return;
    now.val_accuracy = static_cast<double>(correct) / count;
    const Batch trained = corpus_->train_batch(train_.seed, now.step, 0, train_.batch, stack.context);
    model_.forward(trained, tape_, pool, Probabilities::WhereNeeded);
    now.accuracy = static_cast<double>(correct_rows(tape_, stack.vocab)) / train_.batch;
}

template <class T>
void Trainer<T>::read_hidden_states(const double* squares, StepNumbers& now) const {
    const std::size_t states = model_.rules().size() + 1;
    const double numbers =
        static_cast<double>(train_.batch) * train_.accumulate * model_.spec().context * model_.spec().d_model;
    now.hidden_rms.assign(states, 0);
    now.hidden_gradient.assign(states, 0);
    for (std::size_t k = 0; k < states; ++k) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(gradients_.part.all);
             ++i) {  // in order: the same bits on any number of threads
            now.hidden_rms[k] += squares[2 * i * states + k];
            now.hidden_gradient[k] += squares[(2 * i + 1) * states + k];
        }
        now.hidden_rms[k] = std::sqrt(now.hidden_rms[k] / numbers);
        now.hidden_gradient[k] = std::sqrt(now.hidden_gradient[k]) / now.loss_scale;
    }
}

template <class T>
void Trainer<T>::upload_control() {
    const StepControl control{loss_scale_, updates_, 0, verdict_.watch()};
    control_.upload(model_.device(), &control, 1);
}

template <class T>
void Trainer<T>::upload_inputs(StepNumbers& now) {
    std::vector<Batch> batches;
    BatchHash hash;
    for (int micro = 0; micro < train_.accumulate; ++micro) {
        batches.push_back(
            corpus_->train_batch(train_.seed, now.step, micro, train_.batch, model_.spec().context));
        hash.add(batches.back());
    }
    now.batch_hash = hash.value();
    model_.upload_step(batches, scratch_);
    const StepKnobs knobs{now.lr, knobs_.weight_decay, knobs_.clip};
    step_knobs_.upload(model_.device(), &knobs, 1);
}

template <class T>
GradientSquares Trainer<T>::reduce_gradients(ThreadPool& pool) {
    if (ranks_)
        ranks_->sum(gradients_, pool);
    else
        model_.sum_shards(gradients_, pool);
    double* const norm = gradients_.norm.data();
    const GradientSquares all{static_cast<int>(gradients_.piece_squares.size()),
                              gradients_.piece_squares.data(),
                              rule_.scales_loss ? &report_.data()->loss_scale : nullptr, norm};
    if (rule_.scales_loss) {
        auto& total = gradients_.total();
        model_.device().template pass_ops<T>().elementwise.scale(total.size(), &loss_factors_.data()->unscale,
                                                                 total.data(), total.data());
    }
    return model_.table().has_frozen() ? trainable_norm_.squares(gradients_.total().data(), norm, pool) : all;
}

template <class T>
void Trainer<T>::device_step(ThreadPool& pool) {
    StepOps<T>& ops = model_.device().template step_ops<T>();
    const std::int64_t losses = scratch_.counted;
    ops.begin_step(rule_, train_.accumulate, losses, control_.data(), loss_factors_.data(), report_.data());
    model_.clear(gradients_, train_.batch, ranks_ ? std::optional(ranks_->part()) : std::nullopt);
    // The mean over all rows, times what share of them has a loss.
    const auto losses_of_batch = [&]() -> StepLosses<T> {
        const std::size_t rows = scratch_.losses.size();
        return {rows, scratch_.losses.data(),
                train_.accumulate * (static_cast<double>(losses) / static_cast<double>(rows))};
    };
    for (int micro = 0; micro < train_.accumulate; ++micro) {
        if (micro > 0) {
            const StepLosses<T> before = losses_of_batch();
            ops.add_mean(before.count, before.losses, before.divisor, &report_.data()->loss);
        }
        model_.accumulate(static_cast<std::size_t>(micro), &loss_factors_.data()->token, gradients_, scratch_,
                          pool);
        if (ranks_) ranks_->share_losses(scratch_);
    }
    const GradientSquares squares = reduce_gradients(pool);
    ops.finalize_step(rule_, step_knobs_.data(), losses_of_batch(), squares, control_.data(), report_.data(),
                      numbers_.data(), clip_factor_.data());
    T* gradient = gradients_.total().data();
    gate_clip_.apply(model_.spec().gpas.clip, clip_factor_.data(), gradient);
    optimizer_.step(numbers_.data(), clip_factor_.data(), gradient, weights(), pool);
    if (parts_) parts_->share(weights());
    publish_weights();
}

template <class T>
void Trainer<T>::run_step(ThreadPool& pool) {
    // No graph: the ranks exchange between a step's calls, and a step that is tried without them has buffers
    // of other sizes.
    if (joined_) return device_step(pool);
    const auto here = std::this_thread::get_id();
    if (graph_ && (ran_on_ != here || !graph_->valid())) graph_.reset();
    if (!graph_ && ran_on_ == here) graph_ = model_.device().capture([&] { device_step(pool); });
    ran_on_ = here;
    if (graph_)
        graph_->launch();
    else
        device_step(pool);
}

template <class T>
void Trainer<T>::enqueue(Launched& launched, ThreadPool& pool) {
    prepare_numerics(launched.numbers.step);
    upload_inputs(launched.numbers);
    run_step(pool);
    Device& device = model_.device();
    launched.report = device.read(report_.data(), sizeof(StepReport));
    const Buffer<double>& squares = gradients_.hidden_squares;
    launched.hidden_squares = device.read(squares.data(), squares.size() * sizeof(double));
}

template <class T>
typename Trainer<T>::Launched Trainer<T>::launch(std::int64_t step, ThreadPool& pool) {
    collected_.reset();
    prepare_numerics(step);
    Launched launched;
    StepNumbers& now = launched.numbers;
    now.step = step;
    now.val_loss = now.val_loss_error = now.val_accuracy = now.accuracy =
        std::numeric_limits<double>::quiet_NaN();
    now.lr = learning_rate(train_.schedule, knobs_.lr, step, train_.steps);
    now.temperature = model_.numerics.temperature;
    if (train_.validate_every > 0 && (step % train_.validate_every == 0 || step + 1 >= train_.steps)) {
        const auto start = Clock::now();
        measure_held_out(now, pool);
        launched.held_out_seconds = seconds_since(start);
    }
    enqueue(launched, pool);
    return launched;
}

namespace {

/// The outcome of a gradient that overflows at a loss scale which is not halved again.
Outcome at_lowest_loss_scale(Outcome outcome, double loss_scale) {
    if (auto place = read_bad_place(outcome.text)) {
        place->loss_scale = loss_scale;
        outcome.text = bad_place_text(*place);
    }
    return outcome;
}

}  // namespace

template <class T>
bool Trainer<T>::finish(Launched& launched, ThreadPool& pool) {
    StepNumbers& now = launched.numbers;
    const auto& report = *static_cast<const StepReport*>(launched.report->wait());
    now.loss = report.loss;
    now.grad_norm = report.grad_norm;
    now.loss_scale = report.loss_scale;
    now.overflowed = rule_.scales_loss && std::isfinite(now.loss) && !std::isfinite(now.grad_norm);
    if (report.event == StepEvent::Skipped && !runs_ahead())
        now.overflow_place = first_bad_gradient(model_, gradients_.total().data());
    loss_scale_ = report.after;
    read_hidden_states(static_cast<const double*>(launched.hidden_squares->wait()), now);
    now.gradient_ratio = gradient_ratio(now.hidden_gradient);

    if (report.event == StepEvent::Bad) {
        outcome_ = find_divergence(report.loss_scale, pool);
        if (now.overflowed) outcome_ = at_lowest_loss_scale(std::move(outcome_), report.loss_scale);
    } else if (const auto diverged =
                   verdict_.add(step_, now.loss, now.gradient_ratio, report.event == StepEvent::Skipped)) {
        outcome_ = *diverged;
    } else {
        if (report.event == StepEvent::Updated) ++updates_;
        if (step_ + 1 >= train_.steps) outcome_ = verdict_.at_end(step_);
        ++step_;
    }
    return !ended();
}

template <class T>
std::vector<StepNumbers> Trainer<T>::steps(ThreadPool& pool, std::int64_t count) {
    if (ended()) upload_control();  // of a device that has stopped
    outcome_.state = RunState::Running;
    const int ahead = runs_ahead() ? kAhead : 0;
    const std::int64_t end = std::max(step_ + 1, std::min<std::int64_t>(step_ + count, train_.steps));
    std::deque<Launched> launched;
    std::vector<StepNumbers> done;
    auto start = Clock::now();
    double held_out_seconds = 0;
    for (std::int64_t next = step_; step_ < end;) {
        for (; next < end && next <= step_ + ahead; ++next) {
            launched.push_back(launch(next, pool));
            held_out_seconds += launched.back().held_out_seconds;
        }
        Launched now = std::move(launched.front());
        launched.pop_front();
        const auto event = static_cast<const StepReport*>(now.report->wait())->event;
        if (!launched.empty() && (event == StepEvent::Bad || event == StepEvent::Diverged)) {
            // Gradients and numerics are those of the steps launched since: the step is repeated, which gives
            // the same bits, and is the last one in the queue.
            launched.clear();
            upload_control();
            enqueue(now, pool);
        }
        const bool continues = finish(now, pool);
        now.numbers.seconds = seconds_since(start) - held_out_seconds;
        start = Clock::now();
        held_out_seconds = 0;
        done.push_back(std::move(now.numbers));
        if (!continues) break;
    }
    return done;
}

template <class T>
Outcome Trainer<T>::find_divergence(double loss_scale, ThreadPool& pool) {
    const auto batch_of = [&](int micro) {
        return corpus_->train_batch(train_.seed, step_, micro, train_.batch, model_.spec().context);
    };
    // The step kept no tape: its passes are repeated, the backward ones with the gradients of the hidden
    // states.
    const auto repeated = [&]() -> std::optional<Outcome> {
        Gradients<T> gradients;
        BackwardRecord<T> record;
        for (int micro = 0; micro < train_.accumulate; ++micro) {
            const Batch batch = batch_of(micro);
            model_.forward(batch, tape_, pool);
            if (const auto bad = first_bad_value<T>(model_, tape_, nullptr, step_)) return bad;
            model_.clear(gradients, batch.sequences);
            model_.backward(batch, tape_, static_cast<T>(loss_scale / train_.accumulate), gradients, pool,
                            &record);
            model_.reduce(gradients, pool);
            if (const auto bad = first_bad_backward<T>(model_, record, gradients.total().data(), step_))
                return bad;
        }
        return std::nullopt;
    };
    try {
        if (const auto bad = repeated()) return *bad;
    } catch (const std::bad_alloc&) {
        // These passes take more memory than the step did. What the step left is searched below.
    } catch (const OutOfMemory&) {
    }
    for (int micro = 0; micro < train_.accumulate; ++micro) {
        const bool last = micro + 1 == train_.accumulate;
        model_.forward(batch_of(micro), tape_, pool, Probabilities::WhereNeeded);
        if (const auto bad =
                first_bad_value(model_, tape_, last ? gradients_.total().data() : nullptr, step_))
            return *bad;
    }
    return {RunState::Diverged, step_, "step " + std::to_string(step_) + " · gradient norm · overflow", -1};
}

template <class T>
TrainerState<T> Trainer<T>::save() const {
    const HostView<T> parameters = trained_weights();
    Moments<T> of_optimizer = moments();
    return {step_,
            {parameters.begin(), parameters.end()},
            std::move(of_optimizer.first),
            std::move(of_optimizer.second),
            updates_,
            verdict_.state(),
            knobs_,
            loss_scale_,
            model_.raised_eps()};
}

template <class T>
void Trainer<T>::restore(const TrainerState<T>& state) {
    optimizer_.set_moments(state.moment1, state.moment2);
    collected_.reset();
    step_ = state.step;
    model_.device().upload(weights(), state.parameters.data(), state.parameters.size() * sizeof(T));
    publish_weights();
    updates_ = state.optimizer_steps;
    verdict_.restore(state.verdict);
    knobs_ = state.knobs;
    loss_scale_ = state.loss_scale;
    raise_eps(state.raised_eps);
    upload_control();
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
